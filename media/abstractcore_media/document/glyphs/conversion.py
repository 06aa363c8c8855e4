"""Decides whether a text is drawn, and draws it: images in place of texts, and the text itself for quotes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from abstractcore.errors import AbstractCoreError, MissingExtraError
from abstractcore.schema import Blob, CallWarning, ContentPart, DrawnText, ImagePart, MediaPart, MediaText, TextPart
from abstractcore.schema.token_counts import text_tokens

from ...common.content import source_of
from ..work_limits import Work, WorkLimits
from .drawing import drawable, pen
from .geometry import Cell, PageSize, page_sizes, shortened
from .layout import CONTINUED, MARGIN, TAB, Columns, codes_of, columns_for, composed, needed_pages, normal_lines, pages
from .reading import LEGIBLE, legibility, scripts_of

if TYPE_CHECKING:
    from abstractcore.ports import Conversion, MediaContext
    from abstractcore.ports.profiles import MediaLimit

MOST_IMAGES = 100
_WORTHWHILE = 1.25
"""Tokens of text for each token of images, from which a text is drawn: images are read less reliably."""
_LABEL_TOKENS = 10
_MOST_CODES, _MOST_CODED = 40, 0.01
"""Different characters without a glyph, and their share of all, that are drawn as codes."""
_SHARE_OF_REQUEST = 0.9
_PRECISE = 10_000


class _NotDrawnError(AbstractCoreError):
    """Why a text is sent as text. `is_usual` means that nothing is wrong with it: it is too short, say;
    `has_too_many` that it would be drawn if more images could be sent.
    """

    def __init__(self, reason: str, *, is_usual: bool = False, has_too_many: bool = False) -> None:
        super().__init__(reason)
        self.is_usual = is_usual
        self.has_too_many = has_too_many


@dataclass(frozen=True, slots=True)
class _Run:
    """A text between pictures: its lines as they are drawn, and how."""

    text: str
    lines: Sequence[str]
    columns: Columns


def drawn(conversion: Conversion, part: MediaPart, context: MediaContext, *, if_possible: bool) -> Conversion:
    """Returns a conversion to text with its texts drawn as images, or as it is, with a warning that gives the reason.

    With `if_possible`, a text that is too short needs no warning, and a missing package is one and not an error.
    Blocks; raises `MediaError` at the time limit, and `MissingExtraError`.
    """
    work = Work(source_of(part), WorkLimits(), context.timeout)
    try:
        return _GlyphDrawing(conversion, context, work).conversion()
    except _NotDrawnError as reason:
        if reason.is_usual and if_possible:
            return conversion
        message = f"{work.source} is sent as text and not drawn: {reason}."
        conversion = replace(conversion, has_fewer_images=conversion.has_fewer_images or reason.has_too_many)
    except MissingExtraError as error:
        if not if_possible:
            raise
        message = f"{work.source} is sent as text and not drawn: {error}"
    return replace(conversion, warnings=(*conversion.warnings, CallWarning("text_not_drawn", "", message)))


class _GlyphDrawing:
    """Draws the texts of one conversion."""

    def __init__(self, conversion: Conversion, context: MediaContext, work: Work) -> None:
        self._conversion = conversion
        self._context = context
        self._work = work
        self._rule = context.image_tokens
        self._limits = context.image_limits
        self._most_images = MOST_IMAGES if context.max_images is None else min(MOST_IMAGES, context.max_images)
        self._if_possible = bool(context.options.get("glyphs"))
        self._text = conversion.text
        self._text_tokens = text_tokens(self._text)

    def conversion(self) -> Conversion:
        """Returns the conversion with its texts drawn; raises `_NotDrawnError`."""
        if not self._text.strip():
            raise _NotDrawnError("it has no text", is_usual=True)
        if self._rule is None and self._if_possible:
            raise _NotDrawnError("it is not known how many tokens the model needs for images")
        characters = Counter(composed(self._text))
        codes = _codes(characters)
        texts = {part.text: normal_lines(composed(part.text), codes) for part in self._texts()}
        cell, size, read = self._legible(texts, scripts_of(characters))
        runs = {run.text: run for run in self._runs(texts, size, cell)}
        if not runs:
            raise _NotDrawnError("its pieces between pictures are short", is_usual=True)
        content, image_tokens, images = self._content(runs, cell, size)
        if codes:
            legend = ", ".join(f"{code} is {chr(each)}" for each, code in codes.items())
            content.insert(0, TextPart(f"[{legend}]\n"))
        is_known = self._rule is not None
        report = DrawnText(
            images, len(self._text), cell.size, self._text_tokens, image_tokens if is_known else None, read
        )
        marks = f"{CONTINUED} continues the row above, {TAB} is a tab, columns are read one after the other"
        return replace(
            self._conversion,
            content=tuple(content),
            label=f"{self._conversion.label}, drawn as {images} image{'' if images == 1 else 's'}: {marks}",
            anchors=(),
            fallback="glyphs",
            own_text=MediaText(self._text, self._conversion.anchors),
            drawn=report,
        )

    def _texts(self) -> Iterator[TextPart]:
        return (part for part in self._conversion.parts if isinstance(part, TextPart))

    def _legible(self, texts: Mapping[str, Sequence[str]], scripts: frozenset[str]) -> tuple[Cell, PageSize, float]:
        """Returns the smallest characters that OCR reads, with their page, and the share that it reads."""
        lines = [line for each in texts.values() for line in each]
        best = 0.0
        for cell, size in page_sizes(self._rule, self._limits):
            columns = columns_for(lines, size, cell)
            self._check_worth(needed_pages(lines, columns), size)
            read = legibility(lines, scripts, cell, self._context, self._work.check)
            if read >= LEGIBLE:
                return cell, size, math.floor(read * _PRECISE) / _PRECISE
            best = max(best, read)
        raise _NotDrawnError(f"OCR reads {best:.0%} of its letters and digits, and {LEGIBLE:.0%} are required")

    def _check_worth(self, images: float, size: PageSize) -> None:
        """Raises `_NotDrawnError` if about so many images are too many, or have too many tokens."""
        if images > self._most_images:
            raise _NotDrawnError(
                f"it would be {math.ceil(images)} images, and the limit is {self._most_images}", has_too_many=True
            )
        if size.tokens is None:
            return
        tokens = math.ceil(images) * _LABEL_TOKENS + math.ceil(images * size.tokens)
        if tokens * _WORTHWHILE > self._text_tokens:
            about = f"as images it has about {tokens:,} tokens, as text {self._text_tokens:,}"
            raise _NotDrawnError(about, is_usual=True)

    def _runs(self, texts: Mapping[str, Sequence[str]], size: PageSize, cell: Cell) -> Iterator[_Run]:
        """Yields the texts that have fewer tokens as images."""
        for text, lines in texts.items():
            columns = columns_for(lines, size, cell)
            if text_tokens(text) >= needed_pages(lines, columns) * (size.tokens or 0) + _LABEL_TOKENS:
                yield _Run(text, lines, columns)

    def _content(self, runs: Mapping[str, _Run], cell: Cell, size: PageSize) -> tuple[list[ContentPart], int, int]:
        """Returns the content, the tokens of what is drawn and what is not, and the number of images."""
        content: list[ContentPart] = []
        tokens = images = 0
        room = _bytes_left(self._limits)
        for part in self._conversion.parts:
            run = runs.get(part.text) if isinstance(part, TextPart) else None
            if run is None:
                content.append(part)
                tokens += text_tokens(part.text) if isinstance(part, TextPart) else 0
                continue
            for png, page in self._images(run, cell, size):
                images += 1
                room -= len(png)
                if room < 0 or images > self._most_images:
                    raise _NotDrawnError("its images exceed what a request may have", has_too_many=True)
                content.append(TextPart(f"[image {images}]\n"))
                content.append(ImagePart(Blob.from_bytes(png, "image/png", name=f"text-{images}.png")))
                tokens += _LABEL_TOKENS + (page.tokens or 0)
        if self._rule is not None and tokens * _WORTHWHILE > self._text_tokens:
            raise _NotDrawnError(f"drawn it has {tokens:,} tokens, as text {self._text_tokens:,}", is_usual=True)
        return content, tokens, images

    def _images(self, run: _Run, cell: Cell, size: PageSize) -> Iterator[tuple[bytes, PageSize]]:
        """Yields the images of a text, each with its size."""
        for rows in pages(run.lines, run.columns):
            self._work.check()
            high = min(run.columns.rows, math.ceil(len(rows) / run.columns.count))
            page = shortened(size, high * cell.height + 2 * MARGIN, self._rule)
            yield pen(cell).page(rows, replace(run.columns, rows=high), page), page


def _codes(characters: Counter[str]) -> dict[int, str]:
    """Returns how characters without a glyph are written; raises `_NotDrawnError` if they are many."""
    codes = codes_of(characters, drawable())
    count = sum(characters[chr(each)] for each in codes)
    total = sum(number for each, number in characters.items() if not each.isspace())
    if count > total * _MOST_CODED or len(codes) > _MOST_CODES:
        shown = ", ".join(f"U+{each:04X}" for each in sorted(codes, key=lambda each: -characters[chr(each)])[:5])
        raise _NotDrawnError(f"{count:,} of its {total:,} characters are not in the font, such as {shown}")
    return codes


def _bytes_left(limits: Mapping[MediaLimit, int]) -> float:
    """Returns how many bytes all images may have."""
    request = limits.get("request_bytes", math.inf) * 3 / 4 * _SHARE_OF_REQUEST
    return min(request, limits.get("all_image_bytes", math.inf))
