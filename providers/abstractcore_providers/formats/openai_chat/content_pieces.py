"""A reply's content: a text or, where reasoning is part of it, a list of typed items (Mistral) or texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ...common.reading import Object, note_unread, objects_of, text_of


def content_pieces(message: Object) -> Iterator[tuple[str, str]]:
    """Yields reasoning and text of each item of a message's content, one of which is empty."""
    content = message.get("content")
    for piece in cast("list[Any]", content) if isinstance(content, list) else [content]:
        if isinstance(piece, str):
            yield "", piece
        elif isinstance(piece, dict):
            yield _piece(cast(Object, piece))
        elif piece is not None:
            note_unread("content", "a text", piece)


def _piece(piece: Object) -> tuple[str, str]:
    if text_of(piece, "type") == "thinking":
        return thought_of(piece), ""
    text = text_of(piece, "text")
    if text is None:
        note_unread("content", "a text", piece)
    return "", text or ""


def thought_of(piece: Object) -> str:
    """Returns the text of a reasoning item."""
    return "".join(text_of(part, "text") or "" for part in objects_of(piece, "thinking"))
