"""A list as several requests: split by limits, made at once, and joined in order."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Final, TypeVar

from ..engine import Pipeline, Prepared, out_of_time
from ..engine.interactions import InteractionTrace
from ..errors import AbstractCoreError
from ..ports import CallContext, Operation, OperationResult, Runtime
from ..schema import CallWarning, EmbedItem, EmbedPart, TextPart, Usage
from ..schema.costs import HasDeferredCost, defer_cost, total_cost

T = TypeVar("T")
AnyError = TypeVar("AnyError", bound=AbstractCoreError)
AT_ONCE: Final = 8
"""How many requests are under way at a time; the limits of an LLM may allow fewer."""
_IN_JSON: Final = 8
"""Bytes of a text in a list in JSON, beside its own."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The most items, tokens and bytes of one request; None for any number."""

    items: int
    tokens: float | None = None
    bytes: int | None = None


def split(
    positions: Iterable[int], tokens: Sequence[int], sizes: Sequence[int], limits: BatchLimits
) -> list[list[int]]:
    """Returns positions as those of requests within limits, in their order. One item is always within them."""
    batches: list[list[int]] = []
    batch: list[int] = []
    batch_tokens = batch_bytes = 0
    for position in positions:
        more_tokens = batch_tokens + tokens[position]
        more_bytes = batch_bytes + sizes[position]
        is_full = (
            len(batch) == limits.items
            or (limits.tokens is not None and more_tokens > limits.tokens)
            or (limits.bytes is not None and more_bytes > limits.bytes)
        )
        if batch and is_full:
            batches.append(batch)
            batch, more_tokens, more_bytes = [], tokens[position], sizes[position]
        batch.append(position)
        batch_tokens, batch_bytes = more_tokens, more_bytes
    return [*batches, batch] if batch else batches


def size_in_json(item: EmbedItem) -> int:
    """Returns about how many bytes an item has in a request."""
    return sum(map(_part_size, (item,) if isinstance(item, str) else item))


def _part_size(part: str | EmbedPart) -> int:
    if isinstance(part, TextPart):
        part = part.text
    if isinstance(part, str):
        escaped = part.count("\n") + part.count('"') + part.count("\\")
        return len(part.encode("utf-8", "surrogatepass")) + escaped + _IN_JSON
    return (part.blob.size or 0) * 4 // 3 + 100


class BatchCalls:
    """The requests for one list: each a call with a record of its own, all within the time of the whole.

    Of several, the records have a common parent, from `begin` on. `started` is when the whole began, on the runtime's
    clock.
    """

    def __init__(
        self, pipeline: Pipeline, operation: Operation[Any, Any], prepared: Prepared, timeout: float | None
    ) -> None:
        self.pipeline = pipeline
        self.started = pipeline.runtime.now()
        self.results: list[OperationResult[Any]] = []
        self.contexts: list[CallContext] = []
        self._operation = operation
        self._prepared = prepared.in_span()
        self._timeout = timeout
        self._trace: InteractionTrace | None = None

    @property
    def given(self) -> Any:
        """The input that all requests have in common."""
        return self._prepared.input

    def begin(self, calls: int) -> AbstractContextManager[None]:
        """Returns a block in which `calls` requests are made: the parent of several is reported at its end."""
        tracer = self.pipeline.tracer() if calls > 1 else None
        if tracer is None:
            return nullcontext()
        trace = self._trace = InteractionTrace(tracer, self.pipeline, "batches", self.pipeline.new_id())
        trace.begin(self._prepared, self.given, self._prepared.interaction or self.given.parent_id)
        trace.calls = calls
        return trace.ending()

    async def request(self, pipeline: Pipeline | None = None, **changes: object) -> OperationResult[Any]:
        """Returns the result for the common input with these changes, and keeps it; by the pipeline of the list, if no
        other one is given.
        """
        timeout = self._timeout
        left = None if timeout is None else self.started + timeout - self.pipeline.runtime.now()
        if left is not None and left <= 0:
            raise out_of_time(timeout)
        prepared = replace(self._prepared, input=self.given.with_(**changes), begun=self.contexts.append)
        if self._trace is not None:
            span = self._trace.trace_context
            prepared = replace(prepared, interaction=self._trace.trace_id, trace_context=span)

        async def prepare(runtime: Runtime) -> Prepared:
            return prepared

        result = await (pipeline or self.pipeline).operate(self._operation, prepare, left)
        if pipeline is None:
            self.results.append(result)
        return result

    def totals(self, warnings: Iterable[CallWarning] = ()) -> dict[str, Any]:
        """Returns what all requests have used and done, as fields of the result; the cost is deferred by `set_cost`."""
        usages = [each.usage for each in self.results]
        found = (*warnings, *(each for result in self.results for each in result.warnings))
        last = self.contexts[-1]
        return {
            "provider": last.input.provider,
            "model": next((each.value.model for each in self.results if each.value.model), None) or last.input.model,
            "usage": sum(usages[1:], usages[0]) if usages else Usage(0, 0),
            "warnings": tuple(dict.fromkeys(found)),
            "attempts": tuple(each for context in self.contexts for each in context.attempts),
            "trace_id": last.trace_id if self._trace is None else self._trace.trace_id,
            "seconds": self.pipeline.runtime.now() - self.started,
        }

    def set_cost(self, result: HasDeferredCost) -> None:
        """Sets the cost of a result to that of all requests, which is computed when it is read."""
        defer_cost(result, partial(total_cost, tuple(self.results)))


def prefix_error(error: AnyError, name: str, positions: Sequence[int]) -> AnyError:
    """Returns an error whose message begins with the positions, of the list `name`, that it is about."""
    first, last = positions[0], positions[-1]
    path = f"{name}[{first}]" if first == last else f"{name}[{first}] to {name}[{last}]"
    error.message = f"{path}: {error.message}"
    error.args = (error.message, *error.args[1:])
    return error


async def run_all(runtime: Runtime, jobs: Sequence[T], work: Callable[[T], Awaitable[object]]) -> None:
    """Does `work` for each of the jobs, some of them at once, in their order.

    After a failure no further one begins; those under way end, and the first failure is raised.
    """
    left = deque(jobs)
    failures: list[AbstractCoreError] = []

    async def take() -> None:
        while not failures:
            try:
                job = left.popleft()
            except IndexError:
                return
            try:
                await work(job)
            except AbstractCoreError as error:
                failures.append(error)

    await runtime.gather(*[take] * min(AT_ONCE, len(jobs)))
    if failures:
        raise failures[0]


def windows(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yields lists of `size` items each, the last one of fewer, and reads no further than these."""
    source = iter(items)
    while window := list(islice(source, size)):
        yield window


async def async_windows(items: Iterable[T] | AsyncIterable[T], size: int) -> AsyncIterator[list[T]]:
    """The same of an async iterator, or of any other."""
    if not isinstance(items, AsyncIterable):
        for each in windows(items, size):
            yield each
        return
    window: list[T] = []
    async for item in items:
        window.append(item)
        if len(window) == size:
            yield window
            window = []
    if window:
        yield window
