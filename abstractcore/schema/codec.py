"""The schema as JSON, both ways, and as a digest. Reading checks everything and names the path of what does not fit."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from .blobs import Blob
from .calls import ModelCall, ToolSpec
from .deltas import Delta
from .json_values import JSONValue, SchemaError, check_depth, check_key, check_number, check_text, freeze
from .messages import Message
from .parts import Part
from .replies import ModelReply
from .responses import GenerateResponse

SCHEMA_VERSION = 1
T = TypeVar("T")
_Reader = Callable[[object, str], object]

_DOCUMENTS: dict[str, type] = {
    "model_call": ModelCall,
    "model_reply": ModelReply,
    "generate_response": GenerateResponse,
    "message": Message,
    "tool_spec": ToolSpec,
    "blob": Blob,
    **{member.type: member for member in (*get_args(Part), *get_args(Delta))},
}
_NAMES = {member: name for name, member in _DOCUMENTS.items()}


def to_data(value: object) -> JSONValue:
    """A schema object as plain JSON values: fields at their default left out, bytes as base64.

    Raises `SchemaError` with the path for what JSON cannot carry.
    """
    return _to_data(value, 0, canonical=False)


def _to_data(value: object, depth: int, canonical: bool) -> JSONValue:
    """`canonical` writes of a blob only what makes it equal to another."""
    if isinstance(value, str):
        return check_text(value)
    if canonical and isinstance(value, Blob):
        return cast("dict[str, JSONValue]", value.identity())
    if is_dataclass(value):
        return _object_to_data(value, canonical)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return check_number(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    check_depth(depth)
    if isinstance(value, tuple | list):
        return _items_to_data(cast("list[object]", value), depth + 1, canonical)
    if isinstance(value, Mapping):
        return _entries_to_data(cast("Mapping[object, object]", value), depth + 1, canonical)
    return freeze(value)


def _items_to_data(items: Iterable[object], depth: int, canonical: bool) -> list[JSONValue]:
    """The path of what does not fit is put together on the way out: most of the time nothing is wrong."""
    data: list[JSONValue] = []
    try:
        for item in items:
            data.append(_to_data(item, depth, canonical))  # noqa: PERF401 - its length says which item failed
    except SchemaError as error:
        raise error.at(f"[{len(data)}]") from None
    return data


def _entries_to_data(entries: Mapping[object, object], depth: int, canonical: bool) -> dict[str, JSONValue]:
    data: dict[str, JSONValue] = {}
    for key, item in entries.items():
        name = check_key(key)
        try:
            data[name] = _to_data(item, depth, canonical)
        except SchemaError as error:
            raise error.at(name) from None
    return data


def _object_to_data(value: object, canonical: bool) -> dict[str, JSONValue]:
    tag, written = _written_fields(type(value))
    data, name = tag.copy(), ""
    try:
        for name, default in written:
            item = getattr(value, name)
            if item is not default and (default is MISSING or item != default):
                data[name] = _to_data(item, 0, canonical)
    except SchemaError as error:
        raise error.at(name) from None
    return data


@cache
def _written_fields(cls: type) -> tuple[dict[str, JSONValue], tuple[tuple[str, object], ...]]:
    """The tag that stands first, if there is one; the fields with their defaults."""
    tag = getattr(cls, "type", None)
    written = tuple((field.name, field.default) for field in fields(cast(Any, cls)) if field.init)
    return {"type": tag} if isinstance(tag, str) else {}, written


def to_json(value: object) -> str:
    """A schema object as a JSON document that names its type and `schema_version`."""
    data = cast("dict[str, JSONValue]", to_data(value))
    return json.dumps(
        {"schema_version": SCHEMA_VERSION, "type": _document_name(type(value)), **data}, ensure_ascii=False
    )


def _document_name(cls: type) -> str:
    name = _NAMES.get(cls)
    if name is None:
        raise SchemaError(f"a {cls.__name__} is not a document of its own")
    return name


def from_json(text: str | bytes) -> object:
    """The schema object that a document written by `to_json` holds.

    Raises `SchemaError` for broken JSON, an unknown type or version, and anything that does not fit, with its path.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"not a JSON document: {error}") from None
    if not isinstance(data, dict):
        raise SchemaError("a document is a JSON object")
    document = cast("dict[str, object]", data)
    version = document.pop("schema_version", None)
    if type(version) is not int or version != SCHEMA_VERSION:
        raise SchemaError(f"version {version!r} is not {SCHEMA_VERSION}, the one this release reads", "schema_version")
    cls = _DOCUMENTS.get(str(document.get("type")))
    if cls is None:
        raise SchemaError(f"unknown type {document.get('type')!r}", "type")
    if not hasattr(cls, "type"):
        del document["type"]
    return from_data(cast("type[object]", cls), document)


def from_data(cls: type[T], data: object, path: str = "") -> T:
    """The object of class `cls` that `to_data` gave `data` for; raises `SchemaError` with the path of what is wrong."""
    return cast(T, _reader(cls)(data, path))


def canonical_json(value: object) -> str:
    """The one JSON text of a value: sorted keys, no spaces, fields at their default left out.

    A blob stands in it by its hash, wherever its content is, so it cannot be read back.
    """
    data = _to_data(value, 0, canonical=True)
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    """SHA-256 of `canonical_json(value)` in hex: the same for the same content, in every process."""
    return hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest()


@cache
def _reader(hint: Any) -> _Reader:
    """A function that reads a value of the type `hint` from JSON data."""
    origin = get_origin(hint)
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
    if is_dataclass(hint):
        return _object_reader(cast(type, hint))
    return _scalar_reader(hint)


def _scalar_reader(hint: type) -> _Reader:
    def read(data: object, path: str) -> object:
        if hint is str:
            return check_text(data, path)
        if hint is bytes:
            return _read_bytes(data, path)
        if hint is float and type(data) is int:
            return float(check_number(data, path))
        if type(data) is not hint:
            raise SchemaError(f"expected {hint.__name__}, got {type(data).__name__}", path)
        return freeze(data, path)

    return read


def _read_bytes(data: object, path: str) -> bytes:
    try:
        return base64.b64decode(check_text(data, path), validate=True)
    except (binascii.Error, ValueError) as error:
        raise SchemaError(f"not base64: {error}", path) from None


def _literal_reader(values: tuple[object, ...]) -> _Reader:
    def read(data: object, path: str) -> object:
        if data not in values:
            raise SchemaError(f"{data!r} is not one of {', '.join(map(str, values))}", path)
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

    def read(data: object, path: str) -> object:
        if data is None and type(None) in members:
            return None
        if tagged and isinstance(data, Mapping):
            tag = cast("Mapping[str, object]", data).get("type")
            if tag not in tagged:
                raise SchemaError(f"unknown type {tag!r}: expected one of {', '.join(tagged)}", f"{path}.type")
            return _reader(tagged[cast(str, tag)])(cast(object, data), path)
        return _first_that_reads(others or list(tagged.values()), cast(object, data), path)

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
        """Field types are resolved at the first read, since classes refer to each other."""
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
