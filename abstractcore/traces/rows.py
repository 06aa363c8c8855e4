"""Records as rows: columns for what is searched and summed, contents by their digest, the rest as JSON; and back."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from ..errors import SchemaError
from ..schema import (
    CallRecord,
    InteractionRecord,
    ModelCall,
    ModelReply,
    ToolRecord,
    TraceRecord,
    Usage,
    from_data,
)
from ..schema.codec import json_of
from .column_values import (
    cost_of,
    digest_of,
    hex_of,
    month_of,
    outcome_in_sums,
    outcome_of,
    picodollars,
    retried,
    retried_models,
    searchable_tags,
    tags_of,
)
from .contents import StoredContent, contents_of, deflated, inflated, sha256_of
from .record_fields import OF_RECORD, RecordFields, defaults, fields_apart, other_fields, without_value
from .tables import FILES_FROM

_LARGE = 500
"""A value whose JSON is longer is a content: tools are the same in many calls."""
_CONTENTS = frozenset({"input", "result", "arguments"})
_NONE: Final = object()
_ROW_BYTES: Final = 1_000
"""About how much memory the columns of a row take."""
_MOVED = "~"
"""The key of the names of values that are contents, in the order of the positions -1, -2 and so on."""
_KINDS: Final[dict[type, str]] = {CallRecord: "call", InteractionRecord: "interaction", ToolRecord: "tool"}
_CLASSES: Final[dict[str, Any]] = {kind: cls for cls, kind in _KINDS.items()}


@dataclass(slots=True)
class EncodedRecord:
    """A record as a row: `values` by the names of the columns, but for `id`, and contents by their positions."""

    values: dict[str, Any]
    contents: list[tuple[int, StoredContent]]

    @property
    def size(self) -> int:
        """About how many bytes it holds."""
        return _ROW_BYTES + len(self.values["detail"]) + sum(len(content.body) for _, content in self.contents)


def encoded(record: TraceRecord, *, searchable: bool) -> EncodedRecord:
    """Returns a record as a row; its texts are found by their words if they are `searchable`."""
    given: Any = record
    cls: type[Any] = type(record)
    detail = _written(record, other_fields(cls))
    contents = _Contents(searchable)
    usage = _NO_USAGE
    if isinstance(record, CallRecord):
        usage = record.usage
        if _more_than_counts(usage):
            detail["usage"] = json_of(usage)
        if record.call is not None:
            detail["call"] = _call(record.call, record, contents)
        if record.reply is not None:
            detail["reply"] = _reply(record.reply, record, contents)
    contents.move(detail)
    is_tool = isinstance(record, ToolRecord)
    values = {
        "month": month_of(record.started_at),
        "kind": _KINDS[cls],
        "trace_id": record.trace_id,
        "parent_id": record.parent_id,
        "provider": "" if is_tool else given.provider,
        "model": given.tool if is_tool else given.model,
        "operation": given.operation if isinstance(record, CallRecord) else "tool" if is_tool else given.kind,
        "outcome": outcome_in_sums(record),
        "started_at": record.started_at,
        "seconds": record.seconds,
        "seconds_to_first": getattr(record, "seconds_to_first", None),
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cached_tokens": usage.cached,
        "cost": picodollars(getattr(record, "cost", None), "cost", detail),
        "estimated_cost": picodollars(getattr(record, "estimated_cost", None), "estimated_cost", detail),
        "saved_cost": picodollars(getattr(record, "saved_cost", None), "saved_cost", detail),
        "retried_cost": retried(record, "cost"),
        "retried_estimated": retried(record, "estimated_cost"),
        "retried_models": retried_models(record),
        "tags": searchable_tags(record.tags, detail) if record.tags else None,
        "call_digest": digest_of(getattr(record, "call_digest", None), "call_digest", detail),
        "reply_digest": digest_of(getattr(record, "reply_digest", None), "reply_digest", detail),
        "detail": deflated(_object(detail)),
    }
    return EncodedRecord(values, contents.found)


def decoded(row: Any, bodies: Mapping[int, bytes]) -> TraceRecord:
    """Returns the record of a row, with contents by their positions; raises `SchemaError` for one that is damaged."""
    try:
        data = _data(row, bodies)
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise SchemaError(f"the stored record {row.trace_id!r} is damaged: {type(error).__name__}") from None
    return from_data(_CLASSES[row.kind], data)


class _Contents:
    """The contents of a record that is encoded."""

    def __init__(self, searchable: bool) -> None:
        self.found: list[tuple[int, StoredContent]] = []
        self._searchable = searchable
        self._files = 0

    def add(self, position: int, body: bytes) -> None:
        """Adds a content; its large files become contents of their own."""
        content, *files = contents_of(body, searchable=self._searchable)
        self.found.append((position, content))
        for file in files:
            self.found.append((FILES_FROM + self._files, file))
            self._files += 1

    def move(self, detail: dict[str, bytes]) -> None:
        """Makes contents of large values."""
        moved = [name for name, value in detail.items() if name in _CONTENTS or len(value) > _LARGE]
        for number, name in enumerate(moved, 1):
            self.add(-number, detail.pop(name))
        if moved:
            detail[_MOVED] = json.dumps(moved).encode()


def _call(call: ModelCall, record: CallRecord, contents: _Contents) -> bytes:
    for position, message in enumerate(call.messages):
        contents.add(position, json_of(message))
    rest = _rest(call, "messages", record)
    rest["messages"] = str(len(call.messages)).encode()
    return _object(rest)


def _reply(reply: ModelReply, record: CallRecord, contents: _Contents) -> bytes:
    """The content is that of the message which the reply becomes in the next call: they are stored once."""
    position = len(record.call.messages) if record.call is not None else 0
    contents.add(position, b'{"parts":' + json_of(reply.parts) + b',"role":"assistant"}')
    return _object(_rest(reply, "parts", record))


def _rest(value: Any, without: str, record: CallRecord) -> dict[str, bytes]:
    """Returns the fields of a call or a reply that are neither at their default nor those of its record."""
    rest = _written(value, fields_apart(value.__class__, without))
    for name in OF_RECORD:
        field = getattr(value, name, _NONE)
        if field is not _NONE and field != getattr(record, name):
            rest[name] = json_of(field)
    return rest


def _written(value: Any, fields: RecordFields) -> dict[str, bytes]:
    """Returns the JSON of the fields of a value that differ from what is not written."""
    return {
        name: json_of(field)
        for (name, absent), field in zip(fields.absent, fields.of(value), strict=True)
        if field is not absent and field != absent
    }


def _object(written: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join([b'"%s":%s' % (name.encode(), value) for name, value in written.items()]) + b"}"


def _data(row: Any, bodies: Mapping[int, bytes]) -> dict[str, Any]:
    cls = _CLASSES[row.kind]
    detail: dict[str, Any] = json.loads(inflated(bytes(row.detail)))
    for number, name in enumerate(detail.pop(_MOVED, ()), 1):
        detail[name] = json.loads(bodies[-number])
    data: dict[str, Any] = {**without_value(cls)}
    data |= {"trace_id": row.trace_id, "parent_id": row.parent_id, "outcome": outcome_of(row)}
    data |= {"started_at": float(row.started_at), "seconds": float(row.seconds), "tags": tags_of(row)}
    if cls is ToolRecord:
        data |= {"tool": row.model, "cost": cost_of(row.cost)}
        return {**data, **_with_files(detail, bodies)}
    first = row.seconds_to_first
    data |= {"provider": row.provider, "model": row.model, "seconds_to_first": first if first is None else float(first)}
    if cls is InteractionRecord:
        return {**data, **detail, "kind": row.operation}
    counts = {"input": row.input_tokens, "output": row.output_tokens, "cached": row.cached_tokens}
    data["usage"] = {name: count for name, count in counts.items() if count is not None}
    data |= {"operation": row.operation, "cost": cost_of(row.cost), "estimated_cost": cost_of(row.estimated_cost)}
    data["saved_cost"] = cost_of(row.saved_cost)
    data |= {
        "call_digest": hex_of(row.call_digest),
        "reply_digest": hex_of(row.reply_digest),
        "call": None,
        "reply": None,
    }
    data |= detail
    count = 0
    if data["call"] is not None:
        count = data["call"].pop("messages")
        messages = [json.loads(bodies[position]) for position in range(count)]
        data["call"] = {**_filled(data["call"], data, ModelCall), "messages": messages}
    if data["reply"] is not None:
        parts = json.loads(bodies[count])["parts"]
        data["reply"] = {**_filled(data["reply"], data, ModelReply), "parts": parts}
    return _with_files(data, bodies)


def _filled(rest: dict[str, Any], data: dict[str, Any], cls: type) -> dict[str, Any]:
    names = {name for name, _ in defaults(cls)}
    return {name: data[name] for name in OF_RECORD if name in names} | rest


def _with_files(value: Any, bodies: Mapping[int, bytes]) -> Any:
    """Returns data in which the files have their bytes."""
    files = {sha256_of(body): body for position, body in bodies.items() if position >= FILES_FROM}

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [*map(filled, cast("list[Any]", value))]
        if not isinstance(value, dict):
            return value
        result = {name: filled(each) for name, each in cast("dict[str, Any]", value).items()}
        if result.get("form") == "bytes" and "data" not in result and result.get("sha256") in files:
            result["data"] = base64.b64encode(files[result["sha256"]]).decode()
        return result

    return filled(value) if files else value


_NO_USAGE = Usage()


def _more_than_counts(usage: Usage) -> bool:
    """Whether it has more than the counts that have columns."""
    more = (usage.cache_written, usage.reasoning, usage.input_audio, usage.output_audio, usage.billing)
    return any(each is not None for each in more)
