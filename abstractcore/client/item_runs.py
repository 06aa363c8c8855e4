"""`ItemRun`: a call for each of many items, some at once. `MapResults`: the responses and errors, in their order."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast, overload

from ..concurrency.functions import is_async
from ..concurrency.shared_items import SharedItems
from ..engine import Pipeline, Prepare, Prepared
from ..engine.interactions import InteractionTrace
from ..errors import InvalidInputError, OutputValidationError
from ..ports import Interruption, Runtime, current_interruption
from ..schema import CostSource, GenerateResponse, Usage
from ..schema.base_error import shown
from ..schema.costs import CostSums, HasDeferredCost, defer_cost, total_cost
from ..schema.reprs import RichDisplay
from .options import CallRequest
from .pipelines import PreparedRequest

T = TypeVar("T")
MapItem: TypeAlias = "str | tuple[str | None, CallRequest]"
"""A prompt, or a prompt with options of its own, over those of all: `("Read it.", {"media": "a.pdf"})`."""
Progress: TypeAlias = Callable[[int, "int | None"], object]
"""A function of how many items are done, and of how many there are, if that is known."""
MOST_AT_ONCE: Final = 1_000
_ITEM_HINT: Final = 'For example: "a prompt", or ("a prompt", {"media": "report.pdf"}).'
_log = logging.getLogger("abstractcore")
_DONE: Final[Future[None]] = Future()
_DONE.set_result(None)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MapResults(HasDeferredCost, RichDisplay, Sequence["GenerateResponse[T] | Exception"], Generic[T]):
    """A response for each item, in their order; in its place the error of one that failed.

    `usage` and `cost`, in US dollars, are those of all responses, and of answers that did not match their type;
    `costs` has the sums. What other failed calls cost is in their records. `seconds` is how long it took.
    """

    results: tuple[GenerateResponse[T] | Exception, ...]
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    cost: Decimal | None = None
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()
    estimated_cost: Decimal | None = None
    cost_sums: CostSums | None = None

    @property
    def errors(self) -> dict[int, Exception]:
        """The errors, by the position of the item."""
        return {position: each for position, each in enumerate(self.results) if isinstance(each, Exception)}

    @property
    def outputs(self) -> list[T | None]:
        """The `output` of each response; None for an item that failed, and without `response_model`."""
        return [None if isinstance(each, Exception) else each.output for each in self.results]

    @property
    def contents(self) -> list[str | None]:
        """The text of each response; None for an item that failed."""
        return [None if isinstance(each, Exception) else each.content for each in self.results]

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, index: int) -> GenerateResponse[T] | Exception: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[GenerateResponse[T] | Exception, ...]: ...

    def __getitem__(self, index: int | slice) -> Any:
        return self.results[index]

    def __iter__(self) -> Iterator[GenerateResponse[T] | Exception]:
        return iter(self.results)

    def __display__(self) -> Iterator[object]:
        """Yields a table of the first items and of the first errors, and sums of all."""
        from ..schema.amounts import counted
        from ..schema.displays import MOST_ROWS, DisplayTable, SmallPrint, shown_facts

        failed = list(self.errors)
        shown_items = sorted({*range(len(self))[: MOST_ROWS - 10], *failed[:10]})
        yield DisplayTable([_item_row(item, self.results[item]) for item in shown_items], len(self))
        counts = [counted(len(self) - len(failed), "response"), counted(len(failed), "error")]
        yield SmallPrint([", ".join([*counts, shown_facts(self)])])

    def __repr__(self) -> str:
        from ..schema.amounts import counted

        failed = len(self.errors)
        done = f"{counted(len(self) - failed, 'response')}, {counted(failed, 'error')}"
        return f"<MapResults: {done}, in {self.seconds:.1f} s>"


def _item_row(item: int, result: GenerateResponse[Any] | Exception) -> dict[str, object]:
    from ..schema.amounts import cost_of, seconds
    from ..schema.displays import shown_error

    if isinstance(result, Exception):
        return {"item": item, "answer": None, "error": shown_error(result)}
    cost = cost_of(result.cost, result.estimated_cost, result.saved_cost)
    return {"item": item, "answer": result.content, "cost": cost, "time": seconds(result.seconds)}


class ItemRun:
    """One run over items: `request_of` returns the request of an item. `interruption` is the one of all calls."""

    def __init__(
        self,
        pipeline: Pipeline,
        items: Iterable[MapItem] | AsyncIterable[MapItem],
        request_of: Callable[[str | None, CallRequest], PreparedRequest],
        concurrency: int,
        on_progress: Progress | None,
        interruption: Interruption | None,
    ) -> None:
        self._pipeline = pipeline
        self._items: SharedItems[object] = SharedItems(items)
        self._total = _length(items)
        self._request_of = request_of
        self._concurrency = concurrency
        self._on_progress = on_progress
        self._interruption = interruption
        self._results: dict[int, GenerateResponse[Any] | Exception] = {}
        self._reporting = threading.Lock()
        self._trace: InteractionTrace | None = None

    async def results(self, first: PreparedRequest) -> MapResults[Any]:
        """Returns the results. `first` is a request as those of all items are, for the record of the whole."""
        runtime, begun = self._pipeline.runtime, self._pipeline.runtime.now()
        workers = self._concurrency if self._total is None else min(self._concurrency, self._total or 1)
        with await self._record(first):
            await runtime.gather(*[self._work] * workers, threads=workers)
            if self._trace is not None:
                self._trace.calls = len(self._results)
        return _results_of(self._results, runtime.now() - begun)

    async def _record(self, first: PreparedRequest) -> Any:
        """Returns a block that is one interaction, the parent of all calls, if a subscriber wants its record."""
        tracer = self._pipeline.tracer()
        if tracer is None:
            return nullcontext()
        prepared = (await first.prepare(self._pipeline.runtime)).in_span()
        trace = self._trace = InteractionTrace(tracer, self._pipeline, "batches", self._pipeline.new_id())
        trace.begin(prepared, prepared.input, prepared.interaction or prepared.input.parent_id)
        return trace.ending()

    async def _work(self) -> None:
        while (taken := await self._items.take()) is not None:
            position, item = taken
            try:
                result: GenerateResponse[Any] | Exception = await self._response(item, position)
            except Exception as error:
                _check_goes_on(error)
                result = error
            if self._interruption is not None and self._interruption.is_set and self._total is None:
                self._items.end()
            self._note(position, result)
            await self._pipeline.runtime.wait(_DONE)  # other tasks go on, also where all answers are there at once

    async def _response(self, item: object, position: int) -> GenerateResponse[Any]:
        request = self._request_of(*_read(item, position))
        if self._trace is not None:
            request = request._replace(prepare=partial(_within, self._trace, request.prepare))
        return await request.response(self._pipeline)

    def _note(self, position: int, result: GenerateResponse[Any] | Exception) -> None:
        """Keeps a result, and reports it: never two at once."""
        with self._reporting:
            self._results[position] = result
            if self._on_progress is None:
                return
            try:
                self._on_progress(len(self._results), self._total)
            except Exception:
                _log.exception("the function on_progress failed: it is not called again")
                self._on_progress = None


def _length(items: Any) -> int | None:
    """Returns how many items there are, as they say; None if they do not: some have a length that raises."""
    try:
        return len(items)
    except Exception:
        return None


def _results_of(found: Mapping[int, GenerateResponse[Any] | Exception], seconds: float) -> MapResults[Any]:
    results = tuple(found[position] for position in range(len(found)))
    billed: list[GenerateResponse[Any]] = []
    for each in results:
        response = each.response if isinstance(each, OutputValidationError) else each
        if isinstance(response, GenerateResponse):
            billed.append(response)
    made: MapResults[Any] = MapResults(results, sum((each.usage for each in billed), Usage()), seconds)
    defer_cost(made, partial(total_cost, billed))
    return made


async def _within(trace: InteractionTrace, prepare: Prepare, runtime: Runtime) -> Prepared:
    prepared = await prepare(runtime)
    return replace(prepared, interaction=trace.trace_id, trace_context=trace.trace_context)


def _check_goes_on(error: Exception) -> None:
    """Raises the error that a call has since the whole run was ended: by Ctrl-C, or a failure of the items."""
    whole = current_interruption()
    if whole is not None and whole.is_set:
        raise error


def _read(item: object, position: int) -> tuple[str | None, CallRequest]:
    """Returns the prompt of an item and its options; raises `InvalidInputError`."""
    if isinstance(item, str):
        return item, {}
    pair = cast("tuple[object, ...]", item) if isinstance(item, tuple) else ()
    if len(pair) == 2:
        prompt, options = pair
        if isinstance(prompt, str | None) and isinstance(options, Mapping):
            return prompt, cast("CallRequest", options)
    message = f"expected a prompt, or a prompt and a mapping of options, got {shown(cast('object', item))}"
    raise InvalidInputError(message, path=f"items[{position}]", hint=_ITEM_HINT)


def checked_items(items: Any, *, sync: bool) -> Any:
    """Returns the items; raises `InvalidInputError` for what is not a list of prompts, or async in sync calls."""
    kinds = Iterable if sync else (Iterable, AsyncIterable)
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, kinds):
        message = f"expected a list of prompts, or another iterable, got {shown(cast(object, items))}"
        is_other = isinstance(items, AsyncIterable)
        hint = "For an async iterator: await llm.amap(items)." if is_other else "For one prompt: llm.generate(prompt)."
        raise InvalidInputError(message, path="items", hint=hint)
    return cast("Any", items)


def checked_concurrency(value: object) -> int:
    """Returns a number of calls at once; raises `InvalidInputError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_AT_ONCE:
        message = f"expected a number of calls at once, from 1 to {MOST_AT_ONCE:,}, got {shown(value)}"
        raise InvalidInputError(message, path="concurrency")
    return value


def checked_progress(value: Any) -> Progress | None:
    """Returns a function for progress; raises `InvalidInputError` for anything else."""
    if value is not None and (not callable(value) or is_async(value)):
        hint = "For example: on_progress=lambda done, total: print(done, total)."
        raise InvalidInputError(f"expected a sync function, got {shown(value)}", path="on_progress", hint=hint)
    return value
