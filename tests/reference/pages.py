"""Pages of the reference in HTML: Markdown of docstrings, signatures whose names are links, an index by task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from markdown_it import MarkdownIt

from tests.reference.reading import Entry, Page
from tests.reference.rooms import TASKS, task_of
from tests.reference.words import WORDS

INDEX = "index.html"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { background: #f4f5f7; padding: .75rem 1rem; overflow-x: auto; border-radius: 6px; }
a { color: #0b57d0; text-decoration: none; } a:hover { text-decoration: underline; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; margin-bottom: .25rem; }
dt { font-weight: 400; margin-top: .5rem; } dd { margin-left: 1.5rem; } dd p { margin: .2rem 0; }
li { margin: .1rem 0; } nav { font-size: 14px; }
@media (prefers-color-scheme: dark) {
  body { background: #16181c; color: #e4e6eb; } pre { background: #22252b; } a { color: #8ab4f8; }
}
"""
_IDENTIFIER = re.compile(r"(?<![\w'\"])[A-Za-z_][A-Za-z_0-9]*(?![\w'\"])")
_IN_CODE = re.compile(r"<code>([A-Za-z_][\w.]*)(\(.*?\))?</code>")
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


class Links:
    """The file of each page, and what a name in the text of a page leads to."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._files: dict[str, str] = {}
        for page in pages:
            file = f"{page.full_name}.html"
            if file.lower() in {each.lower() for each in self._files.values()}:  # on disks that ignore case
                file = f"{page.full_name}-{page.kind.partition(' ')[0]}.html"
            self._files[page.full_name] = file
        self._by_name: dict[str, Page] = {}
        for page in pages:
            self._by_name.setdefault(page.name, page)
        self._by_room = {(page.room, page.name): page for page in pages}
        self.errors = [page.name for page in pages if page.is_error]
        self._members = {page: {each.name for each in (*page.fields, *page.methods, *page.keys)} for page in pages}

    def file(self, page: Page) -> str:
        return self._files[page.full_name]

    def target(self, name: str, on: Page) -> str | None:
        """Returns where a name leads: a member of this page, a page, or a member of another page."""
        first, _, rest = name.partition(".")
        if not rest and first in self._members[on]:
            return f"#{first}"
        page = self._by_room.get((on.room, first)) or self._by_name.get(first)
        if first == "llm":
            page = self._by_name["LLM"]
        if page is None or (page is on and not rest):
            return None
        if rest and rest not in self._members[page]:
            return None
        return f"{self.file(page)}{f'#{rest}' if rest else ''}"

    def code(self, text: str, on: Page) -> str:
        """Returns source code as HTML, with links of its names of classes and types."""

        def linked(found: re.Match[str]) -> str:
            page = self._by_room.get((on.room, found[0])) or self._by_name.get(found[0])
            if page is None or page is on or page.kind == "function":
                return found[0]
            return f'<a href="{self.file(page)}">{found[0]}</a>'

        return _IDENTIFIER.sub(linked, escape(text, quote=False))

    def prose(self, markdown: str, on: Page) -> str:
        """Returns a docstring as HTML, with links of the names in backticks."""

        def linked(found: re.Match[str]) -> str:
            target = self.target(found[1], on)
            return f'<a href="{target}">{found[0]}</a>' if target else found[0]

        return _IN_CODE.sub(linked, _MARKDOWN.render(markdown))


def described(entry: Entry, page: Page) -> Mapping[str, str]:
    """Returns descriptions of parameters that no docstring of the page names, as far as words have one meaning."""
    told = set(re.findall(r"\w+", f"{entry.text} {page.text}")) | {each.name for each in page.fields}
    for name in entry.named:
        told.update(*(re.findall(r"\w+", each.text) for each in page.methods if each.name == name))
    return {name: WORDS[name] for name in entry.parameters if name not in told and name in WORDS}


def errors(entry: Entry, links: Links) -> list[str]:
    """Returns the names of public errors in a docstring."""
    return [name for name in links.errors if name in entry.named]


def rendered(page: Page, links: Links) -> str:
    """Returns the page of a name."""
    return _document(page.full_name, "\n".join(_parts(page, links)))


def index(pages: Sequence[Page], links: Links) -> str:
    """Returns the index: a line for each name, by task."""
    lines = ["<h1>Reference</h1>", f"<p>{len(pages)} public names, each with a page, made of their docstrings.</p>"]
    by_task = {task: [page for page in pages if task_of(page.module) is task] for task in TASKS}
    contents = [f'<a href="#{_anchor(task.title)}">{escape(task.title)}</a>' for task in TASKS]
    lines.append(f"<nav>{' · '.join(contents)}</nav>")
    for task, members in by_task.items():
        lines.append(f'<h2 id="{_anchor(task.title)}">{escape(task.title)}</h2>\n<ul>')
        for page in sorted(members, key=lambda each: (each.room, each.name.lower())):
            shown = page.name if page.room == "abstractcore" else page.full_name
            first = _MARKDOWN.renderInline(page.first_sentence)
            lines.append(f'<li><a href="{links.file(page)}"><code>{shown}</code></a> {first}</li>')
        lines.append("</ul>")
    return _document("AbstractCore: reference", "\n".join(lines))


def _parts(page: Page, links: Links) -> Iterator[str]:
    yield f'<nav><a href="{INDEX}#{_anchor(task_of(page.module).title)}">{task_of(page.module).title}</a></nav>'
    yield f"<h1><code>{page.full_name}</code></h1>"
    yield f"<pre><code>from {page.room} import {page.name}</code></pre>"
    yield from _entry(page, page, links)
    bases = [base for base in page.bases if links.target(base, page)]
    if bases:
        shown = ", ".join(f'<a href="{links.target(base, page)}"><code>{base}</code></a>' for base in bases)
        yield f"<p>It also has the members of {shown}.</p>"
    for title, entries in (("Keyword arguments", page.keys), ("Fields", page.fields)):
        if entries:
            yield f"<h2>{title}</h2>\n<dl>"
            told = set(re.findall(r"\w+", page.text))
            for each in entries:
                text = each.text or ("" if each.name in told else WORDS.get(each.name, ""))
                yield f'<dt id="{each.name}"><code>{links.code(each.signature, page)}</code></dt>'
                yield f"<dd>{links.prose(text, page)}</dd>"
            yield "</dl>"
    if page.methods:
        yield "<h2>Methods</h2>"
        for each in page.methods:
            yield f'<h3 id="{each.name}"><code>{each.name}</code></h3>'
            yield from _entry(each, page, links)


def _entry(entry: Entry, page: Page, links: Links) -> Iterator[str]:
    yield f"<pre><code>{links.code(entry.signature, page)}</code></pre>"
    yield links.prose(entry.text, page)
    more = described(entry, page)
    if more:
        yield "<dl>"
        for name, text in more.items():
            yield f"<dt><code>{name}</code></dt><dd>{links.prose(text, page)}</dd>"
        yield "</dl>"
    options = links.target(entry.options.name, page) if entry.options else None
    if options:
        assert entry.options
        yield f'<p>Other keyword arguments: <a href="{options}"><code>{entry.options.name}</code></a>.</p>'
    raised = errors(entry, links)
    if raised:
        yield f"<p>Errors: {', '.join(links.prose(f'`{name}`', page)[3:-5] for name in raised)}.</p>"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w]+", "-", title.lower())


def _document(title: str, body: str) -> str:
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head><body>\n{body}\n</body></html>\n'
