"""Decodes an unstreamed answer to a reply."""

from __future__ import annotations

from abstractcore.schema import NO_OPTIONS, ModelReply, Part, ProviderOptions, ReasoningPart, TextPart, WireResponse

from ...common.call_options import read_options
from ...common.conversations import ReceivedIds, origin_of
from ...common.function_tools import decode_function_call
from ...common.reading import Object, as_object, object_of, objects_of, text_of
from ...common.response_bodies import calls_tools, fitting_reply, no_reply, read_body, states_error
from .answers import citation_to_ours, citations_of
from .errors import FAILED, RIGHT_ADDRESS, error_in_body
from .vocabulary import CALL_FIELDS, FINISH_REASONS, PROVIDER, TEXT_FIELDS, metadata_to_ours, usage_to_ours

_MARKS = frozenset({"finish_reason", "usage"})
"""Fields that only replies have."""


def decode(response: WireResponse, model: str | None) -> ModelReply:
    """Returns the reply, of `model` unless it names another.

    Raises `ServerError` for a body without one, or the error that it contains despite its status.
    """
    data = as_object(read_body(response, RIGHT_ADDRESS))
    if states_error(data) or text_of(data, "finish_reason") in FAILED or not isinstance(data.get("message"), dict):
        raise error_in_body(data) or no_reply(response, data, "message", _MARKS, RIGHT_ADDRESS)
    return fitting_reply(response, _reply, data, model)


def _reply(data: Object, model: str | None) -> ModelReply:
    raw, model = text_of(data, "finish_reason"), text_of(data, "model") or model
    parts = _parts(object_of(data, "message"), origin_of(PROVIDER, model))
    return ModelReply(
        parts=parts,
        finish_reason=FINISH_REASONS.read(raw, calls=calls_tools(parts)),
        raw_finish_reason=raw,
        usage=usage_to_ours(data),
        model=model,
        provider=PROVIDER,
        id=text_of(data, "id"),
        provider_metadata=metadata_to_ours(data),
    )


def _parts(message: Object, origin: str | None) -> tuple[Part, ...]:
    plan, cited = citations_of(message)
    parts: list[Part] = []
    for index, block in enumerate(objects_of(message, "content")):
        thinking = text_of(block, "thinking")
        if thinking is not None:
            parts.append(ReasoningPart(thinking, origin=origin))
        else:
            options = read_options(block, TEXT_FIELDS, PROVIDER)
            parts.append(_text(text_of(block, "text"), cited.get(index, []), options))
    parts.append(_text(text_of(message, "tool_plan"), plan))
    ids = ReceivedIds()
    for index, call in enumerate(objects_of(message, "tool_calls")):
        parts.append(ids.name(decode_function_call(call, CALL_FIELDS, PROVIDER), index))
    return tuple(parts)


def _text(text: str | None, citations: list[Object], options: ProviderOptions = NO_OPTIONS) -> TextPart:
    cited = tuple(citation_to_ours(citation) for citation in citations)
    return TextPart(text or "", cited, provider_options=options if text else NO_OPTIONS)
