"""How many lines with a mistake are marked as uncertain: `python benchmarks/uncertain_lines.py`.

Lines of random words and figures are drawn in typefaces of reportlab and of this package, which the threshold of marks
was not chosen on, and made worse in several ways. The same seed gives the same pictures.
"""

from __future__ import annotations

import io
import random
from collections import Counter
from pathlib import Path

import numpy
import reportlab
from PIL import Image, ImageDraw, ImageFilter, ImageFont

import abstractcore_media
from abstractcore_media.image.ocr import shared_reader

SEED, PAGES, ROWS = 7, 40, 6
REPORTLAB = Path(reportlab.__file__).parent / "fonts"
MONO = Path(abstractcore_media.__file__).parent / "document" / "glyphs" / "fonts" / "DejaVuSansMono-subset.ttf"
TYPEFACES = (*(REPORTLAB / f"Vera{style}.ttf" for style in ("", "It", "Bd", "BI")), MONO)
LONGER = ["berth", "mooring", "depth", "gate", "order", "parcel", "driver", "tax", "signed", "left", "total", "with"]
WORDS = [*LONGER, "for", "a", "of", "Yacht", "Quay", "No.", "(net)"]
WAYS = ("blur", "noise", "jpeg", "reduced", "faint", "plain")


def main() -> None:
    """Reads the pages, and prints how many right and wrong lines have a mark, for each way in which they were made."""
    chance, counts = random.Random(SEED), Counter[tuple[str, str, bool]]()
    for number in range(PAGES):
        way = WAYS[number % len(WAYS)]
        rows = [" ".join(_word(chance) for _ in range(chance.randint(3, 7))) for _ in range(ROWS)]
        page, step = _page(rows, chance)
        page, scale = _worse(page, way, chance)
        found = shared_reader().read(page, "page", threads=2, deadline=None)
        for line in found.lines:
            row = min(ROWS - 1, max(0, int(line.middle[1] / scale / step - 0.25)))
            right = "".join(line.text.split()) in "".join(rows[row].split())
            counts[way, "right" if right else "wrong", line.is_uncertain] += 1
        counts[way, "unread", True] += len(found.unread)
    for way in (*WAYS, ""):
        marked = {
            kind: [sum(n for (w, k, m), n in counts.items() if way in ("", w) and (k, m) == (kind, is_marked))
                   for is_marked in (True, False)]
            for kind in ("wrong", "right", "unread")
        }  # fmt: skip
        wrong, right, unread = marked["wrong"], marked["right"], marked["unread"]
        print(
            f"{way or 'all':8} {wrong[0]} of {sum(wrong)} wrong lines marked, "
            f"{right[0]} of {sum(right)} right ones; {unread[0]} unread"
        )


def _word(chance: random.Random) -> str:
    return chance.choice(
        [chance.choice(WORDS), str(chance.randint(1, 9999)), f"{chance.randint(100, 99999) / 100:.2f}"]
    )


def _page(rows: list[str], chance: random.Random) -> tuple[Image.Image, int]:
    size = chance.choice((12, 15, 18, 22, 28))
    font = ImageFont.truetype(chance.choice(TYPEFACES), size)
    width, step = max(int(font.getlength(row)) for row in rows) + 40, 2 * size
    page = Image.new("RGB", (width, step * (len(rows) + 1)), "white")
    for number, row in enumerate(rows):
        ImageDraw.Draw(page).text((20, size // 2 + step * number), row, (20, 20, 20), font)
    return page, step


def _worse(page: Image.Image, way: str, chance: random.Random) -> tuple[Image.Image, float]:
    """Returns a page that is harder to read, and its scale."""
    strength = chance.choice((1, 2, 3))
    if way == "blur":
        return page.filter(ImageFilter.GaussianBlur(0.8 * strength)), 1.0
    if way == "noise":
        noise = numpy.random.default_rng(chance.randint(0, 9999)).normal(0, 40 * strength, (page.height, page.width, 1))
        return Image.fromarray((numpy.asarray(page) + noise).clip(0, 255).astype("uint8")), 1.0
    if way == "jpeg":
        file = io.BytesIO()
        page.save(file, "JPEG", quality=(25, 10, 5)[strength - 1])
        return Image.open(file).convert("RGB"), 1.0
    if way == "reduced":
        scale = (0.7, 0.5, 0.35)[strength - 1]
        return page.resize((int(page.width * scale), int(page.height * scale))), scale
    if way == "faint":
        return Image.eval(page, lambda level: 255 - (255 - level) * (4 - strength) // 12), 1.0
    return page, 1.0


if __name__ == "__main__":
    main()
