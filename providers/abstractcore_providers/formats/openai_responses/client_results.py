"""Results of built-in tools that the caller ran, adjusted, written as the items that answer the calls, and read.

The fields of items that answer built-in tools, written from results and read. Adjusts user messages and tool results
to the format, with a warning for everything that it cannot express.

* A shell's result has an entry for each text: its standard output, or its standard error if the result `is_error`.
  Options of a text are further fields of its entry: the other stream, or an `outcome` other than exit code 0 (1 for an
  error). The option `output` of a result replaces all entries.
* The result of a tool search is a JSON array of the tools that were found.
* An approval is the JSON object `{"approve": true}`, with or without a `reason`. A result with `is_error` is a refusal,
  its text the reason. Nothing else approves.

Source: `ResponseInputItemParam` in the types of the `openai` package 3.54.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar, cast

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    CachePoint,
    CallWarning,
    ContentPart,
    JSONObject,
    Message,
    OpaquePart,
    Part,
    SchemaError,
    TextPart,
    ToolCall,
    ToolResult,
    freeze_object,
    to_data,
)

from ...common.call_options import fields_for, name_options_left_out, read_options, with_options_for
from ...common.reading import Object, as_object, as_objects, get_flag, get_list, get_object, get_text
from .client_tools import ClientToolItem, called_tool
from .content import CONTENT_FIELDS, CONTENT_TYPES, OUTPUT_FIELDS, can_be_kept_for
from .items import item_from_user
from .vocabulary import WARNINGS

_FOUND = 'Return a JSON array of tools, such as json.dumps([{"type": "function", "name": ...}]).'
_APPROVE = 'Return {"approve": true} as JSON, or a result with is_error=True to refuse.'
_EXITS: dict[bool, Object] = {
    False: {"type": "exit", "exit_code": 0},
    True: {"type": "exit", "exit_code": 1},
}
_STATUSES = {False: "completed", True: "failed"}

_Read: TypeAlias = tuple[tuple[ContentPart, ...], bool]
"""The content of an item, and whether it is an error."""


@dataclass(frozen=True, slots=True)
class ClientToolResult:
    """How the results of a tool are written and read."""

    fields: tuple[str, ...]
    """The fields of the item that cannot be options, beside its type and id."""
    write: Callable[[ToolResult, str, str], Object]
    """Returns the fields for a result; raises `InvalidInputError` below its path."""
    read: Callable[[Object, str, str], _Read]
    """Reads the item at a path; raises `InvalidInputError` below it."""
    id_field: str = "call_id"
    has_options: bool = False
    """Whether texts are objects, which can have options."""


def _text(result: ToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, TextPart))


def _write_entries(result: ToolResult, path: str, provider: str) -> Object:
    texts = [cast(TextPart, part) for part in result.content] or [TextPart("")]
    return {"output": [_entry(part, fields_for(part, provider), is_error=result.is_error) for part in texts]}


def _entry(part: TextPart, options: JSONObject, *, is_error: bool) -> Object:
    """Returns one entry. If an option is one of the streams, the text is the other."""
    is_stderr = "stderr" not in options and (is_error or "stdout" in options)
    streams = {"stdout": "", "stderr": part.text} if is_stderr else {"stdout": part.text, "stderr": ""}
    return {**streams, "outcome": _EXITS[is_error], **cast(Object, to_data(options))}


def _read_entries(item: Object, path: str, provider: str) -> _Read:
    entries = [get_object(entry, f"{path}.output[{i}]") for i, entry in enumerate(get_list(item, "output", f"{path}."))]
    is_error = any(entry.get("outcome") not in (None, _EXITS[False]) for entry in entries)
    parts: list[TextPart] = []
    for index, entry in enumerate(entries):
        stdout, stderr = (
            get_text(entry.get(name, ""), f"{path}.output[{index}].{name}") for name in ("stdout", "stderr")
        )
        known = {"stdout"} if stdout else {"stderr"}
        if is_error != bool(stdout) and not (stdout and stderr):
            known = {"stdout", "stderr"}
        if entry.get("outcome") == _EXITS[is_error]:
            known.add("outcome")
        text = stdout or stderr
        parts.append(TextPart(text, provider_options=read_options(entry, known, provider) if text else {}))
    return tuple(parts), is_error


def _write_text(result: ToolResult, path: str, provider: str) -> Object:
    # The types require only the id, the API's description only the call's: both are that of the call.
    return {"id": result.call_id, "output": _text(result)}


def _read_text(item: Object, path: str, provider: str) -> _Read:
    return _said(item, "output", path), False


def _said(item: Object, name: str, path: str) -> tuple[ContentPart, ...]:
    text = item.get(name)
    return () if text is None else (TextPart(get_text(text, f"{path}.{name}")),)


def _write_log(result: ToolResult, path: str, provider: str) -> Object:
    text = _text(result)
    return {"status": _STATUSES[result.is_error], **({"output": text} if text else {})}


def _read_log(item: Object, path: str, provider: str) -> _Read:
    status = item.get("status", "completed")
    if status not in _STATUSES.values():
        raise InvalidInputError(f"use {' or '.join(map(repr, _STATUSES.values()))}", path=f"{path}.status")
    return _said(item, "output", path), status == _STATUSES[True]


def _write_found(result: ToolResult, path: str, provider: str) -> Object:
    found: Any = [] if result.is_error else _data(result, path, _FOUND)
    if not isinstance(found, list) or len(as_objects(found)) < len(cast("list[Any]", found)):
        raise InvalidInputError("expected a JSON array of tools", path=f"{path}.content", hint=_FOUND)
    return {"execution": "client", "status": "completed", "tools": found}


def _read_found(item: Object, path: str, provider: str) -> _Read:
    found = get_list(item, "tools", f"{path}.")
    for index, tool in enumerate(found):
        get_object(tool, f"{path}.tools[{index}]")
    return (TextPart(json.dumps(found)),), False


def _write_approval(result: ToolResult, path: str, provider: str) -> Object:
    if result.is_error:
        reason = _text(result)
        return {"approve": False, **({"reason": reason} if reason else {})}
    answer = as_object(_data(result, path, _APPROVE))
    if not isinstance(answer.get("approve"), bool) or not isinstance(answer.get("reason", ""), str):
        raise InvalidInputError("expected an approval or a refusal", path=f"{path}.content", hint=_APPROVE)
    return {name: answer[name] for name in ("approve", "reason") if name in answer}


def _read_approval(item: Object, path: str, provider: str) -> _Read:
    approved, reason = get_flag(item, "approve", f"{path}."), _said(item, "reason", path)
    if approved is None:
        raise InvalidInputError("expected true or false", path=f"{path}.approve")
    if not approved:
        return reason, True
    given = {"reason": item["reason"]} if reason else {}
    return (TextPart(json.dumps({"approve": True, **given})),), False


def _data(result: ToolResult, path: str, hint: str) -> Any:
    """Returns the JSON value in a result."""
    try:
        return to_data(freeze_object({"data": json.loads(_text(result))})["data"])
    except (ValueError, RecursionError, SchemaError) as error:
        raise InvalidInputError(f"not JSON: {error}", path=f"{path}.content", hint=hint) from None


ANSWERS = {
    "shell_call_output": ClientToolResult(("status",), _write_entries, _read_entries, has_options=True),
    "local_shell_call_output": ClientToolResult(("output", "status"), _write_text, _read_text),
    "apply_patch_call_output": ClientToolResult(("output", "status"), _write_log, _read_log),
    "tool_search_output": ClientToolResult(("execution", "status", "tools"), _write_found, _read_found),
    "mcp_approval_response": ClientToolResult(
        ("approve", "reason"), _write_approval, _read_approval, id_field="approval_request_id"
    ),
}
"""By the type of the item. Other tools are answered with screenshots, and with content as functions are."""


P = TypeVar("P", bound=Part)


def fit_user_parts(message: Message, path: str, provider: str, warnings: list[CallWarning]) -> Sequence[Part]:
    """Adjusts a user's or a system's message.

    Raises `UnsupportedContentError` for an item that answers the model among other parts.
    """
    if _is_plain(message.parts):
        return message.parts
    parts: list[Part] = []
    own = False
    for index, part in enumerate(message.parts):
        part_path = f"{path}[{index}]"
        if not isinstance(part, OpaquePart):
            parts.append(_plain(_cacheable(part, part_path, warnings), part_path, provider, warnings))
        elif message.role == "user" and part.provider == provider and item_from_user(part) is not None:
            own = True
            parts.append(part)
        else:
            warnings.append(WARNINGS.part(part, part_path))
    if own and len(parts) > 1:
        raise UnsupportedContentError(
            f"{path}: an item that answers the model must be in its own message.",
            hint="Put it into a user message without other parts.",
        )
    return parts


def _is_plain(parts: Sequence[Part]) -> bool:
    """Whether it is only one text, as most messages are."""
    part = parts[0]
    if len(parts) > 1 or not isinstance(part, TextPart):
        return False
    return part.cache is None and not part.citations and not part.provider_options


def _cacheable(part: P, path: str, warnings: list[CallWarning]) -> P:
    """Returns `part` with its cache point as far as the format supports it."""
    cache: CachePoint | None = getattr(part, "cache", None)
    if cache is None:
        return part
    if isinstance(part, AudioPart):
        return without_cache(part, path, warnings)
    if can_be_kept_for(cache.ttl):
        return part
    message = "the cache TTLs of this provider are 30 minutes and 12 hours"
    warnings.append(CallWarning("cache_ttl_left_out", f"{path}.cache.ttl", message, cache.ttl))
    changed: Any = replace(part, cache=CachePoint())
    return changed


def without_cache(item: Any, path: str, warnings: list[CallWarning]) -> Any:
    """Returns `item` without its cache point, with a warning if it has one."""
    if item.cache is None:
        return item
    warnings.append(WARNINGS.field("cache", path))
    return replace(item, cache=None)


def _plain(part: P, path: str, provider: str, warnings: list[CallWarning]) -> P:
    """Returns `part` without the fields beside its content."""
    part = with_options_for(part, path, provider, CONTENT_FIELDS.get(CONTENT_TYPES.get(type(part), ""), ()), warnings)
    if isinstance(part, TextPart) and part.citations:
        warnings.append(WARNINGS.field("citations", path))
        return replace(part, citations=())
    if isinstance(part, AudioPart):
        WARNINGS.fields(part, path, ("transcript", "id"), warnings)
        return replace(part, transcript=None, id=None)
    return part


def fit_result(part: Part, path: str, provider: str, warnings: list[CallWarning]) -> ToolResult:
    """Adjusts a tool's result; raises `UnsupportedContentError` with the path of audio in it."""
    assert isinstance(part, ToolResult)
    if _goes_as_it_is(part):
        return part
    result = with_options_for(part, path, provider, OUTPUT_FIELDS, warnings)
    if result.is_error:
        warnings.append(CallWarning("error_flag_left_out", f"{path}.is_error", "results cannot be marked as errors"))
    result = _cacheable(result, path, warnings) if result.content else without_cache(result, path, warnings)
    content = [_given(result, i, f"{path}.content[{i}]", provider, warnings) for i in range(len(result.content))]
    return replace(result, content=tuple(content), is_error=False)


def _goes_as_it_is(result: ToolResult) -> bool:
    """Whether it is a text without anything to warn of, as most results are."""
    if result.cache is not None or result.is_error or result.provider_options:
        return False
    return bool(result.content) and _is_plain(result.content)


def _given(result: ToolResult, index: int, path: str, provider: str, warnings: list[CallWarning]) -> Any:
    """Adjusts content of a result. The cache point of its last item is the result's own."""
    part = result.content[index]
    if isinstance(part, AudioPart):
        raise UnsupportedContentError(
            f"{path}: the result of tool call {result.call_id!r} has audio, which is not supported there.",
            hint="Put it into a user message after the result.",
        )
    is_last = index == len(result.content) - 1
    cached = without_cache(part, path, warnings) if is_last else _cacheable(part, path, warnings)
    return _plain(cached, path, provider, warnings)


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
