"""Reasoning items and our reasoning parts, both ways.

An item with several summaries is as many parts, all with the item's id as signature; the last holds what is encrypted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import cast

from abstractcore.schema import Part, ReasoningPart

from ..json_reading import Object, as_objects, text_of

_OURS = re.compile(r"rs_\d{1,9}")
"""Ids that our own server makes up for clients; OpenAI's are longer."""
_PACKED = "abstractcore:"


def item_id(item: Object) -> str | None:
    """The vendor's id of an item; None for one that our server made up."""
    id = text_of(item, "id")
    return None if id is None or _OURS.fullmatch(id) else id or None


def read_reasoning(item: Object, origin: str | None) -> list[Part]:
    """The parts of a reasoning item: at least one."""
    signature, redacted = sealed(item)
    texts = [text_of(entry, "text") or "" for name in ("summary", "content") for entry in as_objects(item.get(name))]
    parts: list[Part] = [ReasoningPart(text, signature, None, origin) for text in texts[:-1]]
    return [*parts, ReasoningPart(texts[-1] if texts else "", signature, redacted, origin)]


def sealed(item: Object) -> tuple[str | None, str | None]:
    """The signature and the redacted data of an item."""
    encrypted = text_of(item, "encrypted_content")
    if encrypted is not None and encrypted.startswith(_PACKED):
        unpacked = _unpacked(encrypted.removeprefix(_PACKED))
        if unpacked is not None:
            return unpacked
    return item_id(item), encrypted or None


def _unpacked(text: str) -> tuple[str | None, str | None] | None:
    try:
        signature, redacted = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    good = all(value is None or isinstance(value, str) for value in (signature, redacted))
    return cast("tuple[str | None, str | None]", (signature, redacted)) if good else None


def render_reasoning(part: ReasoningPart, id: str) -> Object:
    """The item for a client of our server; what the vendor signed goes with it, for the client to send back."""
    item: Object = {"type": "reasoning", "id": id, "summary": _summary([part])}
    encrypted = part.redacted_data
    if part.signature is not None or (encrypted or "").startswith(_PACKED):
        encrypted = _PACKED + json.dumps([part.signature, part.redacted_data])
    return item if encrypted is None else {**item, "encrypted_content": encrypted}


def write_reasoning(parts: Sequence[ReasoningPart]) -> Object:
    """The item that `parts` came from, as `runs` found them."""
    item: Object = {"type": "reasoning", "summary": _summary(parts)}
    if parts[0].signature is not None:
        item["id"] = parts[0].signature
    if parts[-1].redacted_data is not None:
        item["encrypted_content"] = parts[-1].redacted_data
    return item


def _summary(parts: Sequence[ReasoningPart]) -> list[Object]:
    texts = [part.text for part in parts]
    return [] if texts == [""] else [{"type": "summary_text", "text": text} for text in texts]


def run_length(parts: Sequence[Part], start: int) -> int:
    """How many of `parts`, from the reasoning at `start` on, came from one item."""
    length = 1
    for before, part in pairwise(islice(parts, start, None)):
        if not isinstance(before, ReasoningPart) or not isinstance(part, ReasoningPart):
            break
        if before.signature is None or before.signature != part.signature or before.redacted_data is not None:
            break
        length += 1
    return length
