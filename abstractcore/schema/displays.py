"""HTML of what objects show in notebooks, made of blocks: texts, parts, files, tables. `TableList`: a list as a table.

All texts are escaped, which Markdown would not allow, and of bounded length; nothing is loaded from a network: a
notebook runs scripts in its outputs with the rights of its user. Parts, files and usage are known by their attributes:
their modules import this one when they are shown.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from html import escape
from itertools import chain, islice
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

from .amounts import counted, dollars, seconds, sums
from .base_error import AbstractCoreError, SchemaError, shown, shown_file_name
from .reprs import RichDisplay, is_secret, short_repr
from .visible_text import visible

Block: TypeAlias = Any
"""A text, a part, a `DisplayedFile`, a `DisplayTable`, `FoldedBlocks`, `SmallPrint`, or an object with a display."""
MOST_ROWS: Final = 50
_MOST_CHARACTERS: Final = 200_000
"""Of a display. A text takes half of what is left at most, so that there is room for what follows it."""
_MOST_BLOCKS: Final = 500
_LONGEST_CELL: Final = 300
_LARGEST: Final = 10**30
"""Larger numbers are shortened as any value."""
_SHORT_CELL: Final = 30
_LONGEST_EXCERPT: Final = 2_000
_DEEPEST: Final = 20
_MOST_EMBEDDED_FILE: Final = 4 * 1024 * 1024
_MOST_EMBEDDED: Final = 16 * 1024 * 1024
_ELEMENTS: Final = {
    "image/png": "img",
    "image/jpeg": "img",
    "image/gif": "img",
    "image/webp": "img",
    "audio/mpeg": "audio",
    "audio/wav": "audio",
    "audio/ogg": "audio",
    "video/mp4": "video",
    "video/webm": "video",
}
"""The HTML element of each media type. SVG is left out: it may contain scripts."""
_TEXTS: Final = ("text/", "application/json")
T = TypeVar("T", bound=RichDisplay)


class DisplayTable(NamedTuple):
    """Rows with cells by the names of their columns. A column without any value is left out.

    `total` is how many rows there are, if these are only some. A `Decimal` is shown as US dollars, numbers to the
    right, texts on one line of 300 characters at most, None as nothing.
    """

    rows: Iterable[Mapping[str, object]]
    total: int | None = None
    most: int = MOST_ROWS
    """How many rows are shown at most."""


class IndentedCell(NamedTuple):
    """A cell of a column that is a tree: `depth` is how many rows are above it."""

    text: str
    depth: int


class DisplayedFile(NamedTuple):
    """A `Blob`: a picture, a recording or a video is embedded, the beginning of a text is shown."""

    blob: Any


class FoldedBlocks(NamedTuple):
    """Blocks below a title, which are shown once it is opened."""

    title: str
    blocks: Iterable[Block]


class SmallPrint(NamedTuple):
    """Lines in small print."""

    lines: Iterable[str]


class TableList(list[T], RichDisplay):
    """A list that notebooks show as a table, with a row for each item. Otherwise it is a list as any other."""

    __slots__ = ()

    def __display__(self) -> Iterable[Block]:
        yield DisplayTable([each.__display_row__() for each in self[:MOST_ROWS]], len(self))


def html_of(blocks: Iterable[Block]) -> str:
    """Returns the HTML of blocks, within the limits of one display."""
    return f"<div>{''.join(_DisplayWriter().written(blocks))}</div>"


def shown_json(value: object) -> str:
    """Returns JSON data as text. Texts of fields that are named like credentials are hidden."""
    return json.dumps(_without_secrets(value, 0), ensure_ascii=False, default=short_repr)


def shown_call(call: Any) -> str:
    """Returns a tool call as text, as in `weather({"city": "Ulm"})`."""
    return f"{call.name}({call.arguments_text if call.arguments is None else shown_json(call.arguments)})"


def shown_error(error: Any) -> str | None:
    """Returns the name of the class of an exception, or an `ErrorRecord`, and its message; None for none."""
    if isinstance(error, Exception):
        own = isinstance(error, AbstractCoreError)
        return f"{type(error).__name__}: {error}" if own else shown(error)  # of others, `str` may fail
    return None if error is None else f"{error.type}: {error.message}"


def shown_tokens(usage: Any) -> str:
    """Returns the tokens of a `Usage` as a phrase; "" if they were not reported."""
    counts = ((usage.input, "in"), (usage.output, "out"))
    return ", ".join(f"{counted(count, 'token')} {way}" for count, way in counts if count is not None)


def shown_facts(result: Any) -> str:
    """Returns the tokens, the cost and the time of a result that has the sums of its calls."""
    return ", ".join(filter(None, [shown_tokens(result.usage), sums(result.costs), seconds(result.seconds)]))


def _without_secrets(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return "..."
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {
            str(name): "***" if isinstance(each, str) and is_secret(name) else _without_secrets(each, depth + 1)
            for name, each in items
        }
    if isinstance(value, list | tuple):
        return [_without_secrets(each, depth + 1) for each in cast("Sequence[object]", value)]
    return value


class _DisplayWriter:
    """Writes one display: counts what is left of its limits."""

    def __init__(self) -> None:
        self._characters = _MOST_CHARACTERS
        self._bytes = _MOST_EMBEDDED
        self._blocks = _MOST_BLOCKS

    def written(self, blocks: Iterable[Block]) -> Iterable[str]:
        """Yields the HTML of each block; of too many the first ones."""
        for block in blocks:
            if self._blocks <= 0:
                yield "<p>... more</p>"
                return
            self._blocks -= 1
            yield self._block(block)

    def _block(self, block: Block) -> str:
        match block:
            case str():
                return self._paragraph(block)
            case DisplayedFile():
                return self._file(block.blob)
            case DisplayTable():
                return self._table(block)
            case FoldedBlocks():
                return self._folded(block.title, block.blocks)
            case SmallPrint():
                return self._small("<br>".join(map(self._text, filter(None, block.lines))))
            case RichDisplay():
                return "".join(self.written(block.__display__()))
            case _:
                return self._part(block)

    def _part(self, part: Any) -> str:
        match getattr(part, "type", None):
            case "text":
                return self._paragraph(part.text)
            case "reasoning":
                return self._folded("Reasoning", [part.text]) if part.text else ""
            case "tool_call":
                return f"<p><code>{self._text(shown_call(part))}</code></p>"
            case "tool_result":
                return "".join(self.written(part.content))
            case "hosted_tool_result" if files := [each for each in part.content if hasattr(each, "blob")]:
                return "".join(self.written(files))
            case _:
                return f"<p><code>{self._text(short_repr(part))}</code></p>"

    def _paragraph(self, text: str) -> str:
        return f'<div style="white-space: pre-wrap">{self._text(text)}</div>'

    def _folded(self, title: str, blocks: Iterable[Block]) -> str:
        return f"<details><summary>{self._text(title)}</summary>{''.join(self.written(blocks))}</details>"

    def _small(self, html: str) -> str:
        return f'<div style="margin-top: 0.5em"><small>{html}</small></div>'

    def _text(self, text: str, longest: int = _MOST_CHARACTERS, *, of: int = 0) -> str:
        """Returns a text as HTML; `of` is the length of the one that it is the beginning of."""
        longest = min(longest, self._characters // 2)
        self._characters -= min(longest, len(text))
        rest = f"... [{max(of, len(text)):,} characters]" if max(of, len(text)) > longest else ""
        return escape(visible(text[:longest]) + rest)

    def _table(self, table: DisplayTable) -> str:
        rows = [*islice(table.rows, table.most)]
        names = [name for name in dict.fromkeys(chain(*rows)) if any(row.get(name) not in (None, "") for row in rows)]
        head = "".join(f'<th style="text-align: left">{self._text(name)}</th>' for name in names)
        body = "".join(f"<tr>{''.join(self._cell(row.get(name)) for name in names)}</tr>" for row in rows)
        total = len(rows) if table.total is None else table.total
        below = self._small(f"{len(rows):,} of {total:,} rows") if total > len(rows) or not rows else ""
        if not rows:
            return below
        frame = '<div style="overflow-x: auto"><table><thead><tr>'
        return f"{frame}{head}</tr></thead><tbody>{body}</tbody></table></div>{below}"

    def _cell(self, value: object) -> str:
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            return f'<td style="text-align: right; vertical-align: top">{self._text(_number(value))}</td>'
        style = "text-align: left; vertical-align: top"
        if isinstance(value, IndentedCell):
            style += f"; padding-left: {1.5 * min(value.depth, _DEEPEST) + 0.5}em"
            value = value.text
        text = "" if value is None else value if isinstance(value, str) else short_repr(value)
        begun = text[: 2 * _LONGEST_CELL]  # no more of a long text is looked at
        line = self._text(" ".join(begun.split()), _LONGEST_CELL, of=len(text) if len(text) > len(begun) else 0)
        if len(text) <= _SHORT_CELL:
            style += "; white-space: nowrap"
        return f'<td style="{style}">{line}</td>'

    def _file(self, blob: Any) -> str:
        element = _ELEMENTS.get(blob.media_type)
        label = repr(blob) if blob.name is None or blob.form == "file" else f"{shown_file_name(blob.name)}: {blob!r}"
        is_text = blob.media_type.startswith(_TEXTS)
        data = self._content(blob) if element is not None or is_text else None
        if data is None or (is_text and not data):
            return f"<p><code>{self._text(label)}</code></p>"
        if is_text:
            text = data[: 4 * _LONGEST_EXCERPT].decode("utf-8", "replace")[:_LONGEST_EXCERPT]
            rest = "..." if len(text.encode()) < len(data) else ""
            return self._folded(label, [text + rest])
        self._bytes -= len(data)
        source = f"data:{blob.media_type};base64,{base64.b64encode(data).decode('ascii')}"
        if element == "img":
            name = self._text(blob.name or blob.media_type, _LONGEST_CELL)
            return f'<img src="{source}" alt="{name}" style="max-width: 100%">'
        return f'<{element} controls src="{source}"></{element}>'

    def _content(self, blob: Any) -> bytes | None:
        """Returns the content if it is in memory or in a file, and short enough."""
        if blob.form not in ("bytes", "file") or (blob.size or 0) > min(_MOST_EMBEDDED_FILE, self._bytes):
            return None
        try:
            return blob.read()
        except (OSError, SchemaError):
            return None


def _number(value: float | Decimal) -> str:
    try:
        is_usual = abs(value) < _LARGEST
    except ArithmeticError:  # a NaN of Decimal
        is_usual = False
    if not is_usual:
        return short_repr(value)
    if isinstance(value, Decimal):
        return dollars(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
