"""Turns HTML into blocks while it is parsed, by events, so that memory stays bounded and no depth is too deep."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, ClassVar, TypeAlias, cast
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from ...common.extras import missing_extra
from ..blocks import NOWHERE, Block, BlockPlace, MarkdownText, fenced, heading, list_item, table
from ..equations import in_markdown, latex_of_mathml
from ..marks import Marks, marked
from ..vocabularies import LossCounter, Treatment
from ..work_limits import Work
from .html_parts import HtmlFormula, HtmlList, HtmlSelect, HtmlTable, is_hidden

_BLOCKS = frozenset(
    ("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div",
     "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "legend", "li",
     "listing", "main", "menu", "nav", "ol", "p", "plaintext", "pre", "search", "section", "summary", "table", "tbody",
     "td", "tfoot", "th", "thead", "tr", "ul", "xmp", "svg:desc", "svg:div", "svg:p", "svg:text", "svg:title")
)  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = ("ul", "ol", "menu", "dir")
_VERBATIM = ("pre", "listing", "plaintext", "xmp")
_SPACES = re.compile(r"\s+")
_CHUNK = 1 << 16
_VOID = frozenset(("bgsound", "command", "embed", "keygen", "nextid", "track"))
"""Elements without an end in HTML that the parser takes for ones with content."""
_LINKED = ("http://", "https://", "mailto:", "tel:", "ftp://")
_OTHER_SCHEME = re.compile(r"\s*[a-zA-Z][\w+.-]{0,30}:")
_NOTE_MARKS = ("noteref", "doc-noteref")
_BOXES = re.compile(r"(?:\s*(?:\[ \]|\( \)))+\s*")
_MAX_FRAMES = 20
"""Pages in frames of pages in frames."""
_MAX_SPANS = 100
"""Links and marks that are open at once; each one costs the text inside it."""
_COUNTED_EMPTY = ("recordings", "embedded objects", "drawings of scripts", "frames")
"""What shows something even if the page has no text for it."""

PictureLoader: TypeAlias = Callable[[str, str, BlockPlace], Block | None]
"""Returns the block for a picture by its address, its description and its place; None to leave it out."""


@dataclass(frozen=True)
class Page:
    """What the blocks of a page need: paragraphs are counted after `place`. `titles` are those that were shown."""

    work: Work
    losses: LossCounter
    picture: PictureLoader
    place: BlockPlace = NOWHERE
    titles: set[str] = field(default_factory=set[str])
    depth: int = 0
    base: str = ""


def html_blocks(data: bytes, codec: str, page: Page) -> Iterator[Block]:
    """Yields the blocks of a page whose text is encoded as `codec`; counts what is not carried over."""
    try:
        etree = cast(Any, import_module("lxml.etree"))  # it has no types
    except ImportError as error:
        raise missing_extra("Reading HTML files", "lxml", "documents") from error
    target = _MarkupTarget(page)
    parser = etree.HTMLParser(target=target, huge_tree=True, encoding="utf-8", no_network=True)
    decoder = codecs.getincrementaldecoder(codec)("replace")
    invalid = -data.count("\ufffd".encode(), 0, len(data)) if codec.startswith("utf-8") else 0
    for start in range(0, len(data), _CHUNK):
        page.work.check()
        text = decoder.decode(data[start : start + _CHUNK], start + _CHUNK >= len(data))
        invalid += text.count("\ufffd")
        parser.feed(text.encode("utf-8", "replace"))
        yield from target.taken()
    if data:
        parser.close()
    yield from target.taken()
    if invalid > 0:
        page.losses.count("characters", f"not valid {codec}", invalid)


class _MarkupTarget:
    """Receives the events of the parser."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._treatment = page.losses.vocabulary.treatment
        self._place = page.place
        self._paragraphs = page.place.paragraph or 0
        self._done: list[Block] = []
        self._text: list[str] = []
        self._skipped = 0
        """How many elements are open in one that is not read, with it."""
        self._skipped_as = ""
        self._kind = "p"
        self._lists: list[HtmlList] = []
        self._marker = ""
        self._verbatim = 0
        self._base = page.base
        self._spans: list[tuple[str | Marks, int]] = []
        """The links, by their addresses, and the marks that are open, with the piece of the text that they begin at."""
        self._deeper_spans = 0
        self._tables: list[HtmlTable] = []
        self._count = 0
        self._title = ""
        self._title_from = -1
        self._select: HtmlSelect | None = None
        self._drawing = 0
        self._reads_ruby = False
        self._formula: HtmlFormula | None = None

    def taken(self) -> list[Block]:
        done, self._done = self._done, []
        return done

    # Events of the parser.

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._skipped:
            self._skipped += 1
            return
        if self._formula is not None:
            self._formula.start(tag, attributes)
            return
        if self._drawing:
            self._drawing += 1
            tag = f"svg:{tag}"
        treatment, what = self._treatment(tag)
        hides = (bool(attributes) or tag == "dialog") and is_hidden(tag, attributes)
        if hides or treatment is Treatment.LOST or treatment is Treatment.LEFT_OUT:
            self._skip("hidden elements" if hides and treatment is not Treatment.LEFT_OUT else what, attributes)
            if treatment is Treatment.LEFT_OUT:
                self._skipped_as = ""
                if tag == "base":
                    self._base = urljoin(self._base, attributes.get("href", ""))
            if tag in _VOID:
                self._skipped = 0
            return
        if tag in _HEADINGS or tag in _BLOCKS:
            self._end_text()
        begin = self._starts.get(tag)
        if begin is not None:
            begin(self, tag, attributes)

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
            if not self._skipped:
                self._drawing = max(self._drawing - 1, 0)
            return
        if self._formula is not None:
            self._end_formula(self._formula.end(tag))
            return
        if self._drawing:
            self._drawing -= 1
            tag = f"svg:{tag}"
        if tag in _HEADINGS or tag in _BLOCKS:
            self._end_text()
        finish = self._ends.get(tag)
        if finish is not None:
            finish(self)

    def data(self, data: str) -> None:
        if self._skipped:
            if self._skipped_as and not data.isspace():
                self._lose(self._skipped_as)
                self._skipped_as = ""
        elif self._formula is not None:
            self._formula.data(data)
        elif self._select is not None:
            self._select.add(data)
        else:
            self._text.append(data if self._verbatim else _SPACES.sub(" ", data))

    def comment(self, data: str) -> None:
        """Leaves comments out."""

    def close(self) -> None:
        self._end_text()
        while self._tables:
            self._end_table()
        self._show_title("")

    # What is not read.

    def _skip(self, what: str, attributes: dict[str, str]) -> None:
        """Passes an element with all inside. `what` it is counted as, once if it shows a text, else not."""
        self._skipped, self._skipped_as = 1, what
        if what in _COUNTED_EMPTY:
            self._skipped_as = ""
            self._lose(what, attributes.get("src", attributes.get("data", ""))[:100])

    def _lose(self, what: str, where: str = "") -> None:
        self._page.losses.count(what, where or self._place.member or f"paragraph {self._paragraphs + 1}")

    # Text.

    def _end_text(self) -> None:
        for span, start in reversed(self._spans):  # a link may hold several paragraphs
            self._wrap(span, start)
        self._spans = [(span, 0) for span, _ in self._spans]
        raw = "".join(self._text).replace("\xad", "")
        self._text.clear()
        if self._verbatim and not self._tables:
            text = raw.strip("\n")
        else:
            text = "\n".join(filter(None, (" ".join(line.split()) for line in raw.split("\n"))))
        if not text.strip():
            return
        if self._tables:
            self._tables[-1].add(text)
        elif not _BOXES.fullmatch(text):  # a switch of the page, which no words are beside
            self._emit(text)

    def _emit(self, text: str) -> None:
        self._show_title(text)
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

    def _show_title(self, text: str) -> None:
        """Adds the title of the page before its first text, unless that is the title."""
        title, self._title = self._title, ""
        if title and title not in self._page.titles:
            self._page.titles.add(title)
            is_file_name = title == (self._place.member or "").rpartition("/")[2]
            if title.casefold() != text.casefold() and not is_file_name:
                self._done.append(MarkdownText(f"[title: {title}]", self._place))

    def _start_title(self, tag: str, attributes: dict[str, str]) -> None:
        self._end_text()

    def _end_title(self) -> None:
        self._title = " ".join("".join(self._text).split())
        self._text.clear()

    def _start_heading(self, tag: str, attributes: dict[str, str]) -> None:
        self._kind = tag

    def _end_heading(self) -> None:
        self._kind = "p"

    def _start_verbatim(self, tag: str, attributes: dict[str, str]) -> None:
        self._verbatim += 1

    def _end_verbatim(self) -> None:
        self._verbatim = max(0, self._verbatim - 1)

    def _start_break(self, tag: str, attributes: dict[str, str]) -> None:
        self._text.append("\n")

    def _start_quotation(self, tag: str, attributes: dict[str, str]) -> None:
        self._text.append("“")

    def _end_quotation(self) -> None:
        self._text.append("”")

    def _start_reading(self, tag: str, attributes: dict[str, str]) -> None:
        self._end_reading()
        self._reads_ruby = True
        self._text.append("(")

    def _end_reading(self) -> None:
        if self._reads_ruby:
            self._reads_ruby = False
            self._text.append(")")

    def _start_link(self, tag: str, attributes: dict[str, str]) -> None:
        kind = attributes.get("role") or attributes.get("epub:type") or ""
        self._start_span(Marks("sup") if kind in _NOTE_MARKS else attributes.get("href", ""))

    def _start_marks(self, tag: str, attributes: dict[str, str]) -> None:
        self._start_span(Marks(tag) if tag in ("sub", "sup") else Marks(is_struck=True))

    def _start_span(self, span: str | Marks) -> None:
        if len(self._spans) < _MAX_SPANS:
            self._spans.append((span, len(self._text)))
        else:
            self._deeper_spans += 1
            self._lose("links and marks inside too many others")

    def _end_span(self) -> None:
        if self._deeper_spans:
            self._deeper_spans -= 1
        elif self._spans:
            self._wrap(*self._spans.pop())

    def _wrap(self, span: str | Marks, start: int) -> None:
        text = "".join(self._text[start:])
        if isinstance(span, Marks):
            if (text.isascii() and "<sup>" not in text) or span != Marks("sup"):
                self._text[start:] = [marked(text, span)]
        elif (words := text.strip()) and (address := self._address(span)) and words != address:
            before, _, after = text.partition(words)
            self._text[start:] = [f"{before}[{words}]({address}){after}"]

    def _address(self, link: str) -> str:
        """Returns the address of a link that leaves the page; "" for others."""
        link = link.strip()
        if link.startswith(_LINKED):
            return link
        if not link or link.startswith("#") or _OTHER_SCHEME.match(link):
            return ""
        if self._base:
            return urljoin(self._base, link)
        return "" if self._place.member else link

    # Lists and tables.

    def _start_list(self, tag: str, attributes: dict[str, str]) -> None:
        self._lists.append(HtmlList(tag, attributes))

    def _end_list(self) -> None:
        if self._lists:
            self._lists.pop()

    def _start_item(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._lists:
            self._lists.append(HtmlList("ul", {}))
        self._marker = self._lists[-1].marker(attributes)

    def _start_table(self, tag: str, attributes: dict[str, str]) -> None:
        self._tables.append(HtmlTable())

    def _start_in_table(self, tag: str, attributes: dict[str, str]) -> None:
        if self._tables:
            self._tables[-1].start(tag, attributes)

    def _end_table(self) -> None:
        if not self._tables:
            return
        found = self._tables.pop()
        rows = [row for row in found.rows if any(row)]
        if self._tables:  # a table in a cell of another one, most often for layout
            lines = [found.caption, *(" ".join(filter(None, row)) for row in rows)]
            self._tables[-1].add("\n".join(filter(None, lines)))
            self._tables[-1].inside += found.inside
            return
        self._show_title("")
        if found.caption:
            self._done.append(MarkdownText(found.caption, self._next_place()))
        self._count += 1
        name = f"table {self._place.member} {self._count}"
        if max(map(len, rows), default=0) == 1:
            for row in rows:
                self._done.append(MarkdownText(row[0], self._next_place()))
        else:
            self._done += table(((row, self._next_place()) for row in rows), name)
        self._done += found.inside

    # Pictures, drawings, formulas and frames.

    def _start_picture(self, tag: str, attributes: dict[str, str]) -> None:
        address = attributes.get("src") or attributes.get("href") or attributes.get("xlink:href") or ""
        self._end_text()
        self._show_title("")
        place = replace(self._place, paragraph=self._paragraphs or None)
        block = self._page.picture(address, attributes.get("alt", ""), place)
        if block is not None:
            self._add_beside([block])

    def _add_beside(self, blocks: list[Block]) -> None:
        """Adds what cannot stand in a cell."""
        if self._tables:
            self._tables[-1].inside += blocks
        else:
            self._done += blocks

    def _start_area(self, tag: str, attributes: dict[str, str]) -> None:
        start = len(self._text)
        self._text.append(attributes.get("alt", ""))
        self._wrap(attributes.get("href", ""), start)
        self._text.append(" ")

    def _start_drawing(self, tag: str, attributes: dict[str, str]) -> None:
        self._drawing = 1
        if attributes.get("aria-hidden") != "true" and attributes.get("role") not in ("presentation", "none"):
            self._lose("drawings")
            self._text.append(attributes.get("aria-label", ""))

    def _start_moved_text(self, tag: str, attributes: dict[str, str]) -> None:
        if not attributes.keys().isdisjoint(("x", "y", "dx", "dy")):
            self._text.append(" ")

    def _start_frame(self, tag: str, attributes: dict[str, str]) -> None:
        inside = attributes.get("srcdoc", "")
        if not inside or self._page.depth >= _MAX_FRAMES:
            self._skip("frames", attributes)
            return
        self._end_text()
        place = replace(self._place, paragraph=self._paragraphs or None)
        frame = replace(self._page, place=place, depth=self._page.depth + 1, base=self._base)
        blocks = list(html_blocks(inside.encode("utf-8", "replace"), "utf-8", frame))
        paragraphs = (each.place.paragraph or 0 for each in blocks if isinstance(each, MarkdownText))
        self._paragraphs = max(self._paragraphs, *paragraphs, 0)
        self._add_beside(blocks)
        self._skip("", attributes)

    def _start_formula(self, tag: str, attributes: dict[str, str]) -> None:
        self._formula = HtmlFormula()
        self._formula.start(tag, attributes)

    def _end_formula(self, element: Element | None) -> None:
        if element is None or self._formula is None:
            return
        latex = latex_of_mathml(element)
        self._text.append(in_markdown(latex, is_block=element.get("display") == "block") or self._formula.text)
        self._formula = None
        if not latex:
            self._lose("formulas")

    # Fields of forms.

    def _start_input(self, tag: str, attributes: dict[str, str]) -> None:
        kind = attributes.get("type", "text").strip().lower()
        if kind == "checkbox":
            self._text.append(" [x] " if "checked" in attributes else " [ ] ")
        elif kind == "radio":
            self._text.append(" (x) " if "checked" in attributes else " ( ) ")
        elif kind == "image":
            self._start_picture(tag, attributes)
        elif kind not in ("hidden", "password", "file"):
            self._text.append(f" {_SPACES.sub(' ', attributes.get('value', ''))} ")

    def _start_select(self, tag: str, attributes: dict[str, str]) -> None:
        self._select = HtmlSelect(attributes)

    def _start_option(self, tag: str, attributes: dict[str, str]) -> None:
        if self._select is not None:
            self._select.start_option(attributes)

    def _end_select(self) -> None:
        if self._select is not None:
            self._text.append(f" {self._select.chosen()} ")
            self._select = None

    # What each tag begins and ends.

    _starts: ClassVar[dict[str, Callable[[_MarkupTarget, str, dict[str, str]], None]]] = {
        **dict.fromkeys(_HEADINGS, _start_heading),
        **dict.fromkeys(_VERBATIM, _start_verbatim),
        **dict.fromkeys(_LISTS, _start_list),
        **dict.fromkeys(("tr", "td", "th", "thead", "tbody", "tfoot"), _start_in_table),
        **dict.fromkeys(("img", "image", "svg:image"), _start_picture),
        **dict.fromkeys(("sub", "sup", "del", "s", "strike"), _start_marks),
        "title": _start_title,
        "svg:tspan": _start_moved_text,
        "li": _start_item,
        "br": _start_break,
        "q": _start_quotation,
        "rt": _start_reading,
        "a": _start_link,
        "svg:a": _start_link,
        "table": _start_table,
        "area": _start_area,
        "svg": _start_drawing,
        "math": _start_formula,
        "iframe": _start_frame,
        "input": _start_input,
        "select": _start_select,
        "option": _start_option,
    }
    _ends: ClassVar[dict[str, Callable[[_MarkupTarget], None]]] = {
        **dict.fromkeys(_HEADINGS, _end_heading),
        **dict.fromkeys(_VERBATIM, _end_verbatim),
        **dict.fromkeys(_LISTS, _end_list),
        **dict.fromkeys(("sub", "sup", "del", "s", "strike"), _end_span),
        "title": _end_title,
        "q": _end_quotation,
        "rt": _end_reading,
        "ruby": _end_reading,
        "a": _end_span,
        "svg:a": _end_span,
        "table": _end_table,
        "select": _end_select,
    }
