"""Tool calls, written and read: those of functions, and those of custom tools, whose input is any text.

A call of a custom tool has `{"type": "custom"}` among its options, which distinguishes it from a function call.
Source: `ChatCompletionMessageCustomToolCall` in the types of the `openai` package 3.54. They leave out its streamed
form, in which each fragment has `custom` in place of `function`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from abstractcore.schema import CallWarning, ProviderOptions, ToolCall

from ...common.call_options import fields_for, read_options, with_options
from ...common.conversations import arguments_piece
from ...common.function_tools import decode_function_call, read_function_call, write_function_call
from ...common.reading import Object, get_object, get_text, name_the_rest, object_of, objects_of, text_of

if TYPE_CHECKING:
    from abstractcore.schema import ToolCallStart


_CUSTOM = "custom"
_FUNCTION_FIELDS = frozenset({"id", "type", "function", "index"})
_CUSTOM_FIELDS = frozenset({"id", _CUSTOM, "index"})
_CALLED = frozenset({"name", "input"})


def is_custom(call: ToolCall | ToolCallStart, provider: str) -> bool:
    """Whether it is the call of a custom tool."""
    return fields_for(call, provider).get("type") == _CUSTOM


def write_call(
    call: ToolCall | ToolCallStart, text: str, path: str, provider: str, warnings: list[CallWarning]
) -> Object:
    """Writes a call with `text` as its arguments; raises `InvalidInputError` for an option that is one of its fields.

    Options for other providers are reported.
    """
    if is_custom(call, provider):
        block: Object = {"id": call.id, **write_fragment(text, custom=True)}
        block[_CUSTOM]["name"] = call.name
        return with_options(block, call, path, provider, _CUSTOM_FIELDS, warnings)
    block = write_function_call(call.id, call.name, text)
    return with_options(block, call, path, provider, _FUNCTION_FIELDS, warnings)


def write_fragment(text: str, *, custom: bool) -> Object:
    """Writes the next piece of the arguments of a streamed call."""
    return {_CUSTOM: {"input": text}} if custom else {"function": {"arguments": text}}


def decode_call(call: Object, provider: str) -> ToolCall:
    """Reads the call in a reply; its id may be empty."""
    if call.get("type") != _CUSTOM:
        return decode_function_call(call, _FUNCTION_FIELDS, provider)
    custom = object_of(call, _CUSTOM)
    text = arguments_piece(custom, "input", is_first=False)
    options = call_options(call, provider)
    return ToolCall(text_of(call, "id") or "", text_of(custom, "name") or "", text, provider_options=options)


def calls_of(message: Object) -> list[Object]:
    """Returns the calls in a message or a delta; the deprecated `function_call` is one without an id."""
    calls = objects_of(message, "tool_calls")
    if not calls and message.get("function_call"):
        return [{"index": 0, "function": message["function_call"]}]
    return calls


def called_in(fragment: Object) -> tuple[Object, str]:
    """Returns the object with the tool's name in a fragment of a streamed call, and its field for the arguments."""
    if fragment.get("function") is not None and fragment.get("type") != _CUSTOM:
        return object_of(fragment, "function"), "arguments"
    return object_of(fragment, _CUSTOM), "input"


def call_options(call: Object, provider: str) -> ProviderOptions:
    """Returns the fields of a call, or of its first fragment, that the schema does not model."""
    return read_options(call, _CUSTOM_FIELDS if call.get("type") == _CUSTOM else _FUNCTION_FIELDS, provider)


def read_call(value: Any, path: str, provider: str, warnings: list[CallWarning]) -> ToolCall:
    """Reads the call in a client's message; raises `InvalidInputError` with the path of what is wrong."""
    call = get_object(value, path)
    if call.get("type") != _CUSTOM:
        return read_function_call(call, path, _FUNCTION_FIELDS, provider, warnings)
    custom_path = f"{path}.{_CUSTOM}"
    custom = get_object(call.get(_CUSTOM), custom_path)
    name_the_rest(custom, _CALLED, custom_path, warnings)
    return ToolCall(
        get_text(call.get("id"), f"{path}.id"),
        get_text(custom.get("name"), f"{custom_path}.name"),
        get_text(custom.get("input"), f"{custom_path}.input"),
        provider_options=call_options(call, provider),
    )
