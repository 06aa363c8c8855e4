"""Reads the deltas of replies: to their end, and with the names of the call where the request had others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from ..errors import AbstractCoreError, ServerError
from ..ports import Answer, CallContext, DeltaStream, OperationResult
from ..schema import (
    CallWarning,
    Delta,
    ModelReply,
    SchemaError,
    SentNames,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    accumulate,
    deltas_of,
    partial_reply,
)
from ..schema.sent_names import PropertyNameReplacer

if TYPE_CHECKING:
    from ..schema.sent_names import PropertyNameReplacer


class DeltaReader(Protocol):
    """Reads the deltas of one reply, and returns those for the user. `warnings` are those so far."""

    warnings: list[CallWarning]

    def feed(self, deltas: list[Delta]) -> list[Delta]:
        """Returns the deltas that are certain so far."""
        ...

    def finish(self) -> list[Delta]:
        """Returns the rest of a reply that has ended, also without its last delta."""
        ...


def read_reply(reply: ModelReply, reader: DeltaReader) -> ModelReply:
    """Returns a whole reply as `reader` reads it, with the warnings of what it repaired."""
    found = accumulate([*reader.feed(deltas_of(reply)), *reader.finish()])
    return replace(found, warnings=(*reply.warnings, *reader.warnings))


class ReadStream:
    """A stream whose text is read. Warnings of what was repaired are added to those of the call. The `partial` of an
    error holds what was read so far: complete calls as calls, and nothing of one that is cut off.
    """

    def __init__(self, stream: DeltaStream, reader: DeltaReader, context: CallContext) -> None:
        self._stream = stream
        self._reader = reader
        self._context = context
        self._deltas: list[Delta] = []
        self._ended = False

    async def read(self) -> list[Delta]:
        """Returns the next deltas; an empty list at the end."""
        while not self._ended:
            try:
                batch = await self._stream.read()
            except AbstractCoreError as error:
                if error.partial is not None:
                    error.partial = partial_reply(self._deltas)
                raise
            self._ended = not batch
            read = self._reader.feed(batch) if batch else self._reader.finish()
            if self._reader.warnings:
                self._context.warnings += self._reader.warnings
                self._reader.warnings = []
            if read:
                self._deltas += read
                return read
        return []

    async def close(self) -> None:
        """Releases the connection."""
        await self._stream.close()

    def abort(self) -> None:
        """Closes the connection."""
        self._stream.abort()


def restore_names(answer: Answer, names: SentNames, context: CallContext) -> Answer:
    """Returns the answer to a request with `names`, with the call's own names."""
    if isinstance(answer, ModelReply):
        return read_reply(answer, NameRestorer(names))
    if isinstance(answer, OperationResult):
        return answer
    return ReadStream(answer, NameRestorer(names), context)


class NameRestorer:
    """Restores the names in the deltas of one reply: of the tools that it calls, and of the properties of arguments and
    of the typed answer. Deltas are counted anew.
    """

    def __init__(self, names: SentNames) -> None:
        self._names = names
        self._texts: dict[int, PropertyNameReplacer] = {}
        self._arguments: dict[int, PropertyNameReplacer] = {}
        self._sequence = 0
        self.warnings: list[CallWarning] = []

    def feed(self, deltas: list[Delta]) -> list[Delta]:
        """Returns the deltas that are certain so far."""
        out: list[Delta] = []
        for delta in deltas:
            if isinstance(delta, ToolCallStart):
                _begin(self._arguments, delta.block, self._names.arguments.get(delta.name))
                self._add(out, replace(delta, name=self._names.tools.get(delta.name, delta.name)))
            elif isinstance(delta, TextStart):
                _begin(self._texts, delta.block, self._names.output)
                self._add(out, replace(delta))
            elif isinstance(delta, ToolCallDelta) and delta.block in self._arguments:
                self._put_arguments(delta.block, self._arguments[delta.block].feed(delta.arguments_text), out)
            elif isinstance(delta, TextDelta) and delta.block in self._texts:
                self._put_text(delta.block, self._texts[delta.block].feed(delta.text), out)
            else:
                if isinstance(delta, ToolCallEnd | TextEnd):
                    self._put_rest(delta.block, out)
                self._add(out, replace(delta))
        return out

    def finish(self) -> list[Delta]:
        """Returns the deltas that blocks without an end hold back."""
        out: list[Delta] = []
        for block in (*self._texts, *self._arguments):
            self._put_rest(block, out)
        return out

    def _put_rest(self, block: int, out: list[Delta]) -> None:
        if block in self._texts:
            self._put_text(block, self._texts[block].finish(), out)
        elif block in self._arguments:
            self._put_arguments(block, self._arguments[block].finish(), out)

    def _put_text(self, block: int, text: str, out: list[Delta]) -> None:
        if text:
            self._add(out, TextDelta(0, block, text))

    def _put_arguments(self, block: int, text: str, out: list[Delta]) -> None:
        if text:
            self._add(out, ToolCallDelta(0, block, text))

    def _add(self, out: list[Delta], delta: Delta) -> None:
        delta.sequence = self._sequence
        self._sequence += 1
        out.append(delta)


def _begin(replacers: dict[int, PropertyNameReplacer], block: int, names: Mapping[str, str] | None) -> None:
    """Begins a block, unless it goes on after its end."""
    if names and block not in replacers:
        replacers[block] = PropertyNameReplacer(names)


async def read_to_end(stream: DeltaStream) -> ModelReply:
    """Returns the reply that a stream accumulates to."""
    deltas: list[Delta] = []
    while batch := as_batch(await stream.read()):
        deltas += batch
    return complete(deltas)


def as_batch(batch: list[Delta]) -> list[Delta]:
    """Returns `batch`; raises `ServerError` unless it is a list of deltas."""
    if isinstance(batch, list):  # pyright: ignore[reportUnnecessaryIsInstance]
        return batch
    raise ServerError(f"the stream returned a {type(batch).__name__}: expected a list of deltas")


def complete(deltas: Sequence[Delta]) -> ModelReply:
    """Returns the reply that deltas accumulate to; raises `ServerError` if it is invalid."""
    try:
        return accumulate(deltas)
    except SchemaError as error:
        raise ServerError(f"the reply does not match the schema: {error}") from error


class WholeReply:
    """A complete reply (from a cache, for example) as a stream."""

    def __init__(self, reply: ModelReply) -> None:
        self._deltas = deltas_of(reply)

    async def read(self) -> list[Delta]:
        """Returns all deltas, then an empty list."""
        deltas, self._deltas = self._deltas, []
        return deltas

    async def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def abort(self) -> None:
        """Does nothing: there is no connection."""
