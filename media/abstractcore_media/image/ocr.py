"""Reads text in images with RapidOCR: PP-OCRv6, whose weights come in its wheel. Nothing is downloaded."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from abstractcore.errors import MediaError
from abstractcore.ports import current_interruption, native_call

from ..common.extras import missing_extra
from ..common.processes import PerProcess
from .colors import opaque
from .lines import TextLine, merged
from .tiles import LONGEST_EDGE, Tile, reading_scale, tiles_of
from .turning import Turn, before, turn_of, turned
from .variants import SMALL_EDGE, padded, scaled, variants

if TYPE_CHECKING:
    from PIL.Image import Image

_SEARCHED = {"use_det": True, "use_rec": True}
_ONE_ROW = {"use_det": False, "use_cls": False, "use_rec": True}
_TURNED = {"use_det": False, "use_cls": True, "use_rec": False}
"""RapidOCR keeps these for the next image: each reading sets all of them."""
_SURE = 0.9
"""The confidence of each line from which no other variant is tried."""
_STILL_READ = 0.8
"""The share of what was read that must be read of a page after it was turned, else it stays as it is."""
_READ = 0.5
"""The confidence below which a line counts as unread."""
_READ_SHORT = 0.9
"""The same for one or two characters: edges of things are read as such."""
_SMALLEST_EDGE = 5
"""Narrower images have no text."""
_SMALL_LINE, _LEGIBLE_LINE = 10, 16
"""Pixels of the height of a line: below the first, letters that look sure are wrong. The second is enough."""
_SMALL_SHARE = 0.1
"""The share of characters in small lines from which all is read again, larger."""


@dataclass(frozen=True, slots=True)
class RecognisedText:
    """What was read of an image: `lines`, and those whose words are too uncertain to be used. `size` is in pixels.

    The places of lines are those in the image after it was turned by `turn`, so that its text is upright.
    """

    lines: tuple[TextLine, ...]
    unread: tuple[TextLine, ...]
    size: tuple[int, int]
    turn: Turn = 0

    @property
    def characters(self) -> int:
        """The number of letters and digits."""
        return sum(character.isalnum() for line in self.lines for character in line.text)

    def box(self, line: TextLine) -> tuple[float, ...]:
        """Returns the place of a line in the image as it was: left, top, right and bottom from 0 to 1."""
        return before(line.box(*self.size), self.turn)


@dataclass(frozen=True, slots=True)
class _Page:
    """An image that is read: as it was turned, and at which scale. `known` are first readings of tiles, by number."""

    image: Image
    scale: float
    source: str
    threads: int
    deadline: float | None
    turn: Turn = 0
    known: dict[int, list[TextLine]] = field(default_factory=dict[int, list[TextLine]])


class TextReader:
    """Reads text; loads its models on first use and keeps them. Thread-safe: one image is read at a time."""

    def __init__(self) -> None:
        self._engine: Any = None
        self._lock = threading.Lock()

    def read(self, image: Image, source: str, *, threads: int, deadline: float | None) -> RecognisedText:
        """Returns the text of an image in mode L, RGB or RGBA.

        A long image is read in tiles, and one that was reduced until its letters were too small is read again, larger.
        Variants of contrast and scale are read until each line is sure, or all were tried, of a page that is sideways
        or upside down after it was turned. `deadline` is of `time.monotonic`; after it, nothing else is begun, and
        tiles that were not read count as unread. Raises `MediaError` if the first one has not begun by then, and if
        reading fails.
        """
        if min(image.size) < _SMALLEST_EDGE:
            return RecognisedText((), (), image.size)
        with self._lock:
            page = self._begun(_Page(opaque(image), reading_scale(*image.size), source, threads, deadline))
            read: list[TextLine] = []
            unread: list[TextLine] = []
            for number, tile in enumerate(tiles_of(page.image, page.scale)):
                for line in self._lines(page, number, tile):
                    (read if _is_read(line) else unread).append(line.moved(tile.left, tile.top))
        return RecognisedText(tuple(read), tuple(unread), page.image.size, page.turn)

    def _begun(self, page: _Page) -> _Page:
        """Returns a page whose turn and scale are known, by the first of its tiles with text, and what was read."""
        for number, tile in enumerate(tiles_of(page.image, page.scale)):
            first = next(self._readings(page, tile.image), None)
            if first is None:
                break
            page.known[number] = first
            if first:
                return self._larger(self._upright(page, tile, first), first)
        if not page.known:
            raise MediaError(
                f"{page.source} was not read within the time limit.", source=page.source, hint="Set a longer timeout."
            )
        return page

    def _upright(self, page: _Page, tile: Tile, first: list[TextLine]) -> _Page:
        """Returns a page turned, if more of a tile is read after it was."""
        turn = turn_of(tile.image, first, partial(self._are_upside_down, threads=page.threads))
        if not turn:
            return page
        again = next(self._readings(page, turned(tile.image, turn)), None)
        if again is None or _sureness(again) < _STILL_READ * _sureness(first):
            return page
        known = {0: again} if tile.image is page.image else {}
        return replace(page, image=turned(page.image, turn), turn=turn, known=known)

    def _larger(self, page: _Page, first: list[TextLine]) -> _Page:
        """Returns a page that is reduced less, if letters of the first lines are too small to be sure of them."""
        heights = [(line.height * page.scale, len(line.text)) for line in first]
        small = [(height, count) for height, count in heights if height < _SMALL_LINE]
        total, of_small = (sum(count for _, count in each) for each in (heights, small))
        if page.scale == 1 or of_small <= _SMALL_SHARE * total:
            return page
        height = sum(height * count for height, count in small) / of_small
        return replace(page, scale=min(1.0, page.scale * _LEGIBLE_LINE / height), known={})

    def _lines(self, page: _Page, number: int, tile: Tile) -> list[TextLine]:
        """Returns the lines of a tile, by as many readings as are needed; without time for any, one that is unread."""
        readings = self._readings(page, tile.image, page.known.get(number))
        first = next(readings, None)
        if first is None:
            right, bottom = tile.image.size
            return [TextLine("", 0.0, ((0, 0), (right, 0), (right, bottom), (0, bottom)))]
        if not first and tile.image is not page.image:
            return []
        return _until_sure(first, readings, is_small=max(tile.image.size) < SMALL_EDGE)

    def read_row(self, image: Image, source: str, *, threads: int) -> str:
        """Returns the text of an image of one row, which is not searched for lines; raises `MediaError` if it fails."""
        import numpy

        pixels = numpy.asarray(image.convert("RGB"))[:, :, ::-1]
        with self._lock:
            engine = self._loaded(threads)
            try:
                with native_call(source):
                    result = engine(pixels, **_ONE_ROW)
            except Exception as error:  # as in `_reading`
                raise MediaError(f"The text of {source} cannot be read: {error}", source=source) from error
        return "".join(result.txts or ())

    def _readings(self, page: _Page, image: Image, known: list[TextLine] | None = None) -> Iterator[list[TextLine]]:
        """Yields the lines of each variant of a part of a page, as long as there is time; the first may be `known`."""
        if known is not None:
            yield known
        # Long rows of digits look upside down to the classifier: later readings do not turn single lines.
        for number, (vary, scale) in islice(enumerate(variants(image, page.scale)), 0 if known is None else 1, None):
            if (interruption := current_interruption()) is not None:
                interruption.check()
            if page.deadline is not None and time.monotonic() > page.deadline:
                return
            yield self._reading(vary(scaled(image, scale)), scale, page.source, page.threads, turns=number == 0)

    def _are_upside_down(self, rows: Sequence[Image], threads: int) -> list[bool]:
        """Returns of each picture of a line whether it is upside down."""
        import numpy

        engine = self._loaded(threads)
        pixels = (numpy.asarray(row.convert("RGB"))[:, :, ::-1] for row in rows)
        with native_call("a line of text"):
            return [engine(each, **_TURNED).cls_res[0][0] == "180" for each in pixels]

    def _reading(self, image: Image, scale: float, source: str, threads: int, *, turns: bool = True) -> list[TextLine]:
        """Returns the lines of an image; `turns` says whether single lines are turned if they look upside down."""

        import numpy

        engine = self._loaded(threads)
        pixels = numpy.asarray(padded(image.convert("RGB")))[:, :, ::-1]  # it expects BGR
        try:
            with native_call(source):
                result = engine(pixels, **_SEARCHED, use_cls=turns)
        except Exception as error:  # of several libraries, for images that they cannot divide into lines
            raise MediaError(f"The text of {source} cannot be read: {error}", source=source) from error
        if result.boxes is None or result.txts is None:
            return []
        found: list[TextLine] = []
        for box, text, score in zip(result.boxes.tolist(), result.txts, result.scores, strict=True):
            first, second, third, fourth = ((x / scale, y / scale) for x, y in box)
            found.append(TextLine(text.strip(), float(score), (first, second, third, fourth)))
        return found

    def _loaded(self, threads: int) -> Any:
        if self._engine is None:
            try:
                from .recogniser import SpacedOCR
            except ImportError as error:
                raise missing_extra("Reading text in images", "rapidocr", "images") from error
            with native_call("RapidOCR"):
                self._engine = SpacedOCR(
                    params={
                        "Global.log_level": "critical",
                        "Global.text_score": 0.0,  # lines that cannot be read are counted
                        "Global.max_side_len": LONGEST_EDGE,
                        "EngineConfig.onnxruntime.intra_op_num_threads": threads,
                        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                    }
                )
        return self._engine


_shared = PerProcess(TextReader)


def shared_reader() -> TextReader:
    """Returns the reader of this process: its models are loaded once."""
    return _shared.get()


def _until_sure(first: list[TextLine], readings: Iterable[list[TextLine]], *, is_small: bool) -> list[TextLine]:
    """Returns the lines of as many readings as are needed."""
    found, lines = [first], merged([first])
    if _is_enough(found, lines, is_small=is_small):
        return lines
    for reading in readings:
        found.append(reading)
        lines = merged(found)
        if _is_enough(found, lines, is_small=is_small):
            break
    return lines


def _sureness(lines: Iterable[TextLine]) -> float:
    return sum(line.confidence * len(line.text) for line in lines)


def _is_enough(readings: list[list[TextLine]], lines: list[TextLine], *, is_small: bool) -> bool:
    """Returns whether no other variant needs to be read. Small text is read twice: its first characters are lost while
    the rest is sure. Without any text after two readings, there is none.
    """
    if len(readings) == 1 and is_small:
        return False
    return all(line.confidence >= _SURE for line in lines) or (len(readings) == 2 and not any(map(_is_read, lines)))


def _is_read(line: TextLine) -> bool:
    return line.confidence >= (_READ if len(line.text) > 2 else _READ_SHORT) and bool(line.text)
