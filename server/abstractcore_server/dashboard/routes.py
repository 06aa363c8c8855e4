"""The routes of the dashboard: its files, which anyone may load, and its data, which need an admin's key."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from abstractcore.errors import NotFoundError
from abstractcore.schema import WireResponse

from ..context import RequestContext
from ..failures import RequestRefused
from ..pages import HEADERS, TYPES
from ..requests import ClientConnection
from ..responses.items import compact
from .nodes import file_of, trace_page
from .opened_store import LATEST_CALLS, POLL_SECONDS, OpenedTraces
from .query import CallsQuery, SummaryQuery
from .summaries import call_row, calls_page, summary

if TYPE_CHECKING:
    from abstractcore.traces import TraceStore

_DOWNLOAD: Final = {
    "content-type": "application/octet-stream",
    "content-disposition": "attachment",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
_JSON: Final = {"content-type": "application/json", "cache-control": "no-store"}


async def page(context: RequestContext) -> WireResponse:
    """Returns the dashboard."""
    return _file("index.html")


async def page_file(context: RequestContext) -> WireResponse:
    """Returns a file of the dashboard; raises `NotFoundError` for any other name."""
    return _file(context.request.parameters["file"])


def _file(name: str) -> WireResponse:
    content = _contents().get(name)
    if content is None:
        raise NotFoundError(f"the dashboard has no file {name[:100]!r}")
    return WireResponse(200, {"content-type": TYPES[name.rpartition(".")[2]], **HEADERS}, content)


@cache
def _contents() -> Mapping[str, bytes]:
    """Returns the files of the page, which are read once."""
    folder = files("abstractcore_server.dashboard") / "page"
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name.rpartition(".")[2] in TYPES}


async def read_summary(context: RequestContext) -> WireResponse:
    """Returns costs, tokens, errors and durations over time."""
    query = SummaryQuery.of(context.request.query_values())
    return await _answer(context, lambda store: summary(store, query))


async def read_calls(context: RequestContext) -> WireResponse:
    """Returns a page of calls."""
    query = CallsQuery.of(context.request.query_values())
    return await _answer(context, lambda store: calls_page(store, query))


async def read_trace(context: RequestContext) -> WireResponse:
    """Returns the whole trace that a record is in."""
    trace_id = context.request.parameters["id"]
    return await _answer(context, lambda store: trace_page(store.trace(trace_id)))


async def read_file(context: RequestContext) -> WireResponse:
    """Returns the content of a file of a trace, by its hash."""
    trace_id, sha256 = context.request.parameters["id"], context.request.parameters["file"]
    blob = await context.state.traces.run(lambda store: file_of(store.trace(trace_id), sha256))
    if blob is None or blob.data is None:
        raise NotFoundError("the trace has no such file")
    return WireResponse(200, context.headers(_DOWNLOAD), blob.data)


async def follow_calls(context: RequestContext) -> NewCalls:
    """Sends new calls as they are stored, as server-sent events."""
    return NewCalls(context, context.state.traces)


async def _answer(context: RequestContext, work: Callable[[TraceStore], Mapping[str, Any]]) -> WireResponse:
    return WireResponse(200, context.headers(_JSON), await context.state.traces.run(lambda store: compact(work(store))))


class NewCalls:
    """The events of calls that are stored from now on. It ends with the client, or when the server is stopped."""

    def __init__(self, context: RequestContext, traces: OpenedTraces) -> None:
        self._context = context
        self._traces = traces

    async def send_to(self, connection: ClientConnection) -> None:
        """Sends the events."""
        latest = await self._traces.latest_calls()
        last = max((each.number for each in latest), default=0)
        seen = deque((each.number for each in latest), maxlen=2 * LATEST_CALLS)
        head = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store"}
        await connection.start(200, self._context.headers(head))
        await connection.write(b": follows\n\n")
        gone = asyncio.ensure_future(connection.until_gone())
        beat = self._context.state.settings.limits.heartbeat_seconds
        try:
            while not gone.done() and not self._context.state.drains.is_stopping:
                latest = await self._traces.latest_calls()
                found = [each for each in latest if each.number > last - LATEST_CALLS and each.number not in seen]
                if found:
                    last = max(last, found[0].number)
                    seen.extend(each.number for each in found)
                    await connection.write(b"".join(_event(call_row(each)) for each in reversed(found)))
                elif asyncio.get_running_loop().time() - connection.last_sent >= beat:
                    await connection.write(b": \n\n")
                with suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.shield(gone), POLL_SECONDS)
        except RequestRefused as refused:  # its status cannot be sent any more
            await connection.write(_event({"error": refused.error.message}))
        finally:
            is_gone = gone.done()
            gone.cancel()
        if not is_gone:
            await connection.write(b"", more=False)


def _event(data: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
