"""The methods of `LLM` that make a call for each of many items."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Unpack, cast, overload

from ..concurrency import drive
from ..lazy_modules import LazyModule
from ..option_help import takes
from ..outputs import ResponseModel
from .options import CALL_OPTIONS, CallRequest, Output
from .pipelines import Pipelines, PreparedRequest
from .preparing import RequestPreparer

if TYPE_CHECKING:
    import typing_extensions

    from . import item_runs
else:
    item_runs = LazyModule("abstractcore.client.item_runs")
    typing_extensions = LazyModule("typing_extensions")

_AT_ONCE: Final = 8
_OF_EACH: Final = "tool_choice"
"""An option that is valid together with tools, which an item may have of its own."""


class MapMethods:
    """`map` and `amap`."""

    _pipelines: Pipelines
    _preparer: RequestPreparer

    @overload
    def map(
        self,
        items: Iterable[item_runs.MapItem],
        *,
        concurrency: int = _AT_ONCE,
        on_progress: Callable[[int, int | None], object] | None = None,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        **request: Unpack[CallRequest],
    ) -> item_runs.MapResults[Output]: ...

    @overload
    def map(
        self,
        items: Iterable[item_runs.MapItem],
        *,
        concurrency: int = _AT_ONCE,
        on_progress: Callable[[int, int | None], object] | None = None,
        response_model: Mapping[str, Any],
        **request: Unpack[CallRequest],
    ) -> item_runs.MapResults[Any]: ...

    @takes(CallRequest)
    def map(
        self,
        items: Iterable[item_runs.MapItem],
        *,
        concurrency: int = _AT_ONCE,
        on_progress: Callable[[int, int | None], object] | None = None,
        response_model: ResponseModel | None = None,
        **request: Unpack[CallRequest],
    ) -> item_runs.MapResults[Any]:
        """Makes the call that `generate` makes for each item, `concurrency` of them at once, and returns the responses
        in the order of the items. An item that fails has its error in its place, and the others go on.

        `items` are prompts, or prompts with options of their own: `("Read it.", {"media": "a.pdf"})`. They are read as
        they are needed: of a generator, no more than what is under way. The other options are those of all;
        `timeout` is that of each. `on_progress(done, total)` is called after each item, never twice at once, in a
        thread of its calls; `total` is None for a generator. An `interruption` ends all: what has not ended has
        a `CallInterruptedError`, and no more of a generator is read. Ctrl-C ends all, and raises.

        Raises `InvalidInputError` and `UnknownOptionError` for options of all before anything is sent, and what the
        iterator of the items raises.
        """
        return drive(self._mapped(items, concurrency, on_progress, response_model, request, sync=True))

    @overload
    async def amap(
        self,
        items: Iterable[item_runs.MapItem] | AsyncIterable[item_runs.MapItem],
        *,
        concurrency: int = _AT_ONCE,
        on_progress: Callable[[int, int | None], object] | None = None,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        **request: Unpack[CallRequest],
    ) -> item_runs.MapResults[Output]: ...

    @overload
    async def amap(
        self,
        items: Iterable[item_runs.MapItem] | AsyncIterable[item_runs.MapItem],
        *,
        concurrency: int = _AT_ONCE,
        on_progress: Callable[[int, int | None], object] | None = None,
        response_model: Mapping[str, Any],
        **request: Unpack[CallRequest],
    ) -> item_runs.MapResults[Any]: ...

    @takes(CallRequest)
    async def amap(
        self,
        items: Iterable[item_runs.MapItem] | AsyncIterable[item_runs.MapItem],
        *,
        concurrency: int = _AT_ONCE,
        on_progress: Callable[[int, int | None], object] | None = None,
        response_model: ResponseModel | None = None,
        **request: Unpack[CallRequest],
    ) -> item_runs.MapResults[Any]:
        """The async version of `map`; the items may be an async iterator. Cancelling the task ends all calls."""
        return await self._mapped(items, concurrency, on_progress, response_model, request, sync=False)

    def _mapped(
        self,
        items: Any,
        concurrency: int,
        on_progress: Callable[[int, int | None], object] | None,
        response_model: ResponseModel | None,
        request: CallRequest,
        *,
        sync: bool,
    ) -> Coroutine[Any, Any, item_runs.MapResults[Any]]:
        items = item_runs.checked_items(items, sync=sync)
        at_once, progress = item_runs.checked_concurrency(concurrency), item_runs.checked_progress(on_progress)

        def request_of(prompt: str | None, own: CallRequest) -> PreparedRequest:
            both: Mapping[str, Any] = {**request, **own}
            shared, own_options = request.get("options"), own.get("options")
            if shared and isinstance(own_options, Mapping):
                both = {**both, "options": {**shared, **own_options}}
            return self._preparer.request(prompt, response_model, cast("CallRequest", both), self)

        of_all = cast("CallRequest", {name: each for name, each in request.items() if name != _OF_EACH})
        checked = self._preparer.request("-", response_model, of_all, self)
        plain = cast("CallRequest", {name: each for name, each in of_all.items() if name in CALL_OPTIONS})
        first = self._preparer.request("-", None, plain, self)
        pipeline = self._pipelines.sync if sync else self._pipelines.asynchronous
        run = item_runs.ItemRun(pipeline, items, request_of, at_once, progress, checked.interruption)
        return run.results(first)
