"""Parses a client's request as a call (server side). Fields that the schema does not model become provider options.

Reads the input of a client's request as messages (server side). Adjacent steps of the model are one message.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    NO_OPTIONS,
    CallWarning,
    ContentPart,
    Message,
    ModelCall,
    OpaquePart,
    Parsed,
    Part,
    ProviderOptions,
    TextPart,
    ToolCall,
    ToolResult,
    WireRequest,
)

from ...common.call_options import read_options
from ...common.conversations import WrittenArguments, arguments_text, origin_of
from ...common.reading import (
    Object,
    as_object,
    get_filled,
    get_flag,
    get_group,
    get_list,
    get_object,
    get_text,
    has_content,
    make_at,
    message_left_out,
    read_call,
    read_json,
    text_of,
)
from .content import CONTENT_TYPES, read_content
from .known_steps import CALL_FIELDS, CALLS, INPUT_FIELDS, RESULT_FIELDS, RESULTS, THOUGHT, read_hosted, read_thought
from .provider_options import (
    AGENT,
    RequestedOutput,
    read_provider_options,
    read_response_format,
    read_thinking,
    read_tool_choice,
    read_tools,
)
from .vocabulary import ARGUMENTS, SAMPLING, as_whole

_OF_MODEL = frozenset({"model_output", THOUGHT, "function_call", *CALLS, *RESULTS})


class InputReader:
    """Reads an input in order: results are matched with the calls before them."""

    def __init__(
        self, body: bytes, provider: str, origin: str | None, warnings: list[CallWarning], *, stored: bool = False
    ) -> None:
        """With `stored`, the provider stores the turn before: results at the beginning answer its calls."""
        self._stored = stored
        self.messages: list[Message] = []
        self._provider = provider
        self._origin = origin
        self._warnings = warnings
        self._written = WrittenArguments(body, ARGUMENTS)
        self._turn: list[Part] = []
        """The parts of the open turn of the model."""
        self._turn_path = ""
        self._calls: dict[str, str] = {}
        """The ids of calls without a result, and the names of their tools."""

    def read(self, value: Any) -> None:
        """Reads a text, one content, a list of content, or a list of steps.

        Raises `InvalidInputError` with the path of what is wrong.
        """
        if isinstance(value, str):
            self._add("user", [TextPart(value)], "input")
        elif isinstance(value, dict):
            self._read_one(cast(Object, value))
        else:
            items = get_list({"input": value}, "input")
            if items and all(_is_content(item) for item in items):
                self._add("user", self._contents(items, "input"), "input")
            else:
                self.read_steps(items)

    def read_steps(self, items: Sequence[Any]) -> None:
        """Reads a list of steps."""
        if self._stored:
            self._add_stored_calls(items)
        for index, item in enumerate(items):
            self._step(get_object(item, f"input[{index}]"), f"input[{index}]")
        self.end_turn()

    def read_system(self, text: str, path: str) -> None:
        """Reads the system instruction."""
        self._add("system", [TextPart(text)], path)

    def end_turn(self) -> None:
        """Adds the message of the model's steps so far."""
        parts, self._turn = self._turn, []
        if parts:
            self._add("assistant", parts, self._turn_path)

    def _read_one(self, data: Object) -> None:
        if _is_content(data):
            self._add("user", [self._content(data, "input")], "input")
        else:
            self._step(data, "input")
            self.end_turn()

    def _add_stored_calls(self, items: Sequence[Any]) -> None:
        """Adds the calls that results at the beginning answer, without their arguments."""
        results = takewhile(lambda item: text_of(as_object(item), "type") == "function_result", items)
        calls: dict[str, ToolCall] = {}
        for index, item in enumerate(results):
            id, name = (text_of(as_object(item), key) or "" for key in ("call_id", "name"))
            if id:
                calls.setdefault(id, make_at(f"input[{index}]", ToolCall, id, name, ""))
        if calls:
            self._add("assistant", list(calls.values()), "input")
            self._calls |= {call.id: call.name for call in calls.values()}

    def _step(self, step: Object, path: str) -> None:
        kind = get_filled(step.get("type"), f"{path}.type")
        if kind in CONTENT_TYPES:
            reason = "content and steps cannot be mixed"
            hint = 'Put the content into a step: {"type": "user_input", "content": [...]}.'
            raise InvalidInputError(reason, path=f"{path}.type", hint=hint)
        if kind == "user_input":
            self.end_turn()
            options = read_options(step, INPUT_FIELDS, self._provider)
            self._add("user", self._contents(get_list(step, "content", f"{path}."), f"{path}.content"), path, options)
        elif kind == "function_result":
            self.end_turn()
            self._add("tool", [self._result(step, path)], path)
        else:
            if not self._turn:
                self._turn_path = path
            self._turn += self._parts(step, kind, path)

    def _parts(self, step: Object, kind: str, path: str) -> list[Part]:
        """Returns the parts of a step of the model."""
        if kind == "model_output":
            parts = self._contents(get_list(step, "content", f"{path}."), f"{path}.content")
            rest = {name: value for name, value in step.items() if name != "content" and value is not None}
            return [*parts, OpaquePart(self._provider, kind, rest)] if len(rest) > 1 else parts
        if kind == THOUGHT:
            get_list(step, "summary", f"{path}.")
            if step.get("signature") is not None:
                get_text(step["signature"], f"{path}.signature")
            return [make_at(path, read_thought, step, self._provider, self._origin)]
        if kind == "function_call":
            return [self._call(step, path)]
        if kind in CALLS or kind in RESULTS:
            get_text(step.get("id" if kind in CALLS else "call_id"), f"{path}.{'id' if kind in CALLS else 'call_id'}")
            text = ""
            if kind in CALLS and step.get(ARGUMENTS) is not None:
                text = self._written.text_of(get_object(step[ARGUMENTS], f"{path}.{ARGUMENTS}"))
            return [make_at(path, read_hosted, step, text, self._provider)]
        return [make_at(path, OpaquePart, self._provider, kind, step)]

    def _call(self, step: Object, path: str) -> ToolCall:
        id, name = get_filled(step.get("id"), f"{path}.id"), get_text(step.get("name"), f"{path}.name")
        text = self._written.text_of(get_object(step.get(ARGUMENTS), f"{path}.{ARGUMENTS}"))
        options = read_options(step, CALL_FIELDS, self._provider)
        if any(isinstance(part, ToolCall) and part.id == id for part in self._turn):
            raise InvalidInputError("two calls have one id", path=f"{path}.id")
        self._calls[id] = name
        return make_at(path, ToolCall, id, name, text, provider_options=options)

    def _result(self, step: Object, path: str) -> ToolResult:
        id = get_text(step.get("call_id"), f"{path}.call_id")
        if id not in self._calls:
            raise InvalidInputError(
                f"the steps before have no such call {id!r} without a result", path=f"{path}.call_id"
            )
        name = self._calls.pop(id)
        if step.get("name") not in (None, name):
            reason = "the name is that of the call"
            self._warnings.append(CallWarning("field_left_out", f"{path}.name", reason))
        is_error = get_flag(step, "is_error", f"{path}.") or False
        options = read_options(step, RESULT_FIELDS, self._provider)
        content = self._result_content(step.get("result"), f"{path}.result")
        return make_at(path, ToolResult, id, content, is_error, provider_options=options)

    def _result_content(self, result: Any, path: str) -> tuple[ContentPart, ...]:
        """Returns the content of a result: a text, a list of content, or any object as JSON."""
        if isinstance(result, str):
            return (TextPart(result),)
        if isinstance(result, dict):
            return (TextPart(arguments_text(result)),)
        if not isinstance(result, list):
            raise InvalidInputError("expected text, an object or a list of content", path=path)
        parts = self._contents(cast("list[Any]", result), path)
        for index, part in enumerate(parts):
            if isinstance(part, OpaquePart):
                raise InvalidInputError("expected text, an image or a file", path=f"{path}[{index}].type")
        return cast("tuple[ContentPart, ...]", tuple(parts))

    def _contents(self, items: Sequence[Any], path: str) -> list[Part]:
        return [self._content(get_object(item, f"{path}[{i}]"), f"{path}[{i}]") for i, item in enumerate(items)]

    def _content(self, data: Object, path: str) -> Part:
        kind = get_text(data.get("type"), f"{path}.type")
        if kind == "text":
            get_text(data.get("text"), f"{path}.text")
            get_list(data, "annotations", f"{path}.")
        elif kind in CONTENT_TYPES:
            for name, get in (("data", get_text), ("uri", get_filled), ("mime_type", get_filled)):
                if data.get(name) is not None:
                    get(data[name], f"{path}.{name}")
            if data.get("data") is None and data.get("uri") is None:
                raise InvalidInputError("needs data or uri", path=path)
        return make_at(path, read_content, data, self._provider)

    def _add(self, role: Any, parts: Sequence[Part], path: str, options: ProviderOptions = NO_OPTIONS) -> None:
        some = [part for part in parts if has_content(part)]
        if some:
            self.messages.append(make_at(path, Message, role, tuple(some), options))
        else:
            self._warnings.append(message_left_out(path))


def _is_content(item: Any) -> bool:
    return isinstance(item, dict) and text_of(cast(Object, item), "type") in CONTENT_TYPES


def read_turn(body: bytes, provider: str, origin: str) -> tuple[Part, ...]:
    """Returns the parts of the model's steps in a JSON list, as a client's request would have them."""
    reader = InputReader(body, provider, origin, [])
    reader.read_steps(read_json(body))
    return reader.messages[0].parts


_WHOLE = frozenset({"max_output_tokens", "seed"})


def parse(request: WireRequest, provider: str) -> Parsed:
    """Returns the call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    read = partial(_call, request.body, provider)
    return read_call(request, provider, read, lambda path: "input" if path == "messages" else path)


def _call(body: bytes, provider: str, data: Object, warnings: list[CallWarning]) -> ModelCall:
    stream = get_flag(data, "stream") or False
    get_flag(data, "background")
    name = "model" if data.get(AGENT) is None else AGENT
    model = get_text(data.get(name), name)
    stored = data.get("previous_interaction_id") is not None
    reader = InputReader(body, provider, origin_of(provider, model), warnings, stored=stored)
    if data.get("system_instruction") is not None:
        reader.read_system(get_text(data["system_instruction"], "system_instruction"), "system_instruction")
    reader.read(data.get("input"))
    functions, hosted = read_tools(get_list(data, "tools"), warnings)
    config = get_group(data, "generation_config")
    get_list(config, "stop_sequences", "generation_config.")
    wanted = read_response_format(data.get("response_format")) or RequestedOutput()
    return ModelCall(
        model=model,
        provider=provider,
        messages=tuple(reader.messages),
        tools=tuple(functions),
        hosted_tools=tuple(hosted),
        tool_choice=read_tool_choice(config.get("tool_choice")),
        sampling=SAMPLING.read({name: as_whole(value) if name in _WHOLE else value for name, value in config.items()}),
        output=wanted.output,
        thinking=read_thinking(config),
        modalities=wanted.modalities,
        stream=stream,
        provider_options={provider: read_provider_options(data)},
    )
