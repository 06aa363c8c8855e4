"""Labels and delimits converted content, so that no text in it can look like one of the delimiters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..schema import ContentPart, MediaSent, TextPart

_TAG = "untrusted-file"
_BEGINS = r"<\uff1c\ufe64"
_BETWEEN = rf"[^\w>{_BEGINS}]*+"
"""What a model may read over between the letters of a tag: spaces, ends of lines, hyphens, invisible characters."""


def _name_pattern() -> str:
    """Returns a pattern of the name of a tag; at the end of a text also a part of it, since a text may follow."""
    rest = ""
    for letter in reversed(_TAG.replace("-", "")):
        rest = rf"{_BETWEEN}(?:{letter}{rest}|\Z)"
    return rest


_TAGS = re.compile(rf"[{_BEGINS}](?={_name_pattern()})", re.IGNORECASE)


_SEVERAL = "multipart/mixed"


def as_untrusted(source: str, label: str, content: Sequence[ContentPart]) -> tuple[ContentPart, ...]:
    """Returns the content of the file `source` between an opening and a closing tag; the last part is text."""
    parts: list[ContentPart] = []
    text = f'<{_TAG} name="{_escape(source)}" content="{_escape(label)}">\n'
    for part in content or (TextPart(""),):
        if isinstance(part, TextPart):
            text += _TAGS.sub(r"\g<0>\\", part.text.strip()) + "\n"
        else:
            parts += [TextPart(text), replace(part, cache=None)] if text else [replace(part, cache=None)]
            text = ""
    return (*parts, TextPart(f"{text}</{_TAG}>\n"))


def _escape(value: str) -> str:
    return " ".join(value.split()).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


def sent_parts(parts: Sequence[ContentPart], content: Sequence[ContentPart]) -> MediaSent:
    """Returns the report of `parts`, the `content` of a file with labels and delimiters."""
    reports = tuple(map(_report, content))
    if all(isinstance(part, TextPart) for part in content):
        size = sum(map(_size, parts))
        return MediaSent("text/plain", size, "".join(report.text or "" for report in reports))
    if len(reports) == 1:
        return reports[0]
    sizes = [_size(part) for part in parts]
    return MediaSent(_SEVERAL, sum(sizes), parts=reports)


def _report(part: ContentPart) -> MediaSent:
    if isinstance(part, TextPart):
        return MediaSent("text/plain", _size(part), part.text)
    return MediaSent(part.blob.media_type, part.blob.size)


def _size(part: ContentPart) -> int:
    return len(part.text.encode()) if isinstance(part, TextPart) else part.blob.size or 0
