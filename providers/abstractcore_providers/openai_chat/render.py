"""From a reply to a `chat.completion` object (server side)."""

from __future__ import annotations

import base64

from pydantic_core import to_json

from abstractcore.schema import AudioPart, CallWarning, ModelReply, ReasoningPart, Rendered, TextPart, ToolCall

from ..json_reading import Object
from .vocabulary import finish_reason_to_theirs, usage_to_theirs


def render(reply: ModelReply) -> Rendered:
    """The body, with a warning for each part the format has no place for."""
    warnings: list[CallWarning] = []
    metadata = dict(reply.provider_metadata)
    choice: Object = {
        "index": 0,
        "message": _message(reply, warnings),
        "finish_reason": finish_reason_to_theirs(reply.finish_reason),
        "logprobs": metadata.pop("logprobs", None),
    }
    body: Object = {
        "id": reply.id or "",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model or "",
        "choices": [choice],
        **metadata,
    }
    usage = usage_to_theirs(reply.usage)
    if usage is not None:
        body["usage"] = usage
    return Rendered(to_json(body), tuple(warnings))


def _message(reply: ModelReply, warnings: list[CallWarning]) -> Object:
    message: Object = {"role": "assistant", "content": None, "refusal": None}
    texts: list[str] = []
    calls: list[Object] = []
    for index, part in enumerate(reply.parts):
        if isinstance(part, TextPart):
            texts.append(part.text)
            message.setdefault("annotations", []).extend(_annotations(part))
        elif isinstance(part, ReasoningPart) and part.text:
            message["reasoning_content"] = message.get("reasoning_content", "") + part.text
        elif isinstance(part, ToolCall):
            function = {"name": part.name, "arguments": part.arguments_text}
            calls.append({"id": part.id, "type": "function", "function": function})
        elif isinstance(part, AudioPart):
            message["audio"] = _audio(part)
        else:
            warning = f"the chat completions format has no place for {part.type} parts"
            warnings.append(CallWarning("part_left_out", f"parts[{index}]", warning))
    if texts:
        message["refusal" if reply.finish_reason == "refusal" else "content"] = "".join(texts)
    if not message.get("annotations"):
        message.pop("annotations", None)
    if calls:
        message["tool_calls"] = calls
    return message


def _annotations(part: TextPart) -> list[Object]:
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "url": citation.source,
                "title": citation.title or "",
                "start_index": citation.start or 0,
                "end_index": citation.end or 0,
            },
        }
        for citation in part.citations
    ]


def _audio(part: AudioPart) -> Object:
    return {
        "id": part.id or "",
        "data": base64.b64encode(part.blob.read()).decode("ascii"),
        "transcript": part.transcript or "",
        "expires_at": 0,
    }
