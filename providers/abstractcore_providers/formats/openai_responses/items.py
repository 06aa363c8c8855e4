"""Reads the items of a model as parts. Other fields of a message or a call are options of the part."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import cast

from abstractcore.schema import NO_OPTIONS, OpaquePart, Part, ProviderOptions, TextPart, ToolCall

from ...common.call_options import read_options
from ...common.conversations import received_arguments
from ...common.reading import Object, objects_of, text_of
from .citations import read_annotations
from .client_tools import OUTPUTS, called_tool, hosted_calls, hosted_output, read_client_call
from .hosted import HOSTED_TYPES, read_hosted
from .reasoning import item_id, read_reasoning

_MESSAGE_FIELDS = frozenset({"type", "role", "status", "content"})
_CALL_FIELDS = frozenset({"type", "call_id", "name", "arguments", "status"})
_SCREENSHOT = "computer_call_output"
_FROM_USER = frozenset(OUTPUTS) - {_SCREENSHOT}
"""Types of items that answer the model, in a conversation that the provider stores."""
_OWN = frozenset({*HOSTED_TYPES, _SCREENSHOT, "message", "function_call", "function_call_output", "reasoning"})


def read_item(
    item: Object, provider: str, origin: str | None, *, stored: bool, hosted: Container[str] = ()
) -> list[Part]:
    """Returns the parts of an output item; a call has the vendor's id, or none.

    A `stored` item is referred to by its id. `hosted` are the ids of calls that the provider ran (`hosted_calls`).
    """
    kind = text_of(item, "type") or ""
    if kind == "reasoning":
        return read_reasoning(item, origin)
    if kind in HOSTED_TYPES:
        return read_hosted(item, provider)
    if kind not in ("message", "function_call"):
        call = read_client_call(item, provider, stored=stored, hosted=hosted)
        return [OpaquePart(provider, kind, item) if call is None else call]
    options = item_options(item, provider, stored=stored)
    return [*read_texts(item, options)] if kind == "message" else [read_call(item, options)]


def item_options(item: Object, provider: str, *, stored: bool) -> ProviderOptions:
    """Returns the options of a message or a call: its phase, and its id if the provider stores it."""
    known = _MESSAGE_FIELDS if item.get("type") == "message" else _CALL_FIELDS
    ignored = {"id"} if not stored or item_id(item) is None else set[str]()
    if item.get("caller") == {"type": "direct"}:
        ignored.add("caller")
    return read_options(item, known | ignored, provider)


def modelled_fields(part: TextPart | ToolCall, provider: str) -> frozenset[str]:
    """Returns the fields of a part's item that the schema models."""
    if isinstance(part, TextPart):
        return _MESSAGE_FIELDS
    return _CALL_FIELDS if called_tool(part, provider) is None else frozenset()


def read_texts(item: Object, options: ProviderOptions = NO_OPTIONS) -> list[TextPart]:
    """Returns the texts of a message that are not empty, including refusals."""
    texts = [
        (text_of(part, "text") or text_of(part, "refusal"), objects_of(part, "annotations"))
        for part in objects_of(item, "content")
    ]
    return [TextPart(text, read_annotations(notes), provider_options=options) for text, notes in texts if text]


def read_call(item: Object, options: ProviderOptions = NO_OPTIONS) -> ToolCall:
    """Reads the tool call in an item, with the vendor's id, which may be empty."""
    id = text_of(item, "call_id") or text_of(item, "id") or ""
    arguments = received_arguments(item.get("arguments"))
    return ToolCall(id, text_of(item, "name") or "", arguments, provider_options=options)


def opaque_item(part: OpaquePart, hosted: Container[str] = ()) -> Object | None:
    """Returns the output item that `part` contains; None if there is none, or one that the schema models.

    `hosted` are the ids of the calls that the provider ran (`hosted_calls_of`).
    """
    item = _item_in(part)
    if item is None or part.kind in _OWN or answers_model(item):
        return None
    call = read_client_call(item, part.provider, stored=True, hosted=hosted)
    return item if call is None else None


def hosted_calls_of(parts: Iterable[Part]) -> frozenset[str]:
    """Returns the ids of the shell calls among an assistant's parts that the provider ran."""
    items = (_item_in(part) for part in parts if isinstance(part, OpaquePart))
    return hosted_calls(item for item in items if item is not None)


def item_from_user(part: OpaquePart) -> Object | None:
    """Returns the item with which the user answers the model; None if `part` has none."""
    item = _item_in(part)
    return item if item is not None and answers_model(item) else None


def answers_model(item: Object) -> bool:
    """Whether an item is the user's answer to a call, not the provider's own."""
    return item.get("type") in _FROM_USER and hosted_output(item) is None and item.get("execution") != "server"


def _item_in(part: OpaquePart) -> Object | None:
    if not isinstance(part.data, Mapping) or part.data.get("type") != part.kind:
        return None
    return cast(Object, dict(part.data))
