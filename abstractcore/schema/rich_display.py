"""`RichDisplay`: HTML of answers, messages and media for notebooks.

Text of a model is escaped, which Markdown would not allow, and nothing is loaded from a network: a notebook runs
scripts in its outputs with the rights of its user.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from .base_error import SchemaError
from .reprs import short_repr

_MAX_EMBEDDED_BYTES = 4 * 1024 * 1024
_MAX_TEXT = 100_000
_EMBEDDED = {
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


class RichDisplay:
    """Base class of objects that Jupyter, IPython, VS Code and others show by `_repr_html_`
    (https://ipython.readthedocs.io/en/stable/config/integrating.html#rich-display)."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Returns HTML of the parts in order, with images, audio and video embedded."""
        parts: Iterable[Any] = getattr(self, "parts", (self,))
        return f"<div>{''.join(map(_part, parts))}</div>"


def small_print(*lines: str) -> str:
    """Returns the lines in small print."""
    return f"<small>{'<br>'.join(map(_escaped, lines))}</small>"


def _part(part: Any) -> str:
    kind = part.type
    if kind == "text":
        return _text(part.text)
    if kind == "reasoning":
        return f"<details><summary>Reasoning</summary>{_text(part.text)}</details>" if part.text else ""
    if kind == "tool_call":
        return f"<p><code>{_cut(part.name)}({_cut(part.arguments_text)})</code></p>"
    if kind == "tool_result":
        return "".join(map(_part, part.content))
    if kind == "hosted_tool_result" and (files := [each for each in part.content if hasattr(each, "blob")]):
        return "".join(map(_part, files))
    blob = getattr(part, "blob", None)
    return _media(blob) if blob is not None else f"<p><code>{_escaped(short_repr(part))}</code></p>"


def _text(text: str) -> str:
    return f'<div style="white-space: pre-wrap">{_cut(text)}</div>'


def _cut(text: str) -> str:
    rest = f"... [{len(text):,} characters]" if len(text) > _MAX_TEXT else ""
    return _escaped(text[:_MAX_TEXT] + rest)


def _media(blob: Any) -> str:
    element = _EMBEDDED.get(blob.media_type)
    data = _content(blob) if element is not None else None
    if data is None:
        return f"<p><code>{_escaped(repr(blob))}</code></p>"
    source = f"data:{blob.media_type};base64,{base64.b64encode(data).decode('ascii')}"
    if element == "img":
        return f'<img src="{source}" alt="{_escaped(blob.name or blob.media_type)}" style="max-width: 100%">'
    return f'<{element} controls src="{source}"></{element}>'


def _content(blob: Any) -> bytes | None:
    """Returns the content if it is in memory or in a file, and short enough."""
    if blob.form not in ("bytes", "file") or blob.size > _MAX_EMBEDDED_BYTES:
        return None
    try:
        return blob.read()
    except (OSError, SchemaError):
        return None


def _escaped(text: str) -> str:
    from html import escape  # here: it takes a millisecond to load, and few programs show anything

    return escape(text)
