"""The page at `/` in a browser: what its tests do there, and what they look at."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.chaos_server import PATIENCE_SECONDS
from tests.node_packages import installed

CHROMIUM = shutil.which("chromium")
IN_CHROMIUM = [
    pytest.mark.process,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"),
]
"""The marks of tests that Chromium is needed for."""
MILLISECONDS = 4 * PATIENCE_SECONDS * 1000  # the first image that is read loads models: long on a busy machine
MEDIA = Path(__file__).parents[2] / "media/files"
TABS = ("Details", "Options", "Exchange", "Code")


@dataclass
class Opened:
    """The page of a server in a browser, and what it did: messages of its console, and addresses that it asked."""

    page: Page
    messages: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])

    def ask(self, prompt: str, *files: Path) -> None:
        """Chooses files, writes a message, and sends both."""
        if files:
            self.page.set_input_files("#picker", list(files))
        self.page.get_by_label("Message", exact=True).fill(prompt)
        self.page.get_by_role("button", name="Send", exact=True).click()

    def view(self, name: str) -> None:
        """Shows a view: "Conversations", "Chat" or "The call". A wide screen shows all of them."""
        button = self.page.get_by_role("button", name=name, exact=True)
        if button.is_visible():
            button.click()

    def tab(self, name: str) -> str:
        """Opens a tab; returns its text."""
        self.view("The call")
        self.page.get_by_role("tab", name=name).click()
        return self.page.get_by_role("tabpanel").inner_text()

    def violations(self) -> list[tuple[str, str]]:
        """Returns the rules of axe-core that the page breaks as it is shown now, each with the first place."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(axe_program())
        found = self.page.evaluate("axe.run(document)")["violations"]
        return [(each["id"], each["nodes"][0]["html"]) for each in found]


def axe_program() -> str:
    """Returns the program of axe-core, which checks whether a page is accessible."""
    return (installed(Path(__file__).parent / "node") / "node_modules/axe-core/axe.min.js").read_text("utf-8")


def opened_at(url: str, browser: Browser, **context: Any) -> Opened:
    """Opens an address in a new context of the browser, which has kept nothing."""
    page = browser.new_context(**context).new_page()
    page.set_default_timeout(MILLISECONDS)
    opened = Opened(page)
    page.on("console", lambda message: opened.messages.append(message.text))
    page.on("pageerror", lambda error: opened.messages.append(str(error)))
    page.on("request", lambda request: opened.asked.append(request.url))
    page.goto(url)
    return opened
