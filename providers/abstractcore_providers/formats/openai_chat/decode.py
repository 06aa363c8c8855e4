"""Decodes a `chat.completion` object to a reply."""

from __future__ import annotations

import base64

from abstractcore.errors import ProviderError, ServerError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CallWarning,
    Citation,
    FinishReason,
    ModelReply,
    Part,
    ReasoningPart,
    TextPart,
    WireResponse,
)

from ...common.conversations import ReceivedIds, origin_of
from ...common.endpoints import RIGHT_ADDRESS
from ...common.reading import Object, as_object, as_objects, object_of, objects_of, text_of
from ...common.response_bodies import NO_ERROR, fitting_reply, no_reply, read_body, states_error
from .content import REPLY_AUDIO_TYPE
from .content_pieces import content_pieces
from .dialect import PIECES, TAGS, ChatDialect
from .reasoning_details import details_in, read_detail
from .reasoning_fields import signature_for
from .think_tags import is_separated, split_thought
from .tool_calls import calls_of, decode_call
from .usage import usage_to_ours
from .vocabulary import (
    FINISH_REASONS,
    citations_to_ours,
    metadata_to_ours,
    reasoning_of,
    sources_to_ours,
)

_MARKS = frozenset({"choices", "usage"})
"""Fields that only replies have."""


def decode(response: WireResponse, dialect: ChatDialect) -> ModelReply:
    """Returns the reply in a `chat.completion` object.

    Raises `ServerError` for a body without one, or the error in it despite its status.
    """
    data = as_object(read_body(response, RIGHT_ADDRESS))
    choices = as_objects(data.get("choices"))
    if states_error(data) or not choices:
        raise _error(response, data)
    reply = fitting_reply(response, _reply, data, dialect)
    if choices[0].get("error") not in NO_ERROR:
        error = _error(response, choices[0])
        error.partial = reply
        raise error
    return reply


def _error(response: WireResponse, data: Object) -> ProviderError:
    from ...common.openai_errors import error_in_body

    return error_in_body(data) or no_reply(response, data, "choices", _MARKS, RIGHT_ADDRESS)


def _reply(data: Object, dialect: ChatDialect) -> ModelReply:
    choices = objects_of(data, "choices")
    choice = choices[0]
    message = object_of(choice, "message")
    raw = text_of(choice, "finish_reason")
    model = text_of(data, "model")
    metadata = metadata_to_ours(data, dialect.billing)
    if isinstance(choice.get("logprobs"), dict):
        metadata["logprobs"] = choice["logprobs"]
    return ModelReply(
        parts=_parts(message, _citations(message, data, dialect), origin_of(dialect.provider, model), dialect),
        finish_reason=_finish_reason(message, raw),
        raw_finish_reason=raw,
        usage=usage_to_ours(data, dialect.billing),
        model=model,
        provider=dialect.provider,
        id=text_of(data, "id"),
        warnings=_extra_choices(len(choices)),
        provider_metadata=metadata,
    )


def _finish_reason(message: Object, raw: str | None) -> FinishReason:
    if text_of(message, "refusal"):
        return "refusal"
    return FINISH_REASONS.read(raw, calls=bool(calls_of(message)))


def _extra_choices(count: int) -> tuple[CallWarning, ...]:
    if count == 1:
        return ()
    return (CallWarning("extra_choices", "choices", f"{count} choices received; the first is the reply", count, 1),)


def _citations(message: Object, data: Object, dialect: ChatDialect) -> tuple[Citation, ...]:
    if dialect.search_results and message.get("annotations") is None:
        return sources_to_ours(data)
    return citations_to_ours(message)


def _parts(
    message: Object, citations: tuple[Citation, ...], origin: str | None, dialect: ChatDialect
) -> tuple[Part, ...]:
    parts: list[Part] = []
    details = details_in(message, dialect)
    parts += [read_detail(detail, origin) for detail in details]
    pieces = list(content_pieces(message))
    thought, text = "", "".join(text for _, text in pieces)
    if dialect.think_tags and not is_separated(message):
        thought, text = split_thought(text)
    reasoning, field = ("", None) if details else reasoning_of(message)
    for more, place in (("".join(thought for thought, _ in pieces), PIECES), (thought, TAGS)):
        reasoning, field = reasoning + more, field or (place if more else None)
    if reasoning:
        parts.append(ReasoningPart(reasoning, signature_for(field, dialect), origin=origin))
    text += text_of(message, "refusal") or ""
    if text:
        parts.append(TextPart(text, citations))
    audio = object_of(message, "audio")
    if audio:
        parts.append(_audio(audio))
    ids = ReceivedIds()
    for index, call in enumerate(calls_of(message)):
        parts.append(ids.name(decode_call(call, dialect.provider), index))
    return tuple(parts)


def _audio(audio: Object) -> AudioPart:
    data = audio_bytes(text_of(audio, "data") or "")
    return AudioPart(Blob.from_bytes(data, REPLY_AUDIO_TYPE), text_of(audio, "transcript"), text_of(audio, "id"))


def audio_bytes(text: str) -> bytes:
    """Reads audio; raises `ServerError` if it is not base64."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise ServerError("the audio in the response is not base64") from None
