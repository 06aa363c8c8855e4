"""`ToolContext`: what a tool may know of the call that it is part of.

`Journal`: where the events of a loop of tool calls are noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from .. import schema
from ..copying import NotCopied
from ..schema import ToolCall
from .runtimes import Runtime

D = TypeVar("D")


def _no_progress(done: float, total: float | None, message: str | None) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True)  # with slots, `ToolContext[X](...)` raises a TypeError in Python 3.11
class ToolContext(NotCopied, Generic[D]):
    """A tool's view of its call. A parameter annotated with `ToolContext` gets it; the model does not see it.

    `deps` is the caller's own object, given as `generate(deps=...)`; it is never serialised, and given anew on resume.
    `llm` is the LLM of the call. `trace_id` is that of the loop, `deadline` the end of the call of `generate` on the
    runtime's clock, in seconds, or None. `input` holds the answers to what the tool asked before, by raising
    `InputRequired`. `round` is the index of the reply that made the call.
    """

    _holds = "a running call"
    _instead = "Pass on what is needed of it, such as `context.deps` or `context.call`."

    deps: D = field(repr=False)
    llm: Any
    call: ToolCall
    trace_id: str
    runtime: Runtime = field(repr=False)
    deadline: float | None = None
    on_progress: Callable[[float, float | None, str | None], None] = field(default=_no_progress, repr=False)
    input: schema.InputResponse | None = None
    round: int = 0

    @property
    def idempotency_key(self) -> str:
        """The same text whenever this call is run, also after a crash, and another one for every other call: services
        that accept such a key do the work once. SHA-256 of the loop, the round, the call and the answers of the user.
        """
        request = None if self.input is None else self.input.request
        given = () if self.input is None else self.input.answers
        key = schema.call_digest(self.call, self.trace_id, self.round, input=request)
        return key if not given else schema.digest({"call": key, "answers": given})

    @property
    def call_id(self) -> str:
        """The id of the tool call."""
        return self.call.id

    @property
    def seconds_left(self) -> float | None:
        """The seconds until the call of `generate` times out, or None."""
        return None if self.deadline is None else max(0.0, self.deadline - self.runtime.now())

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Reports progress: `done` of `total`, in units of the tool's own, as an event."""
        self.on_progress(done, total, message)


@runtime_checkable
class Journal(Protocol):
    """Where the events of one loop are noted, in order, so that it can be continued after a crash. `append` may be
    called from several threads at once.

    After an exception of `append` that is no `JournalError`, and after `JournalLost`, nothing more is written.
    """

    def open(self) -> Iterable[schema.JournalEntry]:
        """Returns the events so far, and keeps other processes from writing until `close`."""
        ...

    def append(self, entry: schema.JournalEntry) -> None:
        """Notes an event, durably, before it returns. Raises `JournalError` if it cannot, or is not
        open, and `JournalLost` if another process continues the loop.
        """
        ...

    def close(self) -> None:
        """Lets other processes write. A closed journal can be opened again."""
        ...
