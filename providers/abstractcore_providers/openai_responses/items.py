"""Items that a model gives, read as parts. What an item says beyond its part stands before it as an opaque one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from abstractcore.schema import OpaquePart, Part, TextPart, ToolCall

from ..json_reading import Object, as_objects, text_of
from .citations import read_annotations
from .hosted import HOSTED_TYPES, read_hosted
from .reasoning import read_reasoning

ITEM_FIELDS = "item_fields"
"""The kind of the opaque part that holds further fields of the item after it, such as a message's `phase`."""
_FIELDS = {
    "message": frozenset({"type", "id", "role", "status", "content"}),
    "function_call": frozenset({"type", "id", "call_id", "name", "arguments", "status"}),
}
FROM_USER = frozenset(
    {
        "apply_patch_call_output",
        "computer_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "mcp_approval_response",
    }
)
"""Types of items that answer the model. The schema has no part for them."""
_OWN = frozenset({*_FIELDS, *HOSTED_TYPES, *FROM_USER, "function_call_output", "reasoning", ITEM_FIELDS})


def read_item(item: Object, provider: str, origin: str | None, number: int) -> list[Part]:
    """The parts of an output item; `number` names a call that has no id."""
    kind = text_of(item, "type") or ""
    if kind == "reasoning":
        return read_reasoning(item, origin)
    if kind in HOSTED_TYPES:
        return read_hosted(item, provider)
    if kind not in _FIELDS:
        return [OpaquePart(provider, kind, item)]
    fields = read_fields(item, provider)
    before: list[Part] = [] if fields is None else [fields]
    return [*before, *(read_texts(item) if kind == "message" else [read_call(item, number)])]


def read_fields(item: Object, provider: str) -> OpaquePart | None:
    """What a message or a call says beyond its content; None if that is nothing."""
    known = _FIELDS.get(text_of(item, "type") or "")
    if known is None:
        return None
    fields = {name: value for name, value in item.items() if name not in known and value is not None}
    if fields.get("caller") == {"type": "direct"}:
        del fields["caller"]
    return OpaquePart(provider, ITEM_FIELDS, fields) if fields else None


def read_texts(item: Object) -> list[Part]:
    """The texts of a message, refusals among them."""
    return [
        TextPart(text_of(part, "text") or text_of(part, "refusal") or "", read_annotations(part.get("annotations")))
        for part in as_objects(item.get("content"))
    ]


def read_call(item: Object, number: int) -> ToolCall:
    """The tool call in an item."""
    id = text_of(item, "call_id") or text_of(item, "id") or f"call_{number}"
    return ToolCall(id, text_of(item, "name") or "", text_of(item, "arguments") or "")


def fields_for(part: OpaquePart, following: Part | None) -> Object | None:
    """The fields that `part` adds to the item of `following`; None if it adds none."""
    kind = {TextPart: "message", ToolCall: "function_call"}.get(cast(Any, type(following)))
    if kind is None or part.kind != ITEM_FIELDS or not isinstance(part.data, Mapping):
        return None
    fields = dict(part.data)
    return fields if read_fields({"type": kind, **fields}, part.provider) == part else None


def opaque_item(part: OpaquePart) -> Object | None:
    """The output item that `part` holds; None if it holds none, or one that has a part of its own."""
    if not isinstance(part.data, Mapping) or part.data.get("type") != part.kind or part.kind in _OWN:
        return None
    return dict(part.data)


def item_from_user(part: OpaquePart) -> Object | None:
    """The item with which the user answers the model; None if `part` holds none."""
    if not isinstance(part.data, Mapping) or part.data.get("type") != part.kind or part.kind not in FROM_USER:
        return None
    return dict(part.data)
