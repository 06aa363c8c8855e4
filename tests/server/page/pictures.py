"""Draws docs/playground.png: `python -m tests.server.page.pictures [FOLDER]`, with a folder also its other sizes.

A recording is asked about, and the embedded model answers: nothing is scripted.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.server.dashboard.pictures import ROOT, save
from tests.server.page.browsing import MILLISECONDS, opened_at
from tests.server.serving import serving

RECORDING = ROOT / "examples/media/meeting.wav"
QUESTION = "When does the meeting start?"
SHOTS: list[tuple[Literal["light", "dark"], int, int]] = [
    ("light", 1280, 800),
    ("dark", 1280, 800),
    ("light", 390, 780),
    ("dark", 390, 780),
]


def draw(folder: Path, *, everything: bool) -> None:
    """Writes the picture; with `everything` also those of a dark and of a narrow screen, with each of its views."""
    with serving() as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        conversation(browser, served.url).context.close()  # a server that runs has loaded its models
        page = conversation(browser, served.url)
        for scheme, width, height in SHOTS if everything else SHOTS[:1]:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": height})
            suffix = f"{'' if width > height else '-narrow'}{'' if scheme == 'light' else '-dark'}"
            for view in views(page):
                save(folder / f"playground{view}{suffix}.png", page.screenshot())
        browser.close()


def conversation(browser: Browser, url: str) -> Page:
    """Asks about the recording; returns the page with the answer."""
    opened = opened_at(url, browser)
    expect.set_options(timeout=MILLISECONDS)
    opened.page.get_by_label("Model", exact=True).fill("default")
    opened.ask(QUESTION, RECORDING)
    expect(opened.page.locator(".spend")).to_be_visible()
    opened.page.get_by_text("What was sent").click()
    opened.page.mouse.move(0, 0)
    return opened.page


def views(page: Page) -> Iterator[str]:
    """Shows each view of a narrow screen, or all at once; yields what a file's name says of it."""
    if not page.locator("#views").is_visible():
        yield ""
        return
    for name, word in (("Conversations", "-conversations"), ("The call", "-call"), ("Chat", "")):
        page.get_by_role("button", name=name, exact=True).click()
        yield word


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs", everything=bool(sys.argv[1:]))
