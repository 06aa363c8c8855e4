"""From a `chat.completion` object to a reply."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from abstractcore.errors import ServerError
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
    ToolCall,
    WireResponse,
)

from ..json_reading import Object, as_object, as_objects, count_of, read_json, text_of
from .vocabulary import finish_reason_to_ours, unmodelled, usage_to_ours


def decode(response: WireResponse, provider: str) -> ModelReply:
    """The reply; raises `ServerError` for a body that holds none."""
    try:
        data = as_object(read_json(response.body))
    except ValueError:
        raise ServerError(
            f"the answer is not JSON: it begins with {response.body[:60]!r}",
            status=response.status,
            hint="Does base_url point at the API, with its /v1?",
        ) from None
    choices = as_objects(data.get("choices"))
    if not choices:
        raise ServerError("the answer holds no choices", status=response.status)
    choice = choices[0]
    message = as_object(choice.get("message"))
    raw = text_of(choice, "finish_reason")
    model = text_of(data, "model")
    metadata = unmodelled(data)
    if choice.get("logprobs") is not None:
        metadata["logprobs"] = choice["logprobs"]
    return ModelReply(
        parts=_parts(message, f"{provider}/{model}"),
        finish_reason=_finish_reason(message, raw),
        raw_finish_reason=raw,
        usage=usage_to_ours(as_object(data.get("usage"))),
        model=model,
        provider=provider,
        id=text_of(data, "id"),
        warnings=_extra_choices(len(choices)),
        provider_metadata=metadata,
    )


def _finish_reason(message: Object, raw: str | None) -> FinishReason:
    return "refusal" if text_of(message, "refusal") else finish_reason_to_ours(raw)


def _extra_choices(count: int) -> tuple[CallWarning, ...]:
    if count == 1:
        return ()
    return (CallWarning("extra_choices", "choices", f"{count} choices came; the first is the reply", count, 1),)


def _parts(message: Object, origin: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    reasoning = text_of(message, "reasoning_content") or text_of(message, "reasoning")
    if reasoning:
        parts.append(ReasoningPart(reasoning, origin=origin))
    text = _text(message.get("content")) or text_of(message, "refusal")
    if text:
        parts.append(TextPart(text, _citations(message)))
    if isinstance(message.get("audio"), dict):
        parts.append(_audio(as_object(message["audio"])))
    for index, call in enumerate(as_objects(message.get("tool_calls"))):
        function = as_object(call.get("function"))
        parts.append(
            ToolCall(
                text_of(call, "id") or f"call_{index}",
                text_of(function, "name") or "",
                text_of(function, "arguments") or "",
            )
        )
    return tuple(parts)


def _text(content: Any) -> str | None:
    if isinstance(content, str):
        return content
    return "".join(text_of(part, "text") or "" for part in as_objects(content))


def _citations(message: Object) -> tuple[Citation, ...]:
    cited = [as_object(note.get("url_citation")) for note in as_objects(message.get("annotations"))]
    return tuple(
        Citation(
            source=text_of(citation, "url") or "",
            title=text_of(citation, "title"),
            start=count_of(citation, "start_index"),
            end=count_of(citation, "end_index"),
        )
        for citation in cited
        if citation
    )


def _audio(audio: Object) -> AudioPart:
    try:
        data = base64.b64decode(text_of(audio, "data") or "", validate=True)
    except binascii.Error:
        raise ServerError("the audio in the answer is not base64") from None
    return AudioPart(Blob.from_bytes(data, "audio/wav"), text_of(audio, "transcript"), text_of(audio, "id"))
