"""`RequestContext`: one request on its way, with what its handler needs; what a handler may return; and how a request
finds its route.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar
from urllib.parse import unquote

import abstractcore
from abstractcore.concurrency import is_large, off_loop
from abstractcore.errors import MediaError
from abstractcore.ports import FetchedFile, Transpiler
from abstractcore.schema import ModelCall, WireResponse

from .access.admission import AccessControl, CallLease, Grant, Hosts, Origins
from .access.budgets import RequestBudgets
from .access.content_guards import Guards
from .access.settlements import CallAccount, CallAccounts
from .configuration.settings import Settings
from .dashboard.opened_store import OpenedTraces
from .dialects.base import ClientDialect
from .forms import FRAMING_BYTES, MultipartForm, read_form
from .metrics import Metrics
from .models import BackendModels, LLMs
from .records import AuditEntry
from .requests import ClientConnection, Drains, RequestHead, read_body, read_object, too_large
from .responses.items import compact
from .responses.running import RunningResponses
from .stored_state import StoredState
from .tools.servers import MCPServers

T = TypeVar("T")
_PARAMETER = re.compile(r"\{(\w+)\}")


class StreamedReply(Protocol):
    """A response that is sent as it comes."""

    async def send_to(self, connection: ClientConnection) -> None:
        """Sends the response. An exception before its head was sent becomes a whole response."""
        ...


Reply: TypeAlias = WireResponse | StreamedReply
Handler: TypeAlias = "Callable[[RequestContext], Awaitable[Reply]]"


@dataclass(frozen=True, slots=True)
class APIRoute:
    """One path, its methods, and the dialect of its errors. `path` may have parameters, as in "/v1/models/{model}",
    which match one character or more, slashes too. One that `is_open` needs no key, one that `is_admin` needs the
    key of an admin. `optional` is a part of the path that requests may leave out.
    """

    path: str
    methods: Mapping[str, Handler]
    dialect: ClientDialect
    is_open: bool = False
    optional: str = ""
    is_admin: bool = False


class FoundRoute(NamedTuple):
    """The route of a request; `handler` is None for another method than those of the route."""

    route: APIRoute
    handler: Handler | None
    request: RequestHead


class RouteTable:
    """Finds the routes of requests: by the literal path, so that no spelling of it (`//v1`, `%76`) is another route."""

    def __init__(self, routes: tuple[APIRoute, ...]) -> None:
        self.routes = routes
        self._literal = {route.path: route for route in routes if "{" not in route.path}
        self._patterns = [(_pattern(route), route) for route in routes if "{" in route.path]

    def find(self, request: RequestHead) -> FoundRoute | None:
        """Returns the route of a request; None if no route has its path."""
        route = self._literal.get(request.path)
        if route is not None:
            return FoundRoute(route, route.methods.get(request.method), request)
        matching = list(self._matching(request))
        with_method = (found for found in matching if found.handler is not None)
        return next(with_method, matching[0] if matching else None)

    def _matching(self, request: RequestHead) -> Iterator[FoundRoute]:
        for pattern, route in self._patterns:
            match = pattern.fullmatch(request.path)
            if match is not None:
                parameters = {name: unquote(value) for name, value in match.groupdict().items()}
                if all(map(_is_plain, parameters.values())):
                    handler = route.methods.get(request.method)
                    yield FoundRoute(route, handler, replace(request, parameters=parameters))


def _pattern(route: APIRoute) -> re.Pattern[str]:
    pieces = _PARAMETER.split(route.path)
    pattern = "".join(f"(?P<{each}>.+)" if i % 2 else re.escape(each) for i, each in enumerate(pieces))
    if route.optional:
        pattern = pattern.replace(route.optional, f"(?:{route.optional})?", 1)
    return re.compile("^" + pattern)


def _is_plain(value: str) -> bool:
    """Whether a parameter has no control characters, and no part that means another path."""
    return value.isprintable() and not {"", ".", ".."} & {*value.split("/")}


class StateUses:
    """How many requests, and responses in the background, use a state."""

    def __init__(self) -> None:
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()

    @contextmanager
    def count(self) -> Generator[None]:
        """In its body, the state is used."""
        self._count += 1
        self._none.clear()
        try:
            yield
        finally:
            self._count -= 1
            if not self._count:
                self._none.set()

    async def wait_until_unused(self) -> None:
        """Returns when nothing uses the state."""
        await self._none.wait()


@dataclass(frozen=True, slots=True)
class ServerState:
    """What all requests share, until the configuration is reloaded: running ones keep the state they began with."""

    settings: Settings
    services: abstractcore.Services
    llms: LLMs
    access: AccessControl
    hosts: Hosts
    origins: Origins
    drains: Drains
    backend_models: BackendModels
    guards: Guards
    metrics: Metrics
    stored: StoredState
    backgrounds: RunningResponses
    mcp: MCPServers
    accounts: CallAccounts
    routes: RouteTable
    budgets: RequestBudgets
    admins: AccessControl
    traces: OpenedTraces
    uses: StateUses = field(default_factory=StateUses)
    formats: dict[str, Transpiler] = field(default_factory=dict[str, Transpiler])

    @property
    def hidden_addresses(self) -> tuple[str, ...]:
        """The addresses that errors do not show."""
        return tuple(each.base_url for each in self.settings.providers.values() if each.base_url)

    def format(self, name: str) -> Transpiler:
        """Returns a wire format in its vendor's own dialect."""
        found = self.formats.get(name)
        if found is None:
            found = self.formats[name] = self.services.registry.wire_format(name).transpiler()
        return found


@dataclass(slots=True)
class RequestContext:
    """One request that was let in. `state` is that of its beginning."""

    request: RequestHead
    connection: ClientConnection
    state: ServerState
    dialect: ClientDialect
    grant: Grant
    time: float
    """Seconds since the epoch."""
    entry: AuditEntry
    """What the audit log will have of the request."""

    async def begin(self, call: ModelCall) -> CallLease:
        """Lets a call in, before it is sent to its provider; raises as `AccessControl.begin` does."""
        return await self.entry.begin(self.state.access, self.grant, call)

    def account(self, call: ModelCall, *, large: bool = False) -> AbstractAsyncContextManager[CallAccount]:
        """Returns a context, in which the call is let in, and at whose end it is settled: what a `large` one has used
        is computed in a worker thread. Raises as `AccessControl.begin` does.
        """
        return self.state.accounts.account(partial(self.begin, call), partial(self.off_loop, large))

    async def body(self) -> bytes:
        """Returns the body of the request; raises `RequestRefused` and `ClientGone`."""
        return await read_body(self.connection.receive, self.request.headers, self.state.settings.limits)

    async def form(self) -> MultipartForm:
        """Returns the form in the body, whose contents may have as many bytes as other bodies; raises as `body` and
        `read_form` do.
        """
        limits, headers = self.state.settings.limits, self.request.headers
        framed = replace(limits, body_bytes=limits.body_bytes + FRAMING_BYTES)
        form = read_form(await read_body(self.connection.receive, headers, framed), headers)
        if form.size > limits.body_bytes:
            raise too_large(limits)
        return form

    async def read_object(self) -> dict[str, Any]:
        """Returns the JSON object in the body of the request; raises as `body` and `bodies.read_object` do."""
        body = await self.body()
        return await self.off_loop(is_large(body), read_object, body, self.request.headers)

    async def off_loop(self, large: bool, function: Callable[..., T], *arguments: object) -> T:
        """Returns the result of a function; `large` work is done in a worker thread, while others are answered."""
        if not large:
            return function(*arguments)
        return await off_loop(self.state.services.async_runtime, large, function, *arguments)

    @property
    def format(self) -> Transpiler:
        """The wire format of the client, in its vendor's own dialect."""
        return self.state.format(self.dialect.format)

    def answer(self, body: Mapping[str, Any], *, warnings: int = 0) -> WireResponse:
        """Returns the response with a JSON object."""
        more = {"x-abstractcore-warnings": str(warnings)} if warnings else {}
        return WireResponse(200, self.headers({"content-type": "application/json", **more}), compact(body))

    def headers(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Returns the headers of every response to this request, and `more`."""
        trace_id = self.request.trace_id
        return {**(more or {}), self.dialect.id_header: trace_id, "x-abstractcore-trace-id": trace_id}


class NoDownloads:
    """A fetcher that downloads nothing."""

    def fetch(self, url: str, timeout: float | None = None) -> FetchedFile:
        """Raises `MediaError`."""
        raise MediaError(
            "this server downloads no files",
            hint="Send the file itself, as base64: the model's provider reads no URLs.",
        )
