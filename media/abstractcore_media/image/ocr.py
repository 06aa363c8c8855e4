"""Reads text in images with RapidOCR: PP-OCRv6, whose weights come in its wheel. Nothing is downloaded."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from abstractcore.errors import MediaError
from abstractcore.ports import current_interruption, native_call

from ..common.extras import missing_extra
from ..common.processes import PerProcess
from .colors import opaque
from .lines import TextLine, merged
from .turning import Turn, before, turn_of, turned

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST_EDGE = 2000
"""Larger images are reduced to it: the detector of lines does it otherwise."""
_SMALL_EDGE = 1000
"""Images whose longer edge is shorter are also read enlarged."""
_SEARCHED = {"use_det": True, "use_cls": True, "use_rec": True}
_ONE_ROW = {"use_det": False, "use_cls": False, "use_rec": True}
_TURNED = {"use_det": False, "use_cls": True, "use_rec": False}
"""RapidOCR keeps these for the next image: each reading sets all of them."""
_NARROW = 368
"""Pixels of the shorter edge that are read without a margin."""
_SURE = 0.9
"""The confidence of each line from which no other variant is tried."""
_STILL_READ = 0.8
"""The share of what was read that must be read of a page after it was turned, else it stays as it is."""
_READ = 0.5
"""The confidence below which a line counts as unread."""
_READ_SHORT = 0.9
"""The same for one or two characters: edges of things are read as such."""


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


class TextReader:
    """Reads text; loads its models on first use and keeps them. Thread-safe: one image is read at a time."""

    def __init__(self) -> None:
        self._engine: Any = None
        self._lock = threading.Lock()

    def read(self, image: Image, source: str, *, threads: int, deadline: float | None) -> RecognisedText:
        """Returns the text of an image in mode L, RGB or RGBA.

        Variants of contrast and scale are read until each line is sure, or all were tried, of a page that is sideways
        or upside down after it was turned. `deadline` is of
        `time.monotonic`; after it, no other variant is begun. Raises `MediaError` if the first one has not begun by
        then, and if reading fails.
        """
        image = opaque(image)
        with self._lock:
            readings = self._readings(image, source, threads, deadline)
            first = next(readings, None)
            if first is None:
                raise MediaError(
                    f"{source} was not read within the time limit.", source=source, hint="Set a longer timeout."
                )
            if turn := turn_of(image, first, partial(self._are_upside_down, threads=threads)):
                upright = turned(image, turn)
                again = self._readings(upright, source, threads, deadline)
                found = next(again, None)
                if found is not None and _sureness(found) >= _STILL_READ * _sureness(first):
                    image, first, readings = upright, found, again
                else:
                    turn = 0
            lines = _until_sure(first, readings, is_small=max(image.size) < _SMALL_EDGE)
        read = tuple(filter(_is_read, lines))
        return RecognisedText(read, tuple(line for line in lines if line not in read), image.size, turn)

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

    def _readings(self, image: Image, source: str, threads: int, deadline: float | None) -> Iterator[list[TextLine]]:
        """Yields the lines of each variant, as long as there is time."""
        self._loaded(threads)
        for vary, scale in _variants(image):
            if (interruption := current_interruption()) is not None:
                interruption.check()
            if deadline is not None and time.monotonic() > deadline:
                return
            yield self._reading(vary(_scaled(image, scale)), scale, source, threads)

    def _are_upside_down(self, rows: Sequence[Image], threads: int) -> list[bool]:
        """Returns of each picture of a line whether it is upside down."""
        import numpy

        engine = self._loaded(threads)
        pixels = (numpy.asarray(row.convert("RGB"))[:, :, ::-1] for row in rows)
        with native_call("a line of text"):
            return [engine(each, **_TURNED).cls_res[0][0] == "180" for each in pixels]

    def _reading(self, image: Image, scale: float, source: str, threads: int) -> list[TextLine]:
        import numpy

        engine = self._loaded(threads)
        pixels = numpy.asarray(_padded(image.convert("RGB")))[:, :, ::-1]  # it expects BGR
        try:
            with native_call(source):
                result = engine(pixels, **_SEARCHED)
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
                from rapidocr import RapidOCR
            except ImportError as error:
                raise missing_extra("Reading text in images", "rapidocr", "images") from error
            with native_call("RapidOCR"):
                self._engine = RapidOCR(
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


def _variants(image: Image) -> Iterator[tuple[Callable[[Image], Image], float]]:
    """Yields changes of contrast, each with a scale, in the order in which they are tried."""
    longest = max(image.size)
    scale = min(1.0, LONGEST_EDGE / longest)
    yield _unchanged, scale
    larger = min(1.5, LONGEST_EDGE / longest) if longest < _SMALL_EDGE else scale * 0.75
    yield _evenly_lit, larger
    yield _evenly_lit, scale
    yield _unchanged, larger


def _unchanged(image: Image) -> Image:
    return image


def _evenly_lit(image: Image) -> Image:
    """Returns a gray image without shadows: each pixel relative to its blurred surroundings."""
    import numpy
    from PIL.Image import fromarray
    from PIL.ImageFilter import GaussianBlur

    gray = image.convert("L")
    ground = gray.filter(GaussianBlur(max(5.0, min(gray.size) / 24)))
    relative = numpy.asarray(gray, "float32") / numpy.maximum(numpy.asarray(ground, "float32"), 1) * 200
    return fromarray(relative.clip(0, 255).astype("uint8"))


def _scaled(image: Image, scale: float) -> Image:
    if scale == 1:
        return image
    from PIL.Image import Resampling

    width, height = image.size
    return image.resize((max(1, round(width * scale)), max(1, round(height * scale))), Resampling.LANCZOS)


def _padded(image: Image) -> Image:
    """Returns the image with a margin at the right or below where it is narrow: the detector enlarges images until
    their shorter edge has 736 pixels.
    """
    width, height = image.size
    shortest = max(_NARROW, max(width, height) // 4)
    if min(width, height) >= shortest:
        return image
    from PIL.Image import new

    padded = new("RGB", (max(width, shortest), max(height, shortest)), image.getpixel((width - 1, height - 1)))
    padded.paste(image)
    return padded
