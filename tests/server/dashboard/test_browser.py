"""The dashboard in Chromium, driven by Playwright: no errors, no HTML of records, and axe-core finds nothing."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from abstractcore.traces import TraceStore
from abstractcore_server import Settings
from tests.node_packages import installed
from tests.server.dashboard.sample_traces import HOSTILE, LOOP, many_calls, one_loop, sample_sound
from tests.server.serving import serving

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"),
]
KEY = "the-key-of-an-admin"
TESTS = Path(__file__).parents[2]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 360)])
def test_page_is_accessible_and_shows_texts_as_text(tmp_path: Path, scheme: str, width: int):
    store = TraceStore(tmp_path / "traces.db")
    many_calls(store, 300, until=time.time())
    one_loop(store, (TESTS / "media/files/small.png").read_bytes(), sample_sound(), at=time.time() - 60)
    store.close()
    axe = (installed(TESTS / "server/page/node") / "node_modules/axe-core/axe.min.js").read_text("utf-8")
    messages: list[str] = []
    with serving(Settings(admin_keys=(KEY,)), traces=tmp_path / "traces.db") as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})  # pyright: ignore[reportArgumentType]
        page = context.new_page()
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("console", lambda message: messages.append(message.text))
        page.goto(f"{served.url}/dashboard")
        page.get_by_label("Admin key").fill(KEY)
        page.get_by_label("Admin key").press("Enter")
        expect(page.locator("#totals div")).to_have_count(7)
        expect(page.locator("#rows tbody tr")).to_have_count(50)
        for address in ("", f"#trace={LOOP}"):
            page.goto(f"{served.url}/dashboard{address}")
            if address:
                page.locator(".record").nth(1).click()
                expect(page.get_by_role("article", name="user")).to_contain_text(HOSTILE)
                expect(page.get_by_role("img", name="receipt.png")).to_be_visible()
                assert page.evaluate("window.hacked") is None
            page.evaluate(axe)
            found = page.evaluate("axe.run(document)")["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        browser.close()
    assert [each for each in messages if "401" not in each] == []  # of the first request, which has no key
