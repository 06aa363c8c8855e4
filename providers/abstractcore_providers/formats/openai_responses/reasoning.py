"""Reasoning items, and reasoning parts of the schema, converted both ways.

An item with several summaries is as many parts, all with the item's id as signature; the last has the encrypted
content. Raw reasoning, which servers of open models send as the item's content, has a mark after the id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import cast

from abstractcore.schema import Part, ReasoningPart

from ...common.reading import Object, objects_of, text_of

_OURS = re.compile(r"(rs|msg|fc|sh|apc|ctc|tsc)_\d{1,9}")
"""Generated ids; OpenAI's are longer."""
_RAW = "/content"
KINDS = ("summary", "content")
"""The fields of an item with reasoning, in their order."""
_PACKED = "abstractcore:"


def item_id(item: Object) -> str | None:
    """Returns the vendor's id of an item; None for a generated one."""
    id = text_of(item, "id")
    return None if id is None or _OURS.fullmatch(id) else id or None


def read_reasoning(item: Object, origin: str | None) -> list[Part]:
    """Returns the parts of a reasoning item: at least one."""
    signature, redacted = signature_and_redacted(item)
    *some, last = [
        ReasoningPart(text_of(entry, "text") or "", signature_of(kind, signature), None, origin)
        for kind in KINDS
        for entry in objects_of(item, kind)
    ] or [ReasoningPart("", signature, None, origin)]
    return [*some, replace(last, redacted_data=redacted)]


def signature_of(kind: str, id: str | None) -> str | None:
    """Returns the mark of a part of the item `id` as one of its summaries or contents."""
    return id if kind == "summary" else f"{id or ''}{_RAW}"


def is_raw(part: ReasoningPart) -> bool:
    """Whether it is content of its item, not a summary."""
    return (part.signature or "").endswith(_RAW)


def _id_of(part: ReasoningPart) -> str | None:
    return part.signature and part.signature.removesuffix(_RAW)


def signature_and_redacted(item: Object) -> tuple[str | None, str | None]:
    """Returns the signature and the redacted data of an item."""
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
    """Returns the item for a client of our server; it includes the vendor's signature, for the client to send back."""
    item: Object = {"type": "reasoning", "id": id, "summary": _summary([part])}
    encrypted = part.redacted_data
    if part.signature is not None or (encrypted or "").startswith(_PACKED):
        encrypted = _PACKED + json.dumps([part.signature, part.redacted_data])
    return item if encrypted is None else {**item, "encrypted_content": encrypted}


def write_reasoning(parts: Sequence[ReasoningPart], id: str) -> Object:
    """Returns the item of `parts`, as `run_length` found them; one without an id gets `id`."""
    item: Object = {"type": "reasoning", "id": _id_of(parts[0]) or id}
    item["summary"] = _summary([part for part in parts if not is_raw(part)])
    content = [{"type": "reasoning_text", "text": part.text} for part in parts if is_raw(part)]
    if content:
        item["content"] = content
    if parts[-1].redacted_data is not None:
        item["encrypted_content"] = parts[-1].redacted_data
    return item


def _summary(parts: Sequence[ReasoningPart]) -> list[Object]:
    texts = [part.text for part in parts]
    return [] if texts == [""] else [{"type": "summary_text", "text": text} for text in texts]


def run_length(parts: Sequence[Part], start: int) -> int:
    """Returns how many of `parts`, from `start` on, are of one item: its summaries, then its contents."""
    length = 1
    for before, part in pairwise(islice(parts, start, None)):
        if not isinstance(before, ReasoningPart) or not isinstance(part, ReasoningPart):
            break
        if before.signature is None or _id_of(before) != _id_of(part) or before.redacted_data is not None:
            break
        if is_raw(before) and not is_raw(part):
            break
        length += 1
    return length
