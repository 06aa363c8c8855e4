"""The text of OpenDocument paragraphs, and the frames in them, in order."""

from __future__ import annotations

from xml.etree.ElementTree import Element

_FRAMES = frozenset({"frame", "custom-shape", "text-box", "rect", "ellipse", "line", "g"})
_SKIPPED = frozenset({"bookmark", "change", "soft-page-break", "sequence-decls", "tracked-changes"})


def pieces_of(paragraph: Element) -> list[str | Element]:
    """Returns texts, and the frames between them."""
    found: list[str | Element] = []
    _walk(paragraph, found)
    return found


def text_of(paragraph: Element) -> str:
    """Returns the text without frames."""
    return "".join(piece for piece in pieces_of(paragraph) if isinstance(piece, str)).strip()


def texts_of(element: Element) -> str:
    """Returns the texts of all paragraphs inside, a line each."""
    lines = (text_of(each) for each in element.iter() if each.tag in ("p", "h"))
    return "\n".join(filter(None, lines))


def _walk(element: Element, found: list[str | Element]) -> None:
    _add(found, element.text)
    for child in element:
        tag = child.tag
        if tag == "s":
            count = child.get("c", "1")
            _add(found, " " * (min(int(count), 100) if count.isdecimal() else 1))
        elif tag == "tab":
            _add(found, "\t")
        elif tag == "line-break":
            _add(found, "\n")
        elif tag == "note":
            body = child.find("note-body")
            _add(found, f" [note: {' '.join(texts_of(body).split())}]" if body is not None else "")
        elif tag == "annotation":
            _add(found, _comment(child))
        elif tag == "a" and "://" in child.get("href", ""):
            _add(found, "[")
            _walk(child, found)
            _add(found, f"]({child.get('href')})")
        elif tag in _FRAMES:
            found.append(child)
        elif tag not in _SKIPPED:
            _walk(child, found)
        _add(found, child.tail)


def _comment(annotation: Element) -> str:
    author = annotation.findtext("creator") or "unknown"
    return f" [comment by {author}: {' '.join(texts_of(annotation).split())}] "


def _add(found: list[str | Element], text: str | None) -> None:
    if not text:
        return
    if found and isinstance(last := found[-1], str):
        found[-1] = last + text
    else:
        found.append(text)
