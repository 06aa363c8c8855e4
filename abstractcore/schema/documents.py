"""Writes schema objects as JSON documents with type and version, and reads them back.

Reads schema objects from plain JSON data, with the path of every invalid value.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from functools import cache
from importlib import import_module
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints, overload

from .base_error import SchemaError, shown
from .blobs import Blob
from .calls import Message, ModelCall
from .codec import json_of
from .deltas import Delta
from .json_values import as_float, check_text, freeze
from .parts import Part
from .records import CallRecord
from .replies import ModelReply, Usage
from .responses import GenerateResponse
from .tool_loops import JournalEntry, ToolAnswer, ToolLoop
from .tool_steps import ToolEvent, ToolStep
from .tools import ToolSpec
from .transcripts import Transcript

T = TypeVar("T")
_DECIMAL = re.compile(r"[0-9]{1,50}(\.[0-9]{1,50})?")
_Reader = Callable[[object, str], object]


def from_data(cls: type[T], data: object, path: str = "") -> T:
    """Returns the `cls` that `to_data` wrote as `data`; raises `SchemaError` with the path of an invalid value."""
    return cast(T, _reader(cls)(data, path))


@cache
def _reader(hint: Any) -> _Reader:
    """Returns a function that reads a value of the type `hint` from JSON data."""
    origin = get_origin(hint)
    if isinstance(hint, TypeVar) and hint.__bound__ is not None:
        return _reader(hint.__bound__)
    if hint is Any or isinstance(hint, TypeVar):
        return freeze
    if origin in (Union, types.UnionType):
        return _union_reader(get_args(hint))
    if origin is Literal:
        return _literal_reader(get_args(hint))
    if origin is tuple:
        return _tuple_reader(_reader(get_args(hint)[0]))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_reader(_reader(get_args(hint)[1]))
    plain = cast(type, hint if origin is None else origin)
    if is_dataclass(plain):
        return _object_reader(plain)
    return _scalar_reader(hint)


def _scalar_reader(hint: type) -> _Reader:
    if hint in _TEXTS:
        return _TEXTS[hint]

    def read(data: object, path: str) -> object:
        if hint is float and type(data) is int:
            return as_float(data, path)
        if type(data) is not hint:
            raise SchemaError(f"expected {hint.__name__}, got {type(data).__name__}", path)
        return freeze(data, path)

    return read


def _read_bytes(data: object, path: str) -> bytes:
    try:
        return base64.b64decode(check_text(data, path), validate=True)
    except (binascii.Error, ValueError) as error:
        raise SchemaError(f"not base64: {error}", path) from None


def _read_decimal(data: object, path: str) -> Decimal:
    text = check_text(data, path)
    if not _DECIMAL.fullmatch(text):
        raise SchemaError(f"{shown(text)} is not a decimal number such as '0.0125'", path)
    return Decimal(text)


_TEXTS: dict[type, _Reader] = {str: check_text, bytes: _read_bytes, Decimal: _read_decimal}
"""Readers of the types that are texts in JSON."""


def _literal_reader(values: tuple[object, ...]) -> _Reader:
    def read(data: object, path: str) -> object:
        if data not in values:
            raise SchemaError(f"{shown(data)} is not one of {', '.join(map(str, values))}", path)
        return data

    return read


def _tuple_reader(item: _Reader) -> _Reader:
    def read(data: object, path: str) -> object:
        if not isinstance(data, list | tuple):
            raise SchemaError(f"expected a list, got {type(data).__name__}", path)
        return tuple(item(element, f"{path}[{i}]") for i, element in enumerate(cast("list[object]", data)))

    return read


def _mapping_reader(item: _Reader) -> _Reader:
    def read(data: object, path: str) -> object:
        if not isinstance(data, Mapping):
            raise SchemaError(f"expected an object, got {type(data).__name__}", path)
        mapping = cast("Mapping[str, object]", data)
        return freeze({key: item(value, f"{path}.{key}") for key, value in mapping.items()}, path)

    return read


def _union_reader(members: tuple[Any, ...]) -> _Reader:
    tagged = {member.type: member for member in members if isinstance(getattr(member, "type", None), str)}
    others = [member for member in members if member is not type(None) and member not in tagged.values()]
    if not tagged and len(others) == 1 and len(members) == 2:
        return _optional_reader(_reader(others[0]))

    def read(data: object, path: str) -> object:
        if data is None and type(None) in members:
            return None
        if tagged and isinstance(data, Mapping):
            tag = cast("Mapping[str, object]", data).get("type")
            if not isinstance(tag, str) or tag not in tagged:
                raise SchemaError(f"unknown type {shown(tag)}: expected one of {', '.join(tagged)}", f"{path}.type")
            return _reader(tagged[tag])(cast(object, data), path)
        return _first_that_reads(others or list(tagged.values()), cast(object, data), path)

    return read


def _optional_reader(reader: _Reader) -> _Reader:
    def read(data: object, path: str) -> object:
        return None if data is None else reader(data, path)

    return read


def _first_that_reads(members: list[Any], data: object, path: str) -> object:
    failure: SchemaError | None = None
    for member in members:
        try:
            return _reader(member)(data, path)
        except SchemaError as error:
            failure = failure or error
    raise failure or SchemaError(f"unexpected {type(data).__name__}", path)


def _object_reader(cls: type) -> _Reader:
    tag = getattr(cls, "type", None)
    readers: dict[str, _Reader] = {}
    required: list[str] = []

    def prepare() -> None:
        """Resolves the field types, at the first read, since classes refer to each other."""
        hints = get_type_hints(cls)
        for field in fields(cast(Any, cls)):
            if field.init:
                readers[field.name] = _reader(hints[field.name])
                if field.default is MISSING and field.default_factory is MISSING:
                    required.append(field.name)

    def read(data: object, path: str) -> object:
        if not readers:
            prepare()
        if not isinstance(data, Mapping):
            raise SchemaError(f"expected an object, got {type(data).__name__}", path)
        values = dict(cast("Mapping[str, object]", data))
        if isinstance(tag, str) and values.pop("type", tag) != tag:
            raise SchemaError(f"expected {tag!r}", f"{path}.type")
        for name in values:
            if name not in readers:
                raise SchemaError("no such field", f"{path}.{name}" if path else name)
        for name in required:
            if name not in values:
                raise SchemaError("missing", f"{path}.{name}" if path else name)
        read_values = {name: readers[name](value, f"{path}.{name}" if path else name) for name, value in values.items()}
        try:
            return cls(**read_values)
        except SchemaError as error:
            raise error.at(path) if path else error from None

    return read


SCHEMA_VERSION = 1


def _type_name(name: str) -> str:
    """Returns the `type` of the documents of a class: its name in lower case, with underscores."""
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()


_FREQUENT = (ModelCall, ModelReply, GenerateResponse, CallRecord, Message, Transcript, Blob)
_OF_TOOLS = (ToolSpec, ToolLoop, ToolStep, ToolAnswer, JournalEntry)
_DOCUMENTS: dict[str, type] = {
    **{_type_name(cls.__name__): cls for cls in (*_FREQUENT, *_OF_TOOLS)},
    "token_usage": Usage,  # "usage" is that of a delta
    **{member.type: member for member in (*get_args(Part), *get_args(Delta), *get_args(ToolEvent))},
}
_NAMES = {member: name for name, member in _DOCUMENTS.items()}
_BY_MODULE = {
    "calls": "OutputSchema Sampling",
    "costs": "CostSums",
    "evidence": "Check Evidence Source Verification",
    "media_controls": "MediaControls",
    "media_decisions": "DrawnText MediaAnchor MediaLoss MediaSent MediaText",
    "media_facts": "MediaFacts MediaProgress",
    "media_results": "HeardReply MediaResult MediaVerification SpokenPiece SpokenWord TranscriptResult",
    "pairs": "PairFault",
    "parts": "Citation",
    "provider_resources": "CachedContent StoredFile",
    "records": "CostRange ErrorRecord InteractionRecord Plan ToolApproval ToolRecord",
    "replies": "Billing CallWarning",
    "responses": "AttemptRecord EvidenceMap",
    "tool_loops": "AllowedCall InputRequest InputResponse OutputAttempt PendingCall Question",
    "tool_steps": "CallProgress",
    "tools": "CachePoint HostedTool ToolChoice",
    "transcripts": "DroppedSpan TranscriptSegment TranscriptWord",
}
"""The other public values of the schema, by their modules, which are imported when a document is of one: all that a
call is given, returns, asks or reports can be kept or sent as JSON. Not `MediaDecision`, which has a field `type`
itself: it is written in its plan or response.
"""
_OTHERS = {_type_name(name): (module, name) for module, names in _BY_MODULE.items() for name in names.split()}


def _class_of(type_name: str) -> type | None:
    """Returns the class for a document type; None for an unknown type."""
    if type_name in _OTHERS:
        module, name = _OTHERS[type_name]
        return cast(type, getattr(import_module(f".{module}", __package__), name))
    return _DOCUMENTS.get(type_name)


def _name_of(cls: type) -> str | None:
    """Returns the document type of a class; None for a class without one."""
    found = _NAMES.get(cls)
    if found is None and cls.__module__.rpartition(".")[0] == __package__:
        name = _type_name(cls.__name__)
        return name if name in _OTHERS else None
    return found


def to_json(value: object) -> str:
    """Returns a schema object as a JSON document with `type` and `schema_version`.

    Raises `SchemaError` for an object of a class without a document type, and as `to_data` does.
    """
    name = _name_of(type(value))
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
    cls = _class_of(str(document.get("type")))
    if cls is None:
        raise SchemaError(f"unknown type {shown(document.get('type'))}", "type")
    if not issubclass(cls, expected):
        raise SchemaError(f"expected a {expected.__name__}, got a {cls.__name__}", "type")
    if not hasattr(cls, "type"):
        del document["type"]
    return from_data(cast("type[object]", cls), document)
