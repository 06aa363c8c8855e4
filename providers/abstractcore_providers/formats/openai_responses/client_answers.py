"""The fields of items that answer built-in tools, written from results and read.

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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    ContentPart,
    JSONObject,
    SchemaError,
    TextPart,
    ToolResult,
    freeze_object,
    to_data,
)

from ...common.call_options import fields_for, read_options
from ...common.reading import Object, as_object, as_objects, get_flag, get_list, get_object, get_text

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
