"""A reply's content, which is a text, or a list of typed pieces where reasoning is one of them (Mistral)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...common.json_reading import Object, as_objects, text_of


def content_pieces(content: Any) -> Iterator[tuple[str, str]]:
    """Reasoning and text of each piece, of which one is empty."""
    if isinstance(content, str):
        yield "", content
    for piece in as_objects(content):
        if piece.get("type") == "thinking":
            yield thought_of(piece), ""
        else:
            yield "", text_of(piece, "text") or ""


def thought_of(piece: Object) -> str:
    """The text of a piece that is reasoning."""
    return "".join(text_of(part, "text") or "" for part in as_objects(piece.get("thinking")))
