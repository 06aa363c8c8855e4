"""Long images are read in tiles, along seams that cut no word."""

from __future__ import annotations

import random
import re
from collections import Counter

import numpy
import pytest
from PIL import Image, ImageDraw, ImageFont

from abstractcore_media.image import ocr
from abstractcore_media.image.lines import TextLine, joined
from abstractcore_media.image.ocr import TextReader, shared_reader
from abstractcore_media.image.tiles import LONGEST_EDGE, reading_scale, tiles_of

WORDS = ("order", "left", "depot", "was", "signed", "for", "gate", "driver", "total", "with", "tax", "parcel")


def tall_page(height: int) -> tuple[Image.Image, list[str]]:
    """A screenshot with a row of words and figures each 30 pixels."""
    chance = random.Random(1)
    image = Image.new("RGB", (700, height), "white")
    rows: list[str] = []
    for top in range(10, height - 40, 30):
        words = [f"{len(rows):04d}", chance.choice(WORDS), f"{chance.randint(100, 99999) / 100:.2f}"]
        rows.append(" ".join([*words, chance.choice(WORDS), str(chance.randint(1000, 999999))]))
        ImageDraw.Draw(image).text((20, top), rows[-1], (20, 20, 20), ImageFont.load_default(18))
    return image, rows


def wide_page(width: int) -> tuple[Image.Image, list[str]]:
    """A screenshot whose rows are as wide as it is."""
    chance, font = random.Random(2), ImageFont.load_default(18)
    image = Image.new("RGB", (width, 300), "white")
    drawing, rows = ImageDraw.Draw(image), list[str]()
    for top in range(20, 270, 60):
        words: list[str] = []
        while drawing.textlength(" ".join(words), font) < width - 200:
            words.append(chance.choice([chance.choice(WORDS), str(chance.randint(1000, 999999))]))
        rows.append(" ".join(words))
        drawing.text((20, top), rows[-1], (20, 20, 20), font)
    return image, rows


def figures(text: str) -> Counter[str]:
    return Counter(re.findall(r"\d+(?:\.\d+)?", text))


def ink(image: Image.Image) -> int:
    return int((numpy.asarray(image.convert("L")) < 128).sum())


@pytest.mark.parametrize("page", [tall_page, wide_page])
def test_each_letter_is_in_one_tile(page):
    image, _ = page(6000)
    tiles = list(tiles_of(image, 1.0))
    assert len(tiles) == 4
    assert all(max(tile.image.size) <= LONGEST_EDGE for tile in tiles)
    assert sum(ink(tile.image) for tile in tiles) == ink(image)


def test_large_image_has_tiles_in_both_directions():
    image = Image.new("L", (4000, 3000), "white")
    assert [(tile.left, tile.top) for tile in tiles_of(image, 0.5)] == [(0, 0)]
    assert len(list(tiles_of(image, 1.0))) == 6


@pytest.mark.parametrize(
    ("size", "scale"), [((800, 600), 1), ((4000, 3000), 0.5), ((700, 12000), 1), ((2000, 12000), 0.5), ((1, 60000), 1)]
)
def test_long_images_are_reduced_less(size: tuple[int, int], scale: float):
    assert reading_scale(*size) == scale


@pytest.mark.weights
@pytest.mark.process
def test_every_figure_of_a_tall_screenshot_is_read_once():
    image, rows = tall_page(4000)
    found = shared_reader().read(image, "page", threads=2, deadline=None)
    assert figures(" ".join(line.text for line in found.lines)) == figures(" ".join(rows))
    assert found.unread == ()


@pytest.mark.weights
@pytest.mark.process
def test_every_word_of_a_wide_screenshot_is_read_once():
    image, rows = wide_page(4000)
    found = shared_reader().read(image, "page", threads=2, deadline=None)
    text, _ = joined(found.lines, found.box)
    assert [" ".join(row.split()) for row in text.split("\n") if row] == rows
    assert found.unread == ()


class TimedReader(TextReader):
    """Reads one line of each tile until its time is over, and notes the sizes of what it reads."""

    def __init__(self, height: float = 20, lasts: int = 99) -> None:
        super().__init__()
        self.sizes: list[tuple[int, int]] = []
        self._height = height
        self._lasts = lasts

    def _loaded(self, threads: int) -> None:
        pass

    def _reading(self, image: Image.Image, scale: float, *_, **__) -> list[TextLine]:
        self.sizes.append(image.size)
        top = self._height / scale if scale < 1 else 60
        return [TextLine("forty legible letters", 0.99, ((0, 0), (600, 0), (600, top), (0, top)))]

    def is_over(self) -> float:
        return 2.0 if len(self.sizes) >= self._lasts else 0.0


def test_tiles_without_time_are_unread(monkeypatch: pytest.MonkeyPatch):
    reader = TimedReader(lasts=2)
    monkeypatch.setattr(ocr.time, "monotonic", reader.is_over)
    found = reader.read(Image.new("L", (700, 6000)), "page", threads=1, deadline=1.0)
    assert (len(found.lines), len(found.unread)) == (2, 2)
    assert [round(found.box(line)[3], 1) for line in found.unread] == [0.8, 1.0]


def test_reduced_image_with_small_letters_is_read_again_larger():
    reader = TimedReader(height=8)
    reader.read(Image.new("L", (4000, 3000)), "page", threads=1, deadline=None)
    first, *others = reader.sizes
    assert first == (2000, 1500)
    assert len(others) == 6
    large = TimedReader(height=20)
    large.read(Image.new("L", (4000, 3000)), "page", threads=1, deadline=None)
    assert large.sizes == [(2000, 1500)]


def test_thread_of_an_image_is_not_read():
    reader = TimedReader()
    assert reader.read(Image.new("L", (1, 60000)), "page", threads=1, deadline=None).lines == ()
    assert reader.sizes == []
