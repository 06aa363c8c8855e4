"""The page in Debian's Firefox: used with keys alone, read by axe-core, and with nothing of a model run or loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abstractcore.testing import ScriptedReply
from tests.server.page.browsing import TABS, axe_program
from tests.server.page.firefox import FIREFOX, Firefox, firefox
from tests.server.page.markdown import HOSTILE, SAMPLE
from tests.server.serving import Served

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(FIREFOX is None, reason="Firefox is not installed: apt-get install firefox-esr"),
]
FOCUSED = "document.hasFocus() && (document.activeElement.id || document.activeElement.textContent)"
SEND_IS_VISIBLE = """((box) => document.elementFromPoint(box.x + box.width / 2, box.bottom - 1).id === "send")(
    document.getElementById("send").getBoundingClientRect())"""
VIOLATIONS = "axe.run(document).then((found) => found.violations.map((each) => [each.id, each.nodes[0].html]))"


def focus_by_keys(window: Firefox, wanted: str, key: str = "Tab") -> None:
    """Presses Tab, or Shift and Tab, until an element has the focus: its id, or its text."""
    passed: list[str] = []
    while (focused := window.evaluate(FOCUSED)) != wanted:
        assert len(passed) < 60, passed
        passed.append(focused)
        window.press(key)


def ask(window: Firefox, prompt: str, answers: int) -> None:
    """Writes a message with keys and sends it; waits for the end of the answer."""
    focus_by_keys(window, "prompt")
    window.press(*prompt, "Enter")
    window.wait_until(f"document.querySelectorAll('.spend').length === {answers}")


@pytest.mark.parametrize("size", [(1280, 800), (390, 780)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_used_with_keys_and_is_accessible(served: Served, tmp_path: Path, scheme: Any, size: tuple[int, int]):
    width, height = size
    served.script("Hello.", ScriptedReply.text("\n\n".join([SAMPLE, *HOSTILE.values()]), reasoning="It is."))
    with firefox(tmp_path, scheme) as window:
        window.show(served.url, width, height)
        assert window.evaluate(f"matchMedia('(prefers-color-scheme: {scheme})').matches") is True
        assert window.evaluate("[innerWidth, innerHeight]") == [width, height]
        focus_by_keys(window, "model")
        window.evaluate("document.getElementById('model').select()")
        window.press(*"scripted")
        ask(window, "hi", 1)
        ask(window, "show me", 2)
        assert window.evaluate(SEND_IS_VISIBLE) is True
        window.evaluate(f"(() => {{ {axe_program()} }})()")
        assert window.evaluate(VIOLATIONS) == []
        if width < 900:
            focus_by_keys(window, "Conversations", "Shift+Tab")
            window.press("Enter")
            assert window.evaluate(VIOLATIONS) == []
            focus_by_keys(window, "The call")
            window.press("Enter")
        focus_by_keys(window, "tab-details")
        for tab in TABS:
            assert window.evaluate("document.querySelector('[role=tab][aria-selected=true]').textContent") == tab
            assert window.evaluate(VIOLATIONS) == [], tab
            assert window.evaluate("document.documentElement.scrollWidth") <= width
            window.press("\ue014")  # the arrow to the right
        window.reload()
        window.wait_until("document.querySelectorAll('.spend').length === 2")
        assert window.evaluate(SEND_IS_VISIBLE) is True
        assert window.evaluate("document.getElementById('log').textContent.includes('Hello.')") is True
        assert window.evaluate("document.title") == "AbstractCore playground"
        assert window.messages == []
        assert [url for url in window.asked if not url.startswith((f"{served.url}/", "data:", "blob:"))] == []
