"""Contents as a client writes them, read (server side). What has no place in a message is named in a warning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
    Message,
    Part,
    ReasoningPart,
    SchemaError,
    TextPart,
    ToolCall,
    ToolResult,
)

from ..json_reading import Object, text_of
from ..raw_arguments import WrittenArguments
from ..reading import get_list, get_object, get_text, name_the_rest
from .known_parts import opaque_kind, read_whole
from .tool_results import read_result
from .vocabulary import with_names
from .writing import ARGUMENTS

_CONTENT = frozenset({"role", "parts"})
_SIGNED = frozenset({"thought", "thoughtSignature"})
_ROLES = (None, "", "user", "model", "function", "tool")


class ConversationReader:
    """Reads contents one after the other: results are found by the calls of the model's turn before."""

    def __init__(self, body: bytes, provider: str, origin: str, warnings: list[CallWarning]) -> None:
        self.messages: list[Message] = []
        self._provider = provider
        self._origin = origin
        self._warnings = warnings
        self._open: list[ToolCall] = []
        self._written = WrittenArguments(body, ARGUMENTS)

    def read_system(self, value: Any, path: str) -> None:
        """The system instruction: a message for each of its texts."""
        data = {"parts": [{"text": value}]} if isinstance(value, str) else with_names(get_object(value, path))
        for index, item in enumerate(get_list(data, "parts", f"{path}.")):
            place = f"{path}.parts[{index}]"
            part = get_object(item, place)
            text = get_text(part.get("text"), f"{place}.text")
            name_the_rest(part, frozenset({"text"}), place, self._warnings)
            if text:
                self.messages.append(_placed(Message, f"{place}.text", "system", (_placed(TextPart, place, text),)))

    def read(self, value: Any, path: str) -> None:
        """One content; raises `InvalidInputError` with the path of what is wrong."""
        data = get_object(value, path)
        name_the_rest(data, _CONTENT, path, self._warnings)
        role = data.get("role")
        if role not in _ROLES:
            raise InvalidInputError(f"unknown role {role!r}", path=f"{path}.role")
        items = [
            with_names(get_object(item, f"{path}.parts[{index}]"))
            for index, item in enumerate(get_list(data, "parts", f"{path}."))
        ]
        before = len(self.messages)
        if role == "model":
            self._read_turn(items, f"{path}.parts")
        else:
            self._read_said(items, f"{path}.parts")
        if len(self.messages) == before:
            self._warnings.append(CallWarning("message_left_out", path, "the message is empty"))

    def _read_turn(self, items: Sequence[Object], path: str) -> None:
        parts: list[Part] = []
        calls: list[ToolCall] = []
        for index, data in enumerate(items):
            place = f"{path}[{index}]"
            if "functionResponse" in data:
                raise InvalidInputError("a result comes from the user", path=f"{place}.functionResponse")
            if "functionCall" in data:
                calls.append(self._call(data, calls, f"{place}.functionCall"))
                parts.append(calls[-1])
                self._name_the_rest(data, "functionCall", place)
            else:
                parts += self._part(data, place)
        self._open = calls
        self._add("assistant", parts, path)

    def _call(self, data: Object, before: Sequence[ToolCall], path: str) -> ToolCall:
        call = get_object(data["functionCall"], path)
        name_the_rest(call, frozenset({"id", "name", ARGUMENTS}), path, self._warnings)
        text = ""
        if call.get(ARGUMENTS) is not None:
            text = self._written.text_of(get_object(call[ARGUMENTS], f"{path}.{ARGUMENTS}"))
        id = text_of(call, "id") or f"call_{len(self.messages)}_{len(before)}"
        while not text_of(call, "id") and any(id == other.id for other in before):
            id += "_"
        name = get_text(call.get("name"), f"{path}.name")
        return _placed(ToolCall, path, id, name, text, text_of(data, "thoughtSignature"))

    def _read_said(self, items: Sequence[Object], path: str) -> None:
        results = [(i, data) for i, data in enumerate(items) if "functionResponse" in data]
        rest = [data for data in items if "functionResponse" not in data]
        given = [self._result(data, rest, f"{path}[{index}].functionResponse") for index, data in results]
        if given:
            self._add("tool", given, path)
        places = {id(data): f"{path}[{index}]" for index, data in enumerate(items)}
        parts: list[Part] = []
        for data in rest:
            place = places[id(data)]
            if "functionCall" in data:
                raise InvalidInputError("a call comes from the model", path=f"{place}.functionCall")
            parts += [part for part in self._part(data, place) if not isinstance(part, ReasoningPart)]
        self._add("user", parts, path)

    def _result(self, data: Object, beside: list[Object], path: str) -> ToolResult:
        response = get_object(data["functionResponse"], path)
        name_the_rest(response, frozenset({"id", "name", "response", "parts"}), path, self._warnings)
        name, id = get_text(response.get("name"), f"{path}.name"), text_of(response, "id")
        call = next((call for call in self._open if (call.id == id if id else call.name == name)), None)
        if call is None:
            told = f"the model's turn before has no call {id or name!r} that waits for a result"
            raise InvalidInputError(told, path=f"{path}.{'id' if id else 'name'}")
        self._open = [other for other in self._open if other is not call]
        return _placed(read_result, path, response, call.id, beside, self._provider)

    def _part(self, data: Object, path: str) -> list[Part]:
        """The part, and the signature it has, behind it."""
        signature = text_of(data, "thoughtSignature")
        if "text" in data:
            text = get_text(data["text"], f"{path}.text")
            self._name_the_rest(data, "text", path)
            if data.get("thought") is True and text:
                return [_placed(ReasoningPart, path, text, signature, None, self._origin)]
            parts: list[Part] = [_placed(TextPart, path, text)] if text else []
        else:
            part = _placed(read_whole, path, data, self._provider, self._written)
            if part is None and not signature:
                raise InvalidInputError("the part holds nothing", path=path)
            parts = [part] if part is not None else []
            kind = opaque_kind(data)
            if kind is not None:
                return parts
            self._name_the_rest(data, next((name for name in data if name not in _SIGNED), ""), path)
        return [*parts, ReasoningPart("", signature, None, self._origin)] if signature else parts

    def _name_the_rest(self, data: Object, kind: str, path: str) -> None:
        name_the_rest(data, _SIGNED | {kind}, path, self._warnings)

    def _add(self, role: Any, parts: Sequence[Part], path: str) -> None:
        said = [part for part in parts if not isinstance(part, TextPart) or part.text]
        if said:
            self.messages.append(_placed(Message, path, role, tuple(said)))


def _placed(make: Any, path: str, *values: Any) -> Any:
    """What `make` makes, with its complaints told where they belong in the request."""
    try:
        return make(*values)
    except SchemaError as error:
        raise InvalidInputError(error.message, path=f"{path}.{error.path}" if error.path else path) from None
