"""Turns HTML into blocks while it is parsed, by events, so that memory stays bounded and no depth is too deep."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeAlias, cast

from ...common.extras import missing_extra
from ..blocks import Block, BlockPlace, MarkdownText, fenced, heading, list_item, table
from ..work_limits import Work

_HIDDEN = frozenset({"script", "style", "template", "noscript", "head", "svg", "math", "select", "datalist", "iframe"})
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_SPACES = re.compile(r"\s+")
_CHUNK = 1 << 16
_MAX_SPAN = 100

PictureLoader: TypeAlias = Callable[[str, str, BlockPlace], Block | None]
"""Returns the block for a picture by its address, its description and its place; None to leave it out."""


def html_blocks(
    data: bytes, work: Work, encoding: str | None, place: BlockPlace, picture: PictureLoader
) -> Iterator[Block]:
    """Yields the blocks of a page. `encoding` is None if the page declares it. Paragraphs are counted after `place`."""
    try:
        etree = cast(Any, import_module("lxml.etree"))  # it has no types
    except ImportError as error:
        raise missing_extra("Reading HTML files", "lxml", "documents") from error
    target = _MarkupTarget(place, picture)
    parser = etree.HTMLParser(target=target, huge_tree=True, encoding=encoding, no_network=True)
    for start in range(0, len(data), _CHUNK):
        work.check()
        parser.feed(data[start : start + _CHUNK])
        yield from target.taken()
    parser.close()
    yield from target.taken()


class _MarkupTarget:
    """Receives the events of the parser."""

    def __init__(self, place: BlockPlace, picture: PictureLoader) -> None:
        self._place = place
        self._picture = picture
        self._paragraphs = place.paragraph or 0
        self._done: list[Block] = []
        self._text: list[str] = []
        self._hidden: list[str] = []
        self._kind = "p"
        self._lists: list[int | None] = []
        self._marker = ""
        self._verbatim = 0
        self._links: list[tuple[str, int]] = []
        self._tables: list[_Table] = []
        self._count = 0

    def taken(self) -> list[Block]:
        done, self._done = self._done, []
        return done

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._hidden:
            if tag == self._hidden[-1]:
                self._hidden.append(tag)
            return
        if tag in _HIDDEN or "hidden" in attributes:
            if tag not in _VOID:
                self._hidden.append(tag)
            return
        if tag in _HEADINGS or tag in _BLOCKS:
            self._end_text()
        if tag in _HEADINGS:
            self._kind = tag
        elif tag == "pre":
            self._verbatim += 1
        elif tag in ("ul", "ol"):
            start = attributes.get("start", "1")
            self._lists.append((int(start) if start.isdecimal() and len(start) < 9 else 1) - 1 if tag == "ol" else None)
        elif tag == "li":
            self._start_item()
        elif tag == "br":
            self._text.append("\n")
        elif tag == "img":
            self._image(attributes)
        elif tag == "a":
            self._links.append((attributes.get("href", ""), len(self._text)))
        elif tag == "table":
            self._tables.append(_Table())
        elif self._tables and tag in ("tr", "td", "th"):
            self._tables[-1].start(tag, attributes)

    def end(self, tag: str) -> None:
        if self._hidden:
            if tag == self._hidden[-1]:
                self._hidden.pop()
            return
        if tag in _HEADINGS or tag in _BLOCKS:
            self._end_text()
        if tag in _HEADINGS:
            self._kind = "p"
        elif tag == "pre":
            self._verbatim = max(0, self._verbatim - 1)
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag == "a" and self._links:
            self._end_link()
        elif tag == "table" and self._tables:
            self._end_table(self._tables.pop())

    def data(self, data: str) -> None:
        if not self._hidden:
            self._text.append(data if self._verbatim else _SPACES.sub(" ", data))

    def comment(self, data: str) -> None:
        """Leaves comments out."""

    def close(self) -> None:
        self._end_text()
        while self._tables:
            self._end_table(self._tables.pop())

    def _end_text(self) -> None:
        raw = "".join(self._text)
        self._text.clear()
        self._links.clear()
        if self._verbatim and not self._tables:
            text = raw.strip("\n")
        else:
            text = "\n".join(filter(None, (" ".join(line.split()) for line in raw.split("\n"))))
        if not text.strip():
            return
        if self._tables:
            self._tables[-1].add(text)
            return
        self._emit(text)

    def _emit(self, text: str) -> None:
        place = self._next_place()
        if self._verbatim:
            block = fenced(text, "", place)
        elif self._kind != "p":
            block = heading(text, _HEADINGS[self._kind], place)
        elif self._lists:
            block = list_item(text, self._marker or " ", len(self._lists) - 1, place)
            self._marker = ""
        else:
            block = MarkdownText(text, place)
        self._done.append(block)

    def _next_place(self) -> BlockPlace:
        self._paragraphs += 1
        return replace(self._place, paragraph=self._paragraphs)

    def _start_item(self) -> None:
        if not self._lists:
            self._lists.append(None)
        number = self._lists[-1]
        if number is not None:
            self._lists[-1] = number = number + 1
        self._marker = "-" if number is None else f"{number}."

    def _end_link(self) -> None:
        address, start = self._links.pop()
        text = "".join(self._text[start:]).strip()
        if text and address.startswith(("http://", "https://", "mailto:")) and text != address:
            self._text[start:] = [f"[{text}]({address})"]

    def _image(self, attributes: dict[str, str]) -> None:
        self._end_text()
        place = replace(self._place, paragraph=self._paragraphs or None)
        block = self._picture(attributes.get("src", ""), attributes.get("alt", ""), place)
        if block is None:
            return
        if self._tables:
            self._tables[-1].inside.append(block)
        else:
            self._done.append(block)

    def _end_table(self, found: _Table) -> None:
        rows = [row for row in found.rows if any(row)]
        if self._tables:  # a table in a cell of another one, most often for layout
            self._tables[-1].add("\n".join(" ".join(filter(None, row)) for row in rows))
            self._tables[-1].inside += found.inside
            return
        self._count += 1
        name = f"table {self._place.member} {self._count}"
        if max(map(len, rows), default=0) == 1:
            for row in rows:
                self._done.append(MarkdownText(row[0], self._next_place()))
        else:
            self._done += table(((row, self._next_place()) for row in rows), name)
        self._done += found.inside


class _Table:
    """The cells of a table that is being read."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.inside: list[Block] = []
        self._at = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "tr" or not self.rows:
            self.rows.append([])
        if tag in ("td", "th"):
            span = attributes.get("colspan", "1")
            width = min(int(span), _MAX_SPAN) if span.isdecimal() and len(span) < 9 else 1
            self.rows[-1] += [""] * max(width, 1)
            self._at = len(self.rows[-1]) - max(width, 1)

    def add(self, text: str) -> None:
        if not self.rows or not self.rows[-1]:
            self.rows.append([text])  # a caption
            self.rows.append([])
            return
        cell = self.rows[-1][self._at]
        self.rows[-1][self._at] = f"{cell}\n{text}" if cell else text
