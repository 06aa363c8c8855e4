"""Decodes a `response` object to a reply."""

from __future__ import annotations

from collections.abc import Sequence

from abstractcore.schema import ModelReply, Part, ToolCall, WireResponse

from ...common.conversations import ReceivedIds, origin_of
from ...common.endpoints import RIGHT_ADDRESS
from ...common.openai_errors import error_in_answer, error_in_body
from ...common.reading import Object, as_object, objects_of, text_of
from ...common.response_bodies import fitting_reply, no_reply, read_body, states_error
from .client_tools import hosted_calls
from .items import read_item
from .vocabulary import finish_reason_to_ours, metadata_to_ours, usage_to_ours

_MARKS = frozenset({"output", "usage"})
"""Fields that only replies have."""


def decode(response: WireResponse, provider: str) -> ModelReply:
    """Returns the reply; raises `ServerError` for a body without one, or the error in it despite its status."""
    data = as_object(read_body(response, RIGHT_ADDRESS))
    check_failure(data)
    if not isinstance(data.get("output"), list):
        raise error_in_body(data) or no_reply(response, data, "output", _MARKS, RIGHT_ADDRESS)
    return fitting_reply(response, _reply, data, provider)


def check_failure(data: Object) -> None:
    """Raises the error of a failed response."""
    if states_error(data) or data.get("status") == "failed":
        raise error_in_answer(data)


def _reply(data: Object, provider: str) -> ModelReply:
    items, model = objects_of(data, "output"), text_of(data, "model")
    reason, raw = finish_reason_to_ours(data, items)
    return ModelReply(
        parts=_parts(items, provider, origin_of(provider, model), stored=is_stored(data)),
        finish_reason=reason,
        raw_finish_reason=raw,
        usage=usage_to_ours(data, items),
        model=model,
        provider=provider,
        id=text_of(data, "id"),
        provider_metadata=metadata_to_ours(data, items),
    )


def _parts(items: Sequence[Object], provider: str, origin: str | None, *, stored: bool) -> tuple[Part, ...]:
    ids, hosted = ReceivedIds(), hosted_calls(items)
    read = (
        (number, read_item(item, provider, origin, stored=stored, hosted=hosted)) for number, item in enumerate(items)
    )
    return tuple(
        ids.name(part, number) if isinstance(part, ToolCall) else part for number, parts in read for part in parts
    )


def is_stored(data: Object) -> bool:
    """Whether the provider may store a response, so that its items are referred to by their ids."""
    return data.get("store") is not False
