"""A reply's content: a text or, where reasoning is part of it, a list of typed items (Mistral)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...common.json_reading import Object, as_objects, text_of


def content_pieces(content: Any) -> Iterator[tuple[str, str]]:
    """Yields reasoning and text of each item, one of which is empty."""
    if isinstance(content, str):
        yield "", content
    for piece in as_objects(content):
        if piece.get("type") == "thinking":
            yield thought_of(piece), ""
        else:
            yield "", text_of(piece, "text") or ""


def thought_of(piece: Object) -> str:
    """Returns the text of a reasoning item."""
    return "".join(text_of(part, "text") or "" for part in as_objects(piece.get("thinking")))
