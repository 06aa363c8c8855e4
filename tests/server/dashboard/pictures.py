"""Draws docs/dashboard.png and docs/trace.png with Chromium: `python -m tests.server.dashboard.pictures [FOLDER]`."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

from abstractcore.traces import TraceStore
from abstractcore_server import Settings
from tests.server.dashboard.sample_traces import LOOP, many_calls, one_loop, sample_sound
from tests.server.serving import serving

ROOT = Path(__file__).parents[3]
MEDIA = ROOT / "tests/media/files"
KEY = "a-key-of-the-pictures"
SIZES = {"": (1280, 900), "narrow": (400, 800)}
SHOTS: list[tuple[Literal["light", "dark"], str]] = [
    ("light", ""),
    ("dark", ""),
    ("light", "narrow"),
    ("dark", "narrow"),
]


def draw(folder: Path, *, everything: bool) -> None:
    """Writes the pictures; with `everything` also those of a dark and of a narrow screen."""
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary) / "traces.db"
        store = TraceStore(place)
        many_calls(store, 4_000, until=time.time())
        sound = sample_sound()
        one_loop(store, (MEDIA / "small.png").read_bytes(), sound, at=time.time() - 60)
        store.close()
        with serving(Settings(admin_keys=(KEY,)), traces=place) as served, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for scheme, size in SHOTS if everything else SHOTS[:1]:
                width, height = SIZES[size]
                page = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height}).new_page()
                page.goto(f"{served.url}/dashboard")
                page.get_by_label("Admin key").fill(KEY)
                page.get_by_label("Admin key").press("Enter")
                page.locator(".chart canvas").first.wait_for()
                page.locator("#rows tbody tr").first.wait_for()
                suffix = "".join(f"-{each}" for each in (scheme, size) if each and (scheme, size) != ("light", ""))
                page.screenshot(path=folder / f"dashboard{suffix}.png", full_page=everything)
                page.goto(f"{served.url}/dashboard#trace={LOOP}")
                page.locator(".record").nth(1).click()
                page.locator("figure img").first.wait_for()
                page.screenshot(path=folder / f"trace{suffix}.png", full_page=everything)
                if everything:
                    page.goto(f"{served.url}/dashboard#compare={LOOP}&compare={LOOP}")
                    page.locator(".pair .record").first.wait_for()
                    page.screenshot(path=folder / f"compare{suffix}.png")
                page.context.close()
            browser.close()


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs", everything=bool(sys.argv[1:]))
