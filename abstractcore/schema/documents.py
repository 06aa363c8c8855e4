"""Writes schema objects as JSON documents with type and version, and reads them back."""

from __future__ import annotations

import json
from typing import TypeVar, cast, get_args, overload

from .base_error import SchemaError
from .blobs import Blob
from .calls import ModelCall
from .codec import json_of
from .deltas import Delta
from .journal_entries import JournalEntry
from .messages import Message
from .parts import Part
from .pending_calls import ToolAnswer
from .quoting import shown
from .reading import from_data
from .records import CallRecord
from .replies import ModelReply
from .responses import GenerateResponse
from .tool_events import ToolEvent
from .tool_loops import ToolLoop
from .tool_steps import ToolStep
from .tools import ToolSpec
from .transcripts import Transcript

SCHEMA_VERSION = 1
T = TypeVar("T")

_DOCUMENTS: dict[str, type] = {
    "model_call": ModelCall,
    "model_reply": ModelReply,
    "generate_response": GenerateResponse,
    "call_record": CallRecord,
    "message": Message,
    "tool_spec": ToolSpec,
    "tool_loop": ToolLoop,
    "tool_step": ToolStep,
    "tool_answer": ToolAnswer,
    "journal_entry": JournalEntry,
    "transcript": Transcript,
    "blob": Blob,
    **{member.type: member for member in (*get_args(Part), *get_args(Delta), *get_args(ToolEvent))},
}
_NAMES = {member: name for name, member in _DOCUMENTS.items()}


def to_json(value: object) -> str:
    """Returns a schema object as a JSON document with `type` and `schema_version`.

    Raises `SchemaError` for an object of a class without a document type, and as `to_data` does.
    """
    name = _NAMES.get(type(value))
    if name is None:
        raise SchemaError(f"a {type(value).__name__} has no JSON document type")
    tag = "" if hasattr(type(value), "type") else f',"type":"{name}"'
    fields = json_of(value).decode()[1:]
    return f'{{"schema_version":{SCHEMA_VERSION}{tag}{"" if fields == "}" else ","}{fields}'


@overload
def from_json(text: str | bytes) -> object: ...
@overload
def from_json(text: str | bytes, expected: type[T]) -> T: ...
def from_json(text: str | bytes, expected: type = object) -> object:
    """Returns the schema object of a document that `to_json` wrote; with `expected`, it must be of that class.

    Raises `SchemaError` for invalid JSON, an unknown type or version, a document of another class, and invalid values,
    with their path.
    """
    try:
        data = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise SchemaError(f"not a JSON document: {error}") from None
    if not isinstance(data, dict):
        raise SchemaError("expected a JSON object")
    document = cast("dict[str, object]", data)
    version = document.pop("schema_version", None)
    if type(version) is not int or version != SCHEMA_VERSION:
        raise SchemaError(
            f"version {shown(version)} is not supported: this release reads version {SCHEMA_VERSION}", "schema_version"
        )
    cls = _DOCUMENTS.get(str(document.get("type")))
    if cls is None:
        raise SchemaError(f"unknown type {shown(document.get('type'))}", "type")
    if not issubclass(cls, expected):
        raise SchemaError(f"expected a {expected.__name__}, got a {cls.__name__}", "type")
    if not hasattr(cls, "type"):
        del document["type"]
    return from_data(cast("type[object]", cls), document)
