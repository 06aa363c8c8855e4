"""`RequestContext`: one request on its way, with what its handler needs; and what a handler may return."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import abstractcore
from abstractcore.concurrency import is_large, off_loop
from abstractcore.errors import MediaError
from abstractcore.ports import FetchedFile, Transpiler
from abstractcore.schema import ModelCall, WireResponse

from .access.admission import AccessControl, CallLease, Grant, Hosts, Origins
from .access.guards import Guards
from .access.settlements import CallAccount, CallAccounts
from .client_connection import ClientConnection, Drains
from .configuration.settings import Settings
from .dialects.base import ClientDialect
from .models import LLMs
from .records import AuditEntry
from .requests import FRAMING_BYTES, MultipartForm, RequestHead, read_body, read_form, read_object, too_large
from .responses.items import compact
from .responses.running import RunningResponses
from .stored_state import StoredState
from .tools.servers import MCPServers

if TYPE_CHECKING:
    from .media.backends import BackendModels
    from .metrics import Metrics

T = TypeVar("T")


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
    formats: dict[str, Transpiler] = field(default_factory=dict[str, Transpiler])

    @property
    def hidden(self) -> tuple[str, ...]:
        """The addresses that errors do not show."""
        return tuple(each.base_url for each in self.settings.providers.values() if each.base_url)

    def format(self, name: str) -> Transpiler:
        """Returns a wire format in its vendor's own dialect."""
        found = self.formats.get(name)
        if found is None:
            found = self.formats[name] = self.services.registry.wire_format(name).transpiler()
        return found


class StreamedReply(Protocol):
    """A response that is sent as it comes."""

    async def send_to(self, connection: ClientConnection) -> None:
        """Sends the response. An exception before its head was sent becomes a whole response."""
        ...


Reply: TypeAlias = WireResponse | StreamedReply
Handler: TypeAlias = "Callable[[RequestContext], Awaitable[Reply]]"


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
        """Returns what a function returns; `large` work is done in a worker thread, while others are answered."""
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
