"""What the recogniser left undecided, narrow spaces and capitals, is decided by the image."""

from __future__ import annotations

import numpy
import pytest
from PIL import Image, ImageDraw, ImageFont

from abstractcore_media.image import recogniser
from abstractcore_media.image.ocr import shared_reader

pytestmark = pytest.mark.weights

BLANK, SPACE = 0, 4


class Characters:
    """A decoder of "axX" and a space."""

    character = ("blank", "a", "x", "X", " ")

    def decode(self, indices: numpy.ndarray, sureness: numpy.ndarray, remove_duplicate: bool):
        return [("read", 1.0)] * len(indices), []


def seen(*positions: tuple[int, float]) -> list[tuple[int, int, int]]:
    """The gaps of a line: of each position its character, and the probability of a space."""
    line = numpy.zeros((1, len(positions), 5), "float32")
    for place, (character, space) in enumerate(positions):
        line[0, place, character] = 1 - space
        line[0, place, SPACE] = max(space, line[0, place, SPACE])
    [doubts] = recogniser._Decoder(Characters())(line)[1]
    return [(gap.before, gap.start, gap.end) for gap in doubts if isinstance(gap, recogniser._Gap)]


def test_gap_may_have_a_space_if_it_is_likely_over_all_positions():
    assert seen((1, 0), (BLANK, 0.04), (BLANK, 0.15), (2, 0), (BLANK, 0), (3, 0)) == [(1, 0, 3)]
    assert seen((1, 0), (BLANK, 0.04), (BLANK, 0.04), (2, 0)) == []


def test_space_that_was_read_is_no_gap():
    assert seen((1, 0.05), (BLANK, 0.3), (SPACE, 1), (BLANK, 0.3), (2, 0.1)) == []


def bars(gap: int, paper: int = 255, ink: int = 0) -> numpy.ndarray:
    """A line of 48 pixels with ink of 30, but in a gap from its hundredth column."""
    line = numpy.full((48, 240, 3), paper, "uint8")
    line[9:39, 10:100:5] = line[9:39, 100 + gap : 230 : 5] = ink
    return line


@pytest.mark.parametrize(("gap", "text"), [(3, "over12"), (14, "over 12")])
@pytest.mark.parametrize("colors", [(255, 0), (20, 240)])
def test_space_is_written_where_the_image_is_empty(gap: int, text: str, colors: tuple[int, int]):
    assert recogniser._decided("over12", [recogniser._Gap(4, 11, 14)], bars(gap, *colors)) == text


def test_line_without_ink_stays_as_it_was_read():
    blank = numpy.full((48, 240, 3), 255, "uint8")
    assert recogniser._decided("over12", [recogniser._Gap(4, 11, 14)], blank) == "over12"


@pytest.mark.parametrize(("top", "text"), [(9, "3X"), (11, "3X"), (18, "3x")])
def test_capital_in_doubt_is_as_high_as_its_line(top: int, text: str):
    line = numpy.zeros((1, 6, 5), "float32")
    line[0, :, BLANK] = 0.4
    line[0, 1, 1], line[0, 4, 3], line[0, 4, 2] = 1, 0.52, 0.43
    [doubts] = recogniser._Decoder(Characters())(line)[1]
    assert doubts == [recogniser._Capital(1, 3.0, 5.5)]
    picture = numpy.full((48, 48, 3), 255, "uint8")
    picture[9:39, 8:16] = picture[top:39, 28:40] = 0
    assert recogniser._decided("3X", doubts, picture) == text


@pytest.mark.process
def test_space_before_a_figure_is_read():
    image = Image.new("RGB", (400, 60), "white")
    ImageDraw.Draw(image).text((10, 15), WORDS, (20, 20, 20), ImageFont.load_default(12))
    found = shared_reader().read(image.resize((280, 42)), "line", threads=1, deadline=None)
    assert [line.text for line in found.lines] == [WORDS]


WORDS = "3661 of W. 5771 522.73 741.68 42 signed"
