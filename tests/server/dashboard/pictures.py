"""Draws docs/dashboard.png and docs/trace.png with Chromium: `python -m tests.server.dashboard.pictures [FOLDER]`."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import sync_playwright

from abstractcore.traces import TraceStore
from abstractcore_server import Settings
from tests.server.dashboard.sample_traces import LOOP, many_calls, one_loop, sample_sound
from tests.server.serving import serving

ROOT = Path(__file__).parents[3]
KEY = "a-key-of-the-pictures"
OTHER = "f" * 32
LINES = ("COFFEE HOUSE", "14 Oct", "", "2 espresso   6.00", "1 cake       6.50", "", "TOTAL  $    12.50")
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
        one_loop(store, receipt(), sample_sound(), at=time.time() - 300, id=OTHER, model="gpt-5.4-mini")
        one_loop(store, receipt(), sample_sound(), at=time.time() - 60)
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
                save(folder / f"dashboard{suffix}.png", page.screenshot(full_page=everything))
                page.goto(f"{served.url}/dashboard#trace={LOOP}")
                page.locator(".record").nth(1).click()
                page.locator("figure img").first.wait_for()
                page.mouse.move(0, 0)
                save(folder / f"trace{suffix}.png", page.screenshot(full_page=everything))
                if everything:
                    page.goto(f"{served.url}/dashboard#compare={LOOP}&compare={OTHER}")
                    page.locator(".pair .record").first.wait_for()
                    save(folder / f"compare{suffix}.png", page.screenshot())
                page.context.close()
            browser.close()


def save(path: Path, picture: bytes) -> None:
    """Writes a picture with 128 colours: a third of its bytes, and it looks the same."""
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(128).save(path, optimize=True)


def receipt() -> bytes:
    """Returns a picture of a receipt."""
    picture = Image.new("RGB", (200, 220), "#fdfcf7")
    drawn, font = ImageDraw.Draw(picture), ImageFont.load_default(16)
    for number, line in enumerate(LINES):
        drawn.text((20, 20 + 26 * number), line, "#222222", font)
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs", everything=bool(sys.argv[1:]))
