"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options.

Reads a client's contents (server side). What the schema cannot express is reported in a warning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    MEDIA_PARTS,
    NO_OPTIONS,
    CallWarning,
    Message,
    ModelCall,
    Parsed,
    Part,
    ProviderOptions,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    WireRequest,
)

from ...common.call_options import read_options
from ...common.conversations import WrittenArguments, origin_of
from ...common.reading import (
    Object,
    get_group,
    get_list,
    get_object,
    get_text,
    has_content,
    make_at,
    message_left_out,
    name_the_rest,
    read_call,
    text_of,
)
from .content import CALL_FIELDS, TEXT_FIELDS, opaque_kind, read_result, read_transcription, read_whole
from .provider_options import read_provider_options
from .read_settings import (
    read_functions,
    read_hosted_tools,
    read_modalities,
    read_output,
    read_sampling,
    read_thinking,
    read_tool_choice,
)
from .vocabulary import ARGUMENTS, UNSIGNED, GenerateContentDialect, with_names

_CONTENT = frozenset({"role", "parts"})
_SIGNED = frozenset({"thought", "thoughtSignature"})
_ROLES = (None, "", "user", "model", "function", "tool")


class ConversationReader:
    """Reads contents in order: results are matched with the calls of the previous model turn."""

    def __init__(self, body: bytes, provider: str, origin: str, warnings: list[CallWarning]) -> None:
        self.messages: list[Message] = []
        self._provider = provider
        self._origin = origin
        self._warnings = warnings
        self._open: list[ToolCall] = []
        self._written = WrittenArguments(body, ARGUMENTS)

    def read_system(self, value: Any, path: str) -> None:
        """Reads the system instruction: a message for each of its texts."""
        data = {"parts": [{"text": value}]} if isinstance(value, str) else with_names(get_object(value, path))
        for index, item in enumerate(get_list(data, "parts", f"{path}.")):
            part_path = f"{path}.parts[{index}]"
            part = get_object(item, part_path)
            text = get_text(part.get("text"), f"{part_path}.text")
            if text:
                system_text = self._text(text, part, part_path)
                self.messages.append(make_at(f"{part_path}.text", Message, "system", (system_text,)))

    def read(self, value: Any, path: str) -> None:
        """Reads one content; raises `InvalidInputError` with the path of what is wrong."""
        data = get_object(value, path)
        options = read_options(data, _CONTENT, self._provider)
        role = data.get("role")
        if role not in _ROLES:
            raise InvalidInputError(f"unknown role {role!r}", path=f"{path}.role")
        items = [
            with_names(get_object(item, f"{path}.parts[{index}]"))
            for index, item in enumerate(get_list(data, "parts", f"{path}."))
        ]
        before = len(self.messages)
        if role == "model":
            self._read_turn(items, f"{path}.parts", options)
        else:
            self._read_user(items, f"{path}.parts", options)
            if options and len(self.messages) > before and self.messages[-1].role == "tool":
                name_the_rest(data, _CONTENT, path, self._warnings)
        if len(self.messages) == before:
            self._warnings.append(message_left_out(path))

    def _read_turn(self, items: Sequence[Object], path: str, options: ProviderOptions) -> None:
        parts: list[Part] = []
        calls: list[ToolCall] = []
        for index, data in enumerate(items):
            part_path = f"{path}[{index}]"
            if "functionResponse" in data:
                raise InvalidInputError(
                    "a functionResponse needs the role 'user'", path=f"{part_path}.functionResponse"
                )
            if "functionCall" in data:
                calls.append(self._call(data, calls, f"{part_path}.functionCall"))
                parts.append(calls[-1])
            else:
                parts += self._part(data, part_path)
        self._open = calls
        self._add("assistant", parts, path, options)

    def _call(self, data: Object, before: Sequence[ToolCall], path: str) -> ToolCall:
        call = get_object(data["functionCall"], path)
        name_the_rest(call, frozenset({"id", "name", ARGUMENTS}), path, self._warnings)
        text = ""
        if call.get(ARGUMENTS) is not None:
            text = self._written.text_of(get_object(call[ARGUMENTS], f"{path}.{ARGUMENTS}"))
        id = text_of(call, "id") or f"call_{len(self.messages)}_{len(before)}"
        while not text_of(call, "id") and any(id == other.id for other in before):
            id += "_"
        name, signature = get_text(call.get("name"), f"{path}.name"), text_of(data, "thoughtSignature")
        signature = None if signature == UNSIGNED else signature
        options = read_options(data, CALL_FIELDS, self._provider)
        return make_at(path, ToolCall, id, name, text, signature, provider_options=options)

    def _read_user(self, items: Sequence[Object], path: str, options: ProviderOptions) -> None:
        results = [(i, data) for i, data in enumerate(items) if "functionResponse" in data]
        rest = [data for data in items if "functionResponse" not in data]
        given = [self._result(data, rest, f"{path}[{index}].functionResponse") for index, data in results]
        if given:
            self._add("tool", given, path)
        paths = {id(data): f"{path}[{index}]" for index, data in enumerate(items)}
        parts: list[Part] = []
        for data in rest:
            part_path = paths[id(data)]
            if "functionCall" in data:
                raise InvalidInputError("a functionCall needs the role 'model'", path=f"{part_path}.functionCall")
            parts += [part for part in self._part(data, part_path) if not isinstance(part, ReasoningPart)]
        self._add("user", parts, path, options)

    def _result(self, data: Object, beside: list[Object], path: str) -> ToolResult:
        response = get_object(data["functionResponse"], path)
        self._name_the_rest(data, "functionResponse", path.removesuffix(".functionResponse"))
        name, id = get_text(response.get("name"), f"{path}.name"), text_of(response, "id")
        call = next((call for call in self._open if (call.id == id if id else call.name == name)), None)
        if call is None:
            reason = f"the previous model turn has no call {id or name!r} without a result"
            raise InvalidInputError(reason, path=f"{path}.{'id' if id else 'name'}")
        self._open = [other for other in self._open if other is not call]
        return make_at(path, read_result, response, call.id, beside, self._provider)

    def _part(self, data: Object, path: str) -> list[Part]:
        """Returns the part, followed by its signature."""
        parts: list[Part]
        signature = text_of(data, "thoughtSignature")
        found = make_at(path, read_transcription, data, self._provider)
        if found is not None:
            parts = [make_at(path, TextPart, found.text, provider_options=found.options)] if found.text else []
        elif "text" in data:
            text = get_text(data["text"], f"{path}.text")
            if data.get("thought") is True and text:
                self._name_the_rest(data, "text", path)
                return [make_at(path, ReasoningPart, text, signature, None, self._origin)]
            parts = [self._text(text, data, path)] if text else []
        else:
            part = make_at(path, read_whole, data, self._provider, self._written)
            if part is None and not signature:
                raise InvalidInputError("the part is empty", path=path)
            parts = [part] if part is not None else []
            kind = opaque_kind(data)
            if kind is not None:
                return parts
            if not isinstance(part, MEDIA_PARTS):
                self._name_the_rest(data, next((name for name in data if name not in _SIGNED), ""), path)
        return [*parts, ReasoningPart("", signature, None, self._origin)] if signature else parts

    def _text(self, text: str, data: Object, path: str) -> TextPart:
        return make_at(path, TextPart, text, provider_options=read_options(data, TEXT_FIELDS, self._provider))

    def _name_the_rest(self, data: Object, kind: str, path: str) -> None:
        name_the_rest(data, _SIGNED | {kind}, path, self._warnings)

    def _add(self, role: Any, parts: Sequence[Part], path: str, options: ProviderOptions = NO_OPTIONS) -> None:
        kept = [part for part in parts if has_content(part)]
        if kept:
            self.messages.append(make_at(path, Message, role, tuple(kept), options))


_URL = re.compile(
    r"(?>[^?#]*?(?:^|/)(?:publishers/([^/?#]+)/)?(?:models/|(?=tunedModels/|endpoints/)))([^?#]+)"
    r":(generateContent|streamGenerateContent)(?:[?#]|$)"
)


def parse(request: WireRequest, dialect: GenerateContentDialect) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    match = _URL.match(request.url)
    if match is None:
        raise InvalidInputError(f"{request.url!r} does not name a model and an operation", path="url")
    model = unquote(match[2])
    if dialect.publisher and match[1] not in (None, dialect.publisher):
        model = f"{unquote(match[1])}/{model}"
    read = partial(_call, request.body, model, match[3] == "streamGenerateContent", dialect)
    return read_call(request, dialect.provider, read, lambda path: "contents" if path == "messages" else path)


def _call(
    body: bytes, model: str, stream: bool, dialect: GenerateContentDialect, data: Object, warnings: list[CallWarning]
) -> ModelCall:
    data = with_names(data)
    if data.get("model") is not None:
        warnings.append(CallWarning("field_left_out", "model", "the model in the URL is used"))
    reader = ConversationReader(body, dialect.provider, origin_of(dialect.provider, model) or "", warnings)
    if data.get("systemInstruction") is not None:
        reader.read_system(data["systemInstruction"], "systemInstruction")
    for index, content in enumerate(get_list(data, "contents")):
        reader.read(content, f"contents[{index}]")
    config = with_names(get_group(data, "generationConfig"))
    tools = [with_names(get_object(tool, f"tools[{i}]")) for i, tool in enumerate(get_list(data, "tools"))]
    return ModelCall(
        model=model,
        provider=dialect.provider,
        messages=tuple(reader.messages),
        tools=tuple(read_functions(tools, warnings)),
        hosted_tools=tuple(read_hosted_tools(tools, warnings)),
        tool_choice=read_tool_choice(with_names(get_group(data, "toolConfig"))),
        sampling=read_sampling(config),
        output=read_output(config),
        thinking=read_thinking(config),
        modalities=read_modalities(config),
        stream=stream,
        provider_options={dialect.provider: read_provider_options(data, dialect)},
    )
