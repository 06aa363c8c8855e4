"""Encodes a call as a request body, with a warning for everything that the format or the dialect cannot express.

Writes messages, with a warning for everything that the format cannot express. Earlier assistant messages, as sent
back. Schemas for vendors with a JSON mode without schemas.

The schema is sent in a system message of its own, after the initial ones, with a wording that the server side
recognizes. Nothing enforces it: answers are validated by the receiver.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from pydantic_core import to_json

from abstractcore import schema
from abstractcore.errors import UnsupportedOptionError
from abstractcore.schema import (
    AudioPart,
    CallWarning,
    Encoded,
    Message,
    ModelCall,
    OpaquePart,
    OutputSchema,
    Part,
    ReasoningPart,
    Sampling,
    TextPart,
    ThinkingLevel,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    WireRequest,
    to_data,
)

from ...common.call_options import SAMPLING_OPTIONS, add_provider_options, unsupported, with_options
from ...common.conversations import (
    SentCallIds,
    as_content,
    in_order,
    origin_of,
    refuse_unanswered_calls,
    with_valid_text,
)
from ...common.endpoints import JSON_HEADERS
from ...common.function_tools import write_function_tool, write_output
from ...common.reading import Object, as_object, read_json, text_of
from ...common.request_limits import within_limits
from ...common.thinking import nearest_level
from .content import add_cache, append_content, call_ids, is_custom, kept_audio, media_in_result, write_call, write_part
from .decode import CLOSING, OPENING, field_for, turns_with_calls, without_field, write_detail
from .dialect import BLOCKS, DETAILS, LEVELS, PIECES, TAGS, ChatDialect, write_thinking
from .vocabulary import AUDIO_FIELDS, PART_ORDER, WARNINGS, has_field, message_fields


def write_answer(
    message: Message, path: str, dialect: ChatDialect, origin: str | None, warnings: list[CallWarning]
) -> Object:
    """Returns the assistant's message; only its role if nothing of it is left. `origin` is the model that gets its
    reasoning back, None if none does.
    """
    body: Object = {"role": "assistant"}
    content: list[Object] = []
    field = field_for(message, dialect, origin)
    kept = _supported_parts(message, path, field, origin, warnings)
    for index, part in in_order(kept, PART_ORDER, path, warnings):
        part_path = f"{path}[{index}]"
        if isinstance(part, TextPart):
            block = write_part(part, part_path, dialect.provider, dialect.cache, warnings)
            append_content(content, block, dialect.cache)
        elif isinstance(part, ReasoningPart):
            _add_reasoning(part, part_path, body, content, field, warnings)
        elif isinstance(part, AudioPart):
            body["audio"] = _audio(part, part_path, dialect, warnings)
        elif isinstance(part, ToolCall):
            body.setdefault("tool_calls", []).append(_tool_call(part, part_path, dialect, warnings))
    if content:
        body["content"] = as_content(content)
    if dialect.empty_reasoning and field is not None and "tool_calls" in body:
        body.setdefault(field, "")
    return body


def _supported_parts(
    message: Message, path: str, field: str | None, origin: str | None, warnings: list[CallWarning]
) -> list[tuple[int, Part]]:
    """Returns the supported parts; at most one is audio."""
    kept: list[tuple[int, Part]] = []
    has_audio = False
    for index, part in enumerate(message.parts):
        if isinstance(part, TextPart | ToolCall) or _goes_back(part, field, origin):
            kept.append((index, part))
        elif isinstance(part, AudioPart) and part.id is not None and not has_audio:
            has_audio = True
            kept.append((index, part))
        else:
            warnings.append(WARNINGS.part(part, f"{path}[{index}]"))
    return kept


def _goes_back(part: Part, field: str | None, origin: str | None) -> bool:
    """Whether it is reasoning of the model `origin`, which it is sent back to in `field`."""
    if not isinstance(part, ReasoningPart) or field is None or part.origin != origin:
        return False
    if field == TAGS and CLOSING in part.text:
        return False
    return bool(part.text) or field in (BLOCKS, DETAILS)


def _add_reasoning(
    part: ReasoningPart,
    path: str,
    body: Object,
    content: list[Object],
    field: str | None,
    warnings: list[CallWarning],
) -> None:
    if field in (BLOCKS, DETAILS):
        body.setdefault(field, []).append(write_detail(part))
        return
    WARNINGS.fields(without_field(part), path, ("signature", "redacted_data"), warnings)
    if field == PIECES:
        _append_thought(content, part.text)
    elif field == TAGS:
        _append_tagged(content, part.text)
    elif field is not None:
        body[field] = body.get(field, "") + part.text


def _append_tagged(content: list[Object], text: str) -> None:
    """Appends reasoning to `content` between tags; only those at the start of the text count."""
    begun = content[-1]["text"].removesuffix(CLOSING) if content else OPENING
    content[:] = [{"type": "text", "text": begun + text + CLOSING}]


def _append_thought(content: list[Object], text: str) -> None:
    """Appends reasoning to `content`. Adjacent reasoning is merged, since the format does not separate it."""
    if content and content[-1]["type"] == "thinking":
        content[-1]["thinking"][0]["text"] += text
    else:
        content.append({"type": "thinking", "thinking": [{"type": "text", "text": text}]})


def _audio(part: AudioPart, path: str, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    """Returns a reference to earlier audio, which the provider stores."""
    kept = kept_audio(part.id or "", dialect.provider)
    WARNINGS.fields(part, path, ("cache",), warnings)
    if part.blob != kept:
        message = "the provider's stored copy is sent instead"
        warnings.append(CallWarning("sent_by_reference", f"{path}.blob", message, sent=to_data(kept)))
    if part.transcript is not None:
        warnings.append(CallWarning("transcript_left_out", f"{path}.transcript", "the provider stores its own"))
    return with_options({"id": part.id}, part, path, dialect.provider, AUDIO_FIELDS, warnings)


def _tool_call(call: ToolCall, path: str, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    WARNINGS.fields(call, path, ("cache", "signature"), warnings)
    if not is_custom(call, dialect.provider):
        call = with_valid_text(call, path, warnings)
    return write_call(call, call.arguments_text, path, dialect.provider, warnings)


def write_messages(call: ModelCall, dialect: ChatDialect, warnings: list[CallWarning]) -> list[Object]:
    """Returns the conversation of `call`; a message without any part left is omitted.

    Raises `UnsupportedContentError` for unsupported content, or if no message is left.
    """
    refuse_unanswered_calls(call.messages)
    written: list[Object] = []
    ids = call_ids(call.messages, dialect.call_id_size)
    origin = origin_of(dialect.provider, call.model) if dialect.reasoning_field is not None else None
    called = turns_with_calls(call.messages) if dialect.reasoning_with_calls else range(len(call.messages))
    for turn, message in enumerate(call.messages):
        path = f"messages[{turn}]"
        if message.role == "tool":
            for index, part in enumerate(message.parts):
                written.append(_tool_result(part, f"{path}.parts[{index}]", turn, ids, dialect, warnings))
            continue
        if message.role == "assistant":
            body = write_answer(message, f"{path}.parts", dialect, origin if turn in called else None, warnings)
            for written_call in body.get("tool_calls", ()):
                written_call["id"] = ids.of_call(turn, written_call["id"])
        else:
            body = {"role": message.role}
            content = _content(message, f"{path}.parts", dialect, warnings)
            if content:
                body["content"] = content
        if len(body) > 1:
            known = message_fields(message.role, dialect)
            written.append(with_options(body, message, path, dialect.provider, known, warnings))
    if not written:
        raise WARNINGS.nothing_left()
    return written


def _content(message: Message, path: str, dialect: ChatDialect, warnings: list[CallWarning]) -> Any:
    """Returns the content of a user's or system message."""
    content: list[Object] = []
    for index, part in enumerate(message.parts):
        part_path = f"{path}[{index}]"
        if isinstance(part, OpaquePart):
            warnings.append(WARNINGS.part(part, part_path))
            continue
        block = write_part(part, part_path, dialect.provider, dialect.cache, warnings)
        if isinstance(part, AudioPart):
            WARNINGS.fields(part, part_path, ("transcript", "id"), warnings)
        append_content(content, block, dialect.cache)
    return as_content(content)


def _tool_result(
    part: Part, path: str, turn: int, ids: SentCallIds, dialect: ChatDialect, warnings: list[CallWarning]
) -> Object:
    assert isinstance(part, ToolResult)
    if part.is_error:
        warnings.append(CallWarning("error_flag_left_out", f"{path}.is_error", "results cannot be marked as errors"))
    content: list[Object] = []
    for index, item in enumerate(part.content):
        part_path = f"{path}.content[{index}]"
        if not isinstance(item, TextPart):
            raise media_in_result(item, part.call_id, part_path)
        is_last = index == len(part.content) - 1
        if is_last and item.cache is not None:
            WARNINGS.fields(item, part_path, ("cache",), warnings)
            item = replace(item, cache=None)
        block = write_part(item, part_path, dialect.provider, dialect.cache, warnings)
        if is_last:
            block = add_cache(block, part.cache, path, dialect.cache, warnings)
        append_content(content, block, dialect.cache)
    if not content:
        WARNINGS.fields(part, path, ("cache",), warnings)
    body: Object = {
        "role": "tool",
        "tool_call_id": ids.of_result(turn, part.call_id),
        "content": as_content(content) if content else "",
    }
    return with_options(body, part, path, dialect.provider, message_fields("tool", dialect), warnings)


JSON_MODE: Object = {"type": "json_object"}
_BEGINNING = "Answer with JSON alone, which is an instance of the JSON Schema in this object:\n"


def instruct(messages: list[Object], output: OutputSchema, warnings: list[CallWarning]) -> None:
    """Inserts the message with the schema of `output` into `messages`, and warns that it is not enforced."""
    instruction: Object = {"name": output.name, "schema": output.schema}
    if output.description is not None:
        instruction["description"] = output.description
    position = next((i for i, message in enumerate(messages) if message["role"] != "system"), len(messages))
    messages.insert(position, {"role": "system", "content": _BEGINNING + to_json(instruction).decode()})
    if output.strict:
        what = f"the schema is sent in a system message, messages[{position}] of the request, and not enforced"
        warnings.append(CallWarning("schema_as_instruction", "output.strict", what, True, False))


def take_instruction(messages: list[Any]) -> tuple[list[Any], Object | None]:
    """Returns the messages without the one with a schema, and that schema."""
    for position, message in enumerate(messages):
        content = as_object(message).get("content")
        if isinstance(content, str) and content.startswith(_BEGINNING):
            instruction = _read_instruction(content.removeprefix(_BEGINNING))
            if instruction is not None:
                return [*messages[:position], *messages[position + 1 :]], instruction
    return messages, None


def _read_instruction(text: str) -> Object | None:
    try:
        instruction = as_object(read_json(text.encode()))
    except ValueError:
        return None
    return (
        instruction
        if text_of(instruction, "name") is not None and isinstance(instruction.get("schema"), dict)
        else None
    )


def encode(call: ModelCall, dialect: ChatDialect) -> Encoded:
    """Returns the request for a lowered call.

    Raises `UnsupportedContentError` for unsupported content, `InvalidInputError` for what exceeds a limit and for
    provider options that duplicate a field of the call, and `UnsupportedOptionError` for a vendor without chat.
    """
    if not dialect.has_chat:
        raise UnsupportedOptionError(
            f"{dialect.provider} has no chat models: it has embeddings and rankings.",
            hint="Use llm.embed(texts) or llm.rerank(query, documents), or another provider for text.",
            provider=call.provider or None,
            model=call.model,
        )
    warnings: list[CallWarning] = []
    body, names = request_body(call, dialect, warnings)
    return Encoded(WireRequest("/chat/completions", JSON_HEADERS, to_json(body)), tuple(warnings), names)


def request_body(
    call: ModelCall, dialect: ChatDialect, warnings: list[CallWarning]
) -> tuple[Object, schema.SentNames | None]:
    """Returns the body of the request, and the names that it has in place of the call's; adds to `warnings`.

    Raises as `encode` does.
    """
    if call.hosted_tools:
        raise WARNINGS.hosted_tools(call)
    call = _with_possible_choice(call, dialect, warnings)
    call, names = within_limits(call, dialect.limits, dialect.schemas, dialect.provider, warnings)
    body: Object = {"model": call.model, "messages": write_messages(call, dialect, warnings)}
    body.update(_sampling(call.sampling, dialect, warnings))
    if call.tools:
        body["tools"] = [_tool(tool, f"tools[{i}]", dialect, warnings) for i, tool in enumerate(call.tools)]
    if call.tool_choice is not None:
        body["tool_choice"] = _tool_choice(call.tool_choice)
    if call.parallel_tool_calls is not None:
        body.update(_parallel_tool_calls(call.parallel_tool_calls, dialect, warnings))
    if call.output is not None:
        body["response_format"] = _response_format(call.output, body["messages"], dialect, warnings)
    if call.thinking is not None:
        body.update(_thinking(call.thinking, dialect, warnings))
    if call.modalities:
        body["modalities"] = list(call.modalities)
    if call.stream:
        body["stream"] = True
        if dialect.stream_usage:
            body["stream_options"] = {"include_usage": True}
    add_provider_options(body, call, dialect.provider, partial(has_field, dialect=dialect), warnings, joined=("tools",))
    return body, names


def _sampling(sampling: Sampling, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    body: Object = {}
    if sampling.max_output_tokens is not None:
        body[dialect.max_tokens_field] = sampling.max_output_tokens
    for name in SAMPLING_OPTIONS:
        value = getattr(sampling, name)
        if value is None or value == ():
            continue
        if name not in dialect.options:
            warnings.append(unsupported(f"sampling.{name}", value, name))
        elif name == "top_logprobs":
            body.update({"logprobs": value} if dialect.counted_logprobs else {"logprobs": True, name: value})
        else:
            body[dialect.seed_field if name == "seed" else name] = value
    return body


def _response_format(
    output: OutputSchema, messages: list[Object], dialect: ChatDialect, warnings: list[CallWarning]
) -> Object:
    if dialect.json_mode_only:
        instruct(messages, output, warnings)
        return JSON_MODE
    return {"type": "json_schema", "json_schema": write_output(output, dialect.schemas, warnings)}


def _parallel_tool_calls(parallel: bool, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    if "parallel_tool_calls" in dialect.options:
        return {"parallel_tool_calls": parallel}
    warnings.append(unsupported("parallel_tool_calls", parallel, "parallel_tool_calls"))
    return {}


def _thinking(thinking: ThinkingLevel | int, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    levels = LEVELS if dialect.thinking is None else dialect.thinking.levels
    asked = nearest_level(thinking, levels, warnings)
    written = None if asked is None else write_thinking(asked, dialect.thinking)
    if written is None:
        what = "a thinking budget in tokens" if isinstance(thinking, int) else "thinking"
        warnings.append(unsupported("thinking", thinking, what))
        return {}
    return written


def _tool(tool: ToolSpec, path: str, dialect: ChatDialect, warnings: list[CallWarning]) -> Object:
    described = dialect.tool_descriptions
    written = write_function_tool(tool, path, dialect.schemas, warnings, own_strict=True, described=described)
    return add_cache(written, tool.cache, path, dialect.cache, warnings)


def _with_possible_choice(call: ModelCall, dialect: ChatDialect, warnings: list[CallWarning]) -> ModelCall:
    """Returns the call with any tool required, if it must call a specific one and the provider cannot force that."""
    choice = call.tool_choice
    if choice is None or choice.mode != "tool" or dialect.named_tool_choice:
        return call
    message = "this provider cannot force a specific tool"
    sent = ToolChoice("required")
    warnings.append(CallWarning("tool_choice_changed", "tool_choice", message, to_data(choice), to_data(sent)))
    return call.with_(tool_choice=sent)


def _tool_choice(choice: ToolChoice) -> Any:
    return {"type": "function", "function": {"name": choice.tool}} if choice.mode == "tool" else choice.mode
