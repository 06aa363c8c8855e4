"""`Entry`: an answer as a cache keeps it; its JSON, and the key of the call that it answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, Final, cast

from ... import schema
from ...ports import AnyInput, CallContext, OperationResult
from ...ports.middleware import call_in, with_call
from ...schema import CallWarning, JSONValue, ModelReply, SchemaError, Usage, digest, from_data, to_data

_VERSION: Final = 1
_COMPLETE: Final = ("stop", "tool_calls")
_NOT_SENT: Final[dict[str, Any]] = {"tags": {}, "parent_id": None, "trace_context": {}}
_CHANGES_NO_ANSWER: Final[dict[str, Any]] = {**_NOT_SENT, "stream": False, "cache": False}


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer, the warnings of its call, and when it was asked for, in seconds since the epoch."""

    answer: ModelReply | OperationResult[Any]
    warnings: tuple[CallWarning, ...]
    stored_at: float


def key_of(context: CallContext, settings: str) -> str:
    """Returns the SHA-256 of what an answer depends on: the operation, its input, the user's headers, and the
    `settings` of the LLM. Files count by the hash of their content.
    """
    given = _what_is_asked(context.input)
    headers = [list(each) for each in sorted(context.headers.items())]
    named = [_VERSION, context.operation.name, type(given).__name__, digest(given), settings, headers]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def settings_digest(options: Mapping[str, object]) -> str:
    """Returns the SHA-256 of options of an LLM; objects count by their class, and LLMs by their model."""
    return hashlib.sha256(json.dumps(_plain(options), sort_keys=True).encode()).hexdigest()


def entry_for(answer: object, context: CallContext) -> Entry | None:
    """Returns the entry for an answer; None for one that is not complete, or that quotes a credential."""
    if isinstance(answer, ModelReply):
        if answer.finish_reason not in _COMPLETE or not answer.parts:
            return None
    elif not isinstance(answer, OperationResult):
        return None
    entry = Entry(cast("ModelReply | OperationResult[Any]", answer), tuple(context.warnings), context.started_at)
    if isinstance(answer, ModelReply):
        data = _data_of(entry)
        if context.secrets.value(data) != data:
            return None
    return entry


def written(entry: Entry) -> bytes | None:
    """Returns an entry as JSON; None for the result of an operation that JSON cannot be read back from."""
    data = _data_of(entry)
    return None if data is None else json.dumps(data, separators=(",", ":")).encode()


def read(text: bytes, stored_at: float) -> Entry:
    """Returns the entry that was written; raises `ValueError` or `SchemaError` for another text."""
    data: Any = json.loads(text)
    if not isinstance(data, dict):
        raise SchemaError("expected an object")
    fields = cast("dict[str, Any]", data)
    warnings = tuple(from_data(CallWarning, each) for each in fields.get("warnings", ()))
    if "reply" in fields:
        return Entry(from_data(ModelReply, fields["reply"]), warnings, stored_at)
    value, usage = fields.get("value"), from_data(Usage, fields.get("usage"))
    cls = getattr(schema, fields["class"]) if "class" in fields else None
    return Entry(OperationResult(value if cls is None else from_data(cls, value), usage), warnings, stored_at)


def _data_of(entry: Entry) -> JSONValue:
    warnings = [to_data(each) for each in entry.warnings]
    answer = entry.answer
    if isinstance(answer, ModelReply):
        return {"reply": to_data(answer), "warnings": warnings}
    data: dict[str, Any] = {"usage": to_data(answer.usage), "warnings": warnings}
    value: Any = answer.value
    name = type(value).__name__
    if is_dataclass(value) and getattr(schema, name, None) is type(value):
        return cast("JSONValue", {**data, "class": name, "value": to_data(value)})
    try:
        same = json.loads(json.dumps(value)) == value
    except (TypeError, ValueError):
        return None
    return cast("JSONValue", {**data, "value": value}) if same else None


def _what_is_asked(given: AnyInput) -> AnyInput:
    call = call_in(given)
    if call is not None:
        return with_call(given, call.with_(**_CHANGES_NO_ANSWER))
    return cast("schema.OperationInput", given).with_(**_NOT_SENT)


def _plain(value: object) -> JSONValue:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("list[object]", value)]
    names = [getattr(value, name, None) for name in ("provider", "model")]
    return [type(value).__qualname__, *(name for name in names if isinstance(name, str))]
