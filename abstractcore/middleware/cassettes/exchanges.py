"""`RecordedExchange`: a line of a cassette, and its JSON.

Texts of recorded streams, each changed as a whole: a credential may be divided over several deltas.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from ... import errors
from ...errors import AbstractCoreError, CassetteError
from ...schema import (
    EMPTY,
    Delta,
    JSONObject,
    JSONValue,
    ModelReply,
    ReasoningDelta,
    SchemaError,
    TextDelta,
    ToolCallDelta,
    canonical_json,
    freeze,
    from_data,
    to_data,
)

VERSION = 1


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request without its credentials. `body_base64` holds a body that is not JSON, as bytes."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    body: JSONValue = None
    body_base64: bytes | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """A key that is equal for requests with the same responses."""
        return self.method, self.path, canonical_json([self.body, self.body_base64])


@dataclass(frozen=True, slots=True)
class RecordedError:
    """An error: the name of its class, its message, and its other attributes that are numbers and texts."""

    kind: str
    message: str
    details: JSONObject = EMPTY

    def __post_init__(self) -> None:
        if _error_class(self.kind) is None:
            raise SchemaError(f"unknown error class {self.kind!r}", "kind")

    @classmethod
    def of(cls, error: AbstractCoreError) -> RecordedError:
        """Returns `error` as data; a class of a plugin is recorded as its base class in `abstractcore.errors`."""
        kind = next(each.__name__ for each in type(error).__mro__ if _error_class(each.__name__) is each)
        plain = {name: value for name, value in vars(error).items() if isinstance(value, str | int | float)}
        del plain["message"]
        return cls(kind, error.message, plain)

    def to_exception(self) -> AbstractCoreError:
        """Returns the error."""
        error = (_error_class(self.kind) or AbstractCoreError)(self.message)
        vars(error).update(self.details)
        return error


def _error_class(name: str) -> type[AbstractCoreError] | None:
    found = getattr(errors, name, None)
    return found if isinstance(found, type) and issubclass(found, AbstractCoreError) else None


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """The body of an HTTP response that is not a model's reply; `body_base64` holds one that is not JSON, as bytes.

    `headers` are those that the operation reads.
    """

    body: JSONValue = None
    body_base64: bytes | None = None
    headers: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    @classmethod
    def of(cls, body: bytes, headers: Mapping[str, str] = EMPTY) -> RecordedResponse:  # pyright: ignore[reportArgumentType]
        """Returns the record of a response with this body."""
        try:
            return cls(freeze(json.loads(body)), headers=headers)
        except (ValueError, RecursionError):
            return cls(body_base64=body, headers=headers)

    def content(self) -> bytes:
        """Returns the body."""
        return json.dumps(to_data(self.body)).encode() if self.body_base64 is None else self.body_base64


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """A request and its result: a reply, the response to another operation (counting tokens), the batches of a stream,
    an error, or batches and an error.

    `status` and `request_id` are those of the HTTP response, if there was one.
    """

    request: RecordedRequest
    status: int | None = None
    request_id: str | None = None
    reply: ModelReply | None = None
    response: RecordedResponse | None = None
    batches: tuple[tuple[Delta, ...], ...] | None = None
    left: bool = False
    error: RecordedError | None = None

    def __post_init__(self) -> None:
        if self.reply is None and self.response is None and self.batches is None and self.error is None:
            raise SchemaError("has no reply, response, batches or error")


def line_of(data: JSONObject) -> bytes:
    """Returns the line of an exchange."""
    entries = {"cassette": VERSION, "request": data["request"], **data}
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8") + b"\n"


def exchange_in(line: bytes, where: str) -> RecordedExchange:
    """Returns the exchange of a line; raises `CassetteError`, which names `where`."""
    if not line.endswith(b"\n"):
        raise CassetteError(f"{where}: the line is incomplete")
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CassetteError(f"{where}: not JSON: {error}") from None
    if not isinstance(data, dict) or "cassette" not in data:
        raise CassetteError(f"{where}: not a line of a cassette")
    entries = cast("dict[str, object]", data)
    version = entries.pop("cassette")
    if version != VERSION:
        raise CassetteError(f"{where}: version {version!r} is not supported: this release reads version {VERSION}")
    try:
        return from_data(RecordedExchange, entries)
    except SchemaError as error:
        raise CassetteError(f"{where}: {error}") from None


Batches: TypeAlias = "tuple[tuple[Delta, ...], ...]"
_Growing: TypeAlias = TextDelta | ReasoningDelta | ToolCallDelta


def with_whole_texts(batches: Batches, change: Callable[[str], str]) -> Batches:
    """Returns the batches of a stream with `change` applied to the whole text of each block.

    Text before and after the change stays in its delta; what replaces the rest is in one.
    """
    blocks: defaultdict[tuple[type[Delta], int], list[_Growing]] = defaultdict(list)
    for delta in (delta for batch in batches for delta in batch):
        if isinstance(delta, _Growing):
            blocks[type(delta), delta.block].append(delta)
    changed: dict[int, Delta] = {}
    for deltas in blocks.values():
        texts = [_text_of(delta) for delta in deltas]
        for delta, before, after in zip(deltas, texts, _change_together(texts, change), strict=True):
            if before != after:
                changed[id(delta)] = _with_text(delta, after)
    return tuple(tuple(changed.get(id(delta), delta) for delta in batch) for batch in batches)


def _text_of(delta: _Growing) -> str:
    return delta.arguments_text if isinstance(delta, ToolCallDelta) else delta.text


def _with_text(delta: _Growing, text: str) -> Delta:
    return replace(delta, arguments_text=text) if isinstance(delta, ToolCallDelta) else replace(delta, text=text)


def _change_together(texts: Sequence[str], change: Callable[[str], str]) -> Sequence[str]:
    """Returns `texts`, with `change` applied to all of them together."""
    whole = "".join(texts)
    clean = change(whole)
    if clean == whole:
        return texts
    begin = _common_prefix(whole, clean)
    kept = _common_prefix(whole[begin:][::-1], clean[begin:][::-1])
    end, new = len(whole) - kept, clean[begin : len(clean) - kept]
    divided: list[str] = []
    position = 0
    for text in texts:
        left, right = text[: max(begin - position, 0)], text[max(end - position, 0) :]
        holds_new = position <= begin < position + len(text)
        divided.append(left + new + right if holds_new else left + right)
        position += len(text)
    return divided


def _common_prefix(left: str, right: str) -> int:
    """Returns the length of the common prefix."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (ours, theirs) in pairs if ours != theirs), min(len(left), len(right)))
