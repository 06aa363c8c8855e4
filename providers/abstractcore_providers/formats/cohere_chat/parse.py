"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options.

Reads a client's messages (server side). What the schema cannot express is reported in a warning.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    NO_OPTIONS,
    Blob,
    CallWarning,
    ContentPart,
    DocumentPart,
    ImagePart,
    Message,
    ModelCall,
    OutputSchema,
    Parsed,
    Part,
    ProviderOptions,
    ReasoningPart,
    Role,
    TextPart,
    ToolChoice,
    ToolResult,
    WireRequest,
    freeze_object,
)

from ...common.call_options import read_options
from ...common.conversations import origin_of
from ...common.data_urls import read_url
from ...common.function_tools import named_schema, read_function_call, read_function_tool
from ...common.reading import (
    ErrorsAt,
    Object,
    as_object,
    get_flag,
    get_list,
    get_object,
    get_role,
    get_text,
    has_content,
    name_the_rest,
    read_call,
    read_each,
    text_of,
)
from .answers import JSON_DOCUMENT, citation_to_ours, citations_of
from .vocabulary import CALL_FIELDS, MESSAGE_FIELDS, PROVIDER, SAMPLING, has_field, thinking_to_ours

_ROLES: dict[str, Role] = {role: role for role in MESSAGE_FIELDS}


def read_messages(values: Iterable[Any], origin: str | None, warnings: list[CallWarning]) -> tuple[Message, ...]:
    """Returns the conversation with the model `origin`; an empty message is omitted.

    Raises `InvalidInputError` with the path of what is wrong.
    """

    def read(data: Object, path: str) -> Message | None:
        return _message(get_role(data, _ROLES, path), data, path, origin, warnings)

    return read_each(values, read, warnings)


def _message(role: Role, data: Object, path: str, origin: str | None, warnings: list[CallWarning]) -> Message | None:
    plan, cited = citations_of(data) if role == "assistant" else ([], {})
    parts = _content(data.get("content"), f"{path}.content", origin, cited, warnings)
    options = read_options(data, MESSAGE_FIELDS[role], PROVIDER)
    if role == "tool":
        call_id = get_text(data.get("tool_call_id"), f"{path}.tool_call_id")
        content = cast("tuple[ContentPart, ...]", tuple(parts))
        return Message.tool(ToolResult(call_id, content, provider_options=options))
    if role == "assistant":
        if data.get("tool_plan") is not None:
            parts.append(_cited(get_text(data["tool_plan"], f"{path}.tool_plan"), plan))
        calls = enumerate(get_list(data, "tool_calls", f"{path}."))
        parts += [
            read_function_call(call, f"{path}.tool_calls[{i}]", CALL_FIELDS, PROVIDER, warnings, needs_arguments=False)
            for i, call in calls
        ]
    kept = [part for part in parts if has_content(part)]
    return Message(role, tuple(kept), options) if kept else None


def _content(
    content: Any, path: str, origin: str | None, cited: dict[int, list[Object]], warnings: list[CallWarning]
) -> list[Part]:
    if content is None:
        return []
    if isinstance(content, str):
        return [_cited(content, cited.get(0, []))]
    if not isinstance(content, list):
        raise InvalidInputError(f"expected text or a list of parts, got {type(content).__name__}", path=path)
    blocks = enumerate(cast("list[Any]", content))
    return [
        _block(get_object(block, f"{path}[{i}]"), f"{path}[{i}]", origin, cited.get(i, []), warnings)
        for i, block in blocks
    ]


def _block(data: Object, path: str, origin: str | None, cited: list[Object], warnings: list[CallWarning]) -> Part:
    kind = text_of(data, "type") or ""
    if kind == "thinking":
        name_the_rest(data, frozenset({"type", kind}), path, warnings)
        return ReasoningPart(get_text(data.get(kind), f"{path}.{kind}"), origin=origin)
    options = read_options(data, ("type", kind), PROVIDER)
    if kind == "text":
        return _cited(get_text(data.get(kind), f"{path}.text"), cited, options)
    if kind == "image_url":
        image = get_object(data.get(kind), f"{path}.{kind}")
        name_the_rest(image, frozenset({"url", "detail"}), f"{path}.{kind}", warnings)
        url_path = f"{path}.{kind}.url"
        blob = read_url(image.get("url"), "image/*", url_path)
        with ErrorsAt(f"{path}.{kind}"):
            return ImagePart(blob, image.get("detail"), provider_options=options)
    if kind == "document":
        document = freeze_object(get_object(data.get(kind), f"{path}.{kind}"), "content.document")
        return DocumentPart(Blob.from_bytes(to_json(document), JSON_DOCUMENT), provider_options=options)
    raise InvalidInputError(f"unknown content part {data.get('type')!r}", path=f"{path}.type")


def _cited(text: str, citations: list[Object], options: ProviderOptions = NO_OPTIONS) -> TextPart:
    cited = tuple(citation_to_ours(citation) for citation in citations)
    return TextPart(text, cited, provider_options=options if text else NO_OPTIONS)


def parse(request: WireRequest) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    return read_call(request, PROVIDER, _call)


def _call(data: Object, warnings: list[CallWarning]) -> ModelCall:
    model = get_text(data.get("model"), "model")
    strict = get_flag(data, "strict_tools")
    rest = {name: value for name, value in data.items() if value is not None and not has_field(name, value)}
    return ModelCall(
        model=model,
        provider=PROVIDER,
        messages=read_messages(get_list(data, "messages"), origin_of(PROVIDER, model), warnings),
        tools=tuple(
            read_function_tool(tool, f"tools[{i}]", warnings, strict=strict)
            for i, tool in enumerate(get_list(data, "tools"))
        ),
        tool_choice=_tool_choice(data.get("tool_choice")),
        sampling=SAMPLING.read(data, top_logprobs=0 if get_flag(data, "logprobs") else None),
        output=_output(data.get("response_format")),
        thinking=thinking_to_ours(data.get("thinking")),
        stream=get_flag(data, "stream") or False,
        provider_options={PROVIDER: rest},
    )


def _tool_choice(choice: Any) -> ToolChoice | None:
    if choice is None:
        return None
    if choice not in ("REQUIRED", "NONE"):
        raise InvalidInputError("use 'REQUIRED' or 'NONE'", path="tool_choice")
    return ToolChoice("none" if choice == "NONE" else "required")


def _output(format: Any) -> OutputSchema | None:
    if not has_field("response_format", format):
        return None
    return named_schema(as_object(format)["json_schema"], "response_format.json_schema")
