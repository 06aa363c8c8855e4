"""The attributes of spans in the names of OpenInference, as Phoenix and other tools read them.

From spec/semantic_conventions.md of https://github.com/Arize-ai/openinference at commit
1fe497f1d9f45a07eee55d97fe185e020560f9c7, compared on 2026-11-29.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ..schema import (
    CallRecord,
    InteractionRecord,
    ModelCall,
    ModelReply,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolRecord,
    ToolResult,
    TraceRecord,
)
from . import messages, names
from .attributes import Attributes, operation_of

_KIND: Final = "openinference.span.kind"
_TEXT, _JSON = "text/plain", "application/json"
_PROVIDERS: Final[Mapping[str, str]] = {
    "bedrock": "aws",
    "bedrock-anthropic": "aws",
    "bedrock-openai": "aws",
    "google-interactions": "google",
    "mistral": "mistralai",
    "openai-responses": "openai",
    "vertex": "google",
    "vertex-anthropic": "google",
    "vertex-openai": "google",
}
"""By the name of a provider; others keep theirs."""
_COUNTS: Final[Mapping[str, str]] = {
    "input": "llm.token_count.prompt",
    "output": "llm.token_count.completion",
    "total": "llm.token_count.total",
    "cached": "llm.token_count.prompt_details.cache_read",
    "cache_written": "llm.token_count.prompt_details.cache_write",
    "input_audio": "llm.token_count.prompt_details.audio",
    "reasoning": "llm.token_count.completion_details.reasoning",
    "output_audio": "llm.token_count.completion_details.audio",
}
"""By the field of `Usage`."""


def of_record(record: TraceRecord, *, with_content: bool) -> Attributes:
    """Returns the attributes of a record in the names of OpenInference."""
    if isinstance(record, InteractionRecord):
        found: Attributes = {_KIND: "AGENT" if record.kind == "tools" else "CHAIN"}
    elif isinstance(record, ToolRecord):
        found = _of_tool(record, with_content)
    else:
        found = _of_call(record, with_content)
    if record.tags:
        found["metadata"] = messages.written(record.tags)
    if (session := record.tags.get("session")) is not None:
        found["session.id"] = session
    if (user := record.tags.get("user")) is not None:
        found["user.id"] = user
    if (prompt := record.tags.get("prompt")) is not None:
        found["prompt.id"] = prompt
        if version := prompt.partition("@")[2]:
            found["llm.prompt_template.version"] = version
    return found


def _of_tool(record: ToolRecord, with_content: bool) -> Attributes:
    found: Attributes = {_KIND: "TOOL", "tool.name": record.tool, "tool.id": record.call_id}
    if with_content and record.arguments is not None:
        found |= {"input.value": messages.written(record.arguments), "input.mime_type": _JSON}
    if with_content and record.result is not None:
        found |= {"output.value": messages.text_of_result(record.result), "output.mime_type": _TEXT}
    return found


def _of_call(record: CallRecord, with_content: bool) -> Attributes:
    operation = operation_of(record)
    if operation not in (names.CHAT, names.EMBEDDINGS):
        return {_KIND: "CHAIN", "llm.model_name": record.model, **_of_usage(record)}
    if operation == names.EMBEDDINGS:
        return {_KIND: "EMBEDDING", "embedding.model_name": record.model, **_of_usage(record)}
    provider = _PROVIDERS.get(record.provider, record.provider)
    found: Attributes = {_KIND: "LLM", "llm.model_name": record.model, "llm.provider": provider, **_of_usage(record)}
    if record.call is not None:
        found |= _of_request(record.call, with_content)
    if record.reply is not None:
        found |= _of_reply(record.reply, with_content)
    return found


def _of_usage(record: CallRecord) -> Attributes:
    found: Attributes = {}
    for field, name in _COUNTS.items():
        count = getattr(record.usage, field)
        if count is not None:
            found[name] = count
    if record.cost is not None:
        found["llm.cost.total"] = float(record.cost)
    return found


def _of_request(call: ModelCall, with_content: bool) -> Attributes:
    given = {name: getattr(call.sampling, name) for name in names.SAMPLING}
    parameters = {name: value for name, value in given.items() if value is not None}
    found: Attributes = {"llm.request.model_name": call.model}
    if parameters:
        found["llm.invocation_parameters"] = messages.written(parameters)
    if with_content:
        for index, message in enumerate(call.messages):
            found |= _message(f"llm.input_messages.{index}.", message.role, message.parts)
        found |= {"input.value": messages.content_of_call(call)[names.INPUT_MESSAGES], "input.mime_type": _JSON}
    return found


def _of_reply(reply: ModelReply, with_content: bool) -> Attributes:
    found: Attributes = {"llm.finish_reason": reply.finish_reason}
    if reply.model is not None:
        found["llm.response.model_name"] = reply.model
    if with_content:
        found |= _message("llm.output_messages.0.", "assistant", reply.parts)
        if reply.text:
            found |= {"output.value": reply.text, "output.mime_type": _TEXT}
        else:
            found |= {
                "output.value": messages.content_of_reply(reply)[names.OUTPUT_MESSAGES],
                "output.mime_type": _JSON,
            }
    return found


def _message(prefix: str, role: str, parts: Iterable[Part]) -> Attributes:
    """Returns the attributes of a message: its texts, its tool calls, and the id of the call that it answers."""
    found: Attributes = {f"{prefix}message.role": role}
    texts: list[str] = []
    calls = 0
    for part in parts:
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif isinstance(part, ReasoningPart):
            continue
        elif isinstance(part, ToolCall):
            tool_call = f"{prefix}message.tool_calls.{calls}.tool_call."
            calls += 1
            found[f"{tool_call}id"] = part.id
            found[f"{tool_call}function.name"] = part.name
            found[f"{tool_call}function.arguments"] = part.arguments_text
        elif isinstance(part, ToolResult):
            found[f"{prefix}message.tool_call_id"] = part.call_id
            texts.append(messages.text_of_result(part))
        else:
            texts.append(f"[{part.type}]")
    if texts:
        found[f"{prefix}message.content"] = "\n".join(texts)
    return found
