"""`Entry`: an answer as a cache keeps it; its JSON, and the key of the call that it answers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, is_dataclass
from typing import Any, Final, cast

from ... import schema
from ...ports import AnyInput, CallContext, OperationResult
from ...ports.conversions import Transcription
from ...ports.middleware import call_in, with_call
from ...schema import (
    CallWarning,
    JSONValue,
    ModelCall,
    ModelReply,
    OpaquePart,
    SchemaError,
    Usage,
    digest,
    from_data,
    to_data,
)
from ...schema.codec import json_of

_VERSION: Final = 1
_OF_SPAN: Final = frozenset({"traceparent", "tracestate"})
"""Headers of W3C Trace Context: each call has its own while a tracing system is active."""
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
    `settings` of the LLM. Files count by the hash of their content, and headers that name the span of a call do not.
    """
    headers = [list(each) for each in sorted(context.headers.items()) if each[0] not in _OF_SPAN]
    named = [_VERSION, context.operation.name, *_question(context.input), settings, headers]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def is_same_question(before: AnyInput, after: AnyInput) -> bool:
    """Returns whether equal answers are expected to an input and to one that middleware has made of it."""
    return before is after or _question(before) == _question(after)


def entry_for(answer: object, context: CallContext) -> Entry | None:
    """Returns the entry for an answer; None for one that is not complete, that quotes a credential, or that JSON cannot
    express. Nobody else has the objects of the entry that can be changed.
    """
    if isinstance(answer, ModelReply):
        if answer.finish_reason not in _COMPLETE or not answer.parts:
            return None
    elif not isinstance(answer, OperationResult):
        return None
    entry = Entry(cast("ModelReply | OperationResult[Any]", answer), tuple(context.warnings), context.started_at)
    data = _data_of(entry)
    if data is None or context.secrets.value(data) != data:
        return None
    return copied(entry)


def copied(entry: Entry) -> Entry:
    """Returns an entry whose result its receiver may change; a reply cannot be changed."""
    if isinstance(entry.answer, ModelReply):
        return entry
    return read(written(entry), entry.stored_at)


def written(entry: Entry) -> bytes:
    """Returns an entry as JSON."""
    return json.dumps(_data_of(entry), separators=(",", ":")).encode()


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
    cls = _class_named(fields["class"]) if "class" in fields else None
    if cls is None and "class" in fields:
        raise SchemaError(f"there is no class {fields['class']!r} of results")
    return Entry(OperationResult(value if cls is None else from_data(cls, value), usage), warnings, stored_at)


def _data_of(entry: Entry) -> JSONValue:
    warnings = [to_data(each) for each in entry.warnings]
    answer = entry.answer
    if isinstance(answer, ModelReply):
        return {"reply": to_data(answer), "warnings": warnings}
    data: dict[str, Any] = {"usage": to_data(answer.usage), "warnings": warnings}
    value: Any = answer.value
    name = type(value).__name__
    if is_dataclass(value) and _class_named(name) is type(value):
        return cast("JSONValue", {**data, "class": name, "value": to_data(value)})
    try:
        same = json.loads(json.dumps(value)) == value
    except (TypeError, ValueError):
        return None
    return cast("JSONValue", {**data, "value": value}) if same else None


def _class_named(name: str) -> Any:
    """Returns the class of results with this name: one of `abstractcore.schema`, or a `Transcription`."""
    return Transcription if name == Transcription.__name__ else getattr(schema, name, None)


def _question(given: AnyInput) -> list[str]:
    """Returns digests of all that is asked."""
    call = call_in(given)
    if call is None:
        asked = cast("schema.OperationInput", given).with_(**_NOT_SENT)
        return [type(given).__name__, digest(asked)]
    asked = with_call(given, call.with_(**_CHANGES_NO_ANSWER))
    return [type(given).__name__, digest(asked), _order_digest(call)]


def _order_digest(call: ModelCall) -> str:
    """Returns the SHA-256 of the texts in which the order of keys matters, which `digest` ignores: models fill in the
    fields of a schema one after the other.
    """
    opaque = [part.data for each in call.messages for part in each.parts if isinstance(part, OpaquePart)]
    texts = [json_of(each) for each in (call.tools, call.hosted_tools, call.output, call.provider_options, opaque)]
    return hashlib.sha256(b"\n".join(texts)).hexdigest()
