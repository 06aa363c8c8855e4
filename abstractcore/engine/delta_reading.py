"""Replies whose deltas are read before the user gets them, whole and streamed."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from ..errors import AbstractCoreError
from ..ports import CallContext, DeltaStream
from ..schema import CallWarning, Delta, ModelReply, accumulate, deltas_of, partial_reply


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
