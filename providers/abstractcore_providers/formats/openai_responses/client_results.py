"""Results of built-in tools that the caller ran, adjusted, written as the items that answer the calls, and read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    CallWarning,
    ContentPart,
    JSONObject,
    TextPart,
    ToolCall,
    ToolResult,
    to_data,
)

from ...common.call_options import fields_for, name_options_left_out, read_options, with_options_for
from ...common.reading import Object
from .client_answers import ANSWERS, ClientToolResult
from .client_tools import ClientToolItem, called_tool
from .fit_input import without_cache
from .vocabulary import WARNINGS


def has_own_form(tool: ClientToolItem) -> bool:
    """Whether the results of a tool have a form of their own here; the others are screenshots and content."""
    return tool.output in ANSWERS


def answered_id(item: Object, tool: ClientToolItem) -> Any:
    """Returns the id of the call that an item answers."""
    answer = ANSWERS.get(tool.output)
    id = item.get("call_id" if answer is None else answer.id_field)
    return item.get("id") if id is None and tool.name == "local_shell" else id


def repeated_fields(call: ToolCall | None, provider: str) -> Object:
    """Returns the fields of a call that its answer must repeat: the program that made it, and a shell's limit."""
    if call is None:
        return {}
    caller = fields_for(call, provider).get("caller")
    found: Object = {} if caller is None else {"caller": to_data(caller)}
    tool = called_tool(call, provider)
    limit = (call.arguments or {}).get("max_output_length")
    return found if tool is None or tool.name != "shell" or limit is None else {**found, "max_output_length": limit}


def without_repeated(
    result: ToolResult, call: ToolCall | None, path: str, provider: str, warnings: list[CallWarning]
) -> ToolResult:
    """Returns the result of a function without options that are sent anyway, with a warning for them."""
    options = fields_for(result, provider)
    repeated = unchanged(cast(Object, to_data(options)), call, provider) if options else set[str]()
    if not repeated:
        return result
    rest = {name: value for name, value in options.items() if name not in repeated}
    _warn_of_options(result, rest, path, provider, warnings)
    return replace(result, provider_options={provider: rest} if rest else {})


def fit_client_result(
    result: ToolResult, call: ToolCall, tool: ClientToolItem, path: str, provider: str, warnings: list[CallWarning]
) -> ToolResult:
    """Adjusts the result of a tool with a form of its own: what is read of it is what was sent.

    Raises `UnsupportedContentError` for content other than text, and `InvalidInputError` for a text that is not what
    the tool returns.
    """
    answer = ANSWERS[tool.output]
    result = without_cache(result, path, warnings)
    result = with_options_for(result, path, provider, {"type", "id", answer.id_field, *answer.fields}, warnings)
    named: list[CallWarning] = []
    place = f"{path}.content"
    texts = (_fit_text(part, f"{place}[{i}]", answer, provider, named) for i, part in enumerate(result.content))
    result = replace(result, content=tuple(texts))
    item = write_client_result(result, call, tool, path, provider)
    again = read_client_result(item, call, tool, path, provider)
    if "output" not in fields_for(result, provider):  # entries that were not apart are one text from now on
        rest = {name: value for name, value in fields_for(again, provider).items() if name != "output"}
        again = replace(again, provider_options={provider: rest} if rest else {})
    if again.content != result.content:
        messages = dict.fromkeys([f"sent as the content of a {tool.output}", *(warning.message for warning in named)])
        sent = [to_data(part) for part in again.content]
        named = [CallWarning("result_rewritten", place, "; ".join(messages), sent=sent)]
    if again.is_error != result.is_error:
        message = f"a {tool.output} has no such mark beside its content"
        named.append(CallWarning("error_flag_left_out", f"{path}.is_error", message, result.is_error, again.is_error))
    warnings += named
    _warn_of_options(result, fields_for(again, provider), path, provider, warnings)
    return again


def _warn_of_options(
    result: ToolResult, rest: JSONObject, path: str, provider: str, warnings: list[CallWarning]
) -> None:
    options = fields_for(result, provider)
    if rest != options:
        place, message = f"{path}.provider_options.{provider}", "some of these are sent by default"
        warnings.append(CallWarning("no_effect", place, message, options, rest or None))


def _fit_text(
    part: ContentPart, path: str, answer: ClientToolResult, provider: str, warnings: list[CallWarning]
) -> TextPart:
    if not isinstance(part, TextPart):
        raise UnsupportedContentError(
            f"{path}: the result of this tool must be text, not {part.type}.",
            hint="Describe it in a text, or put it into a user message after the result.",
        )
    WARNINGS.fields(part, path, ("cache", "citations"), warnings)
    part = replace(part, cache=None, citations=())
    if answer.has_options:
        return with_options_for(part, path, provider, (), warnings)
    name_options_left_out(part, path, provider, "its item has no object for a text", warnings)
    return replace(part, provider_options={})


def write_client_result(result: ToolResult, call: ToolCall, tool: ClientToolItem, path: str, provider: str) -> Object:
    """Returns the item for a result of `fit_client_result`."""
    answer = ANSWERS[tool.output]
    item: Object = {"type": tool.output, answer.id_field: result.call_id, **answer.write(result, path, provider)}
    return {**item, **repeated_fields(call, provider), **cast(Object, to_data(fields_for(result, provider)))}


def read_client_result(item: Object, call: ToolCall, tool: ClientToolItem, path: str, provider: str) -> ToolResult:
    """Reads the result in a client's item; raises `InvalidInputError` with the path of what is wrong."""
    answer = ANSWERS[tool.output]
    content, is_error = answer.read(item, path, provider)
    result = ToolResult(call.id, content, is_error)
    known = {"type", "id", answer.id_field, *answer.fields, *unchanged(item, call, provider)}
    if not answer.has_options or answer.write(result, path, provider)["output"] == item.get("output"):
        known.add("output")
    return replace(result, provider_options=read_options(item, known, provider))


def unchanged(item: Object, call: ToolCall | None, provider: str) -> set[str]:
    """Returns the fields that an item repeats from its call."""
    return {name for name, value in repeated_fields(call, provider).items() if item.get(name) == value}
