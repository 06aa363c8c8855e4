"""`Application`: the ASGI application. It lets requests in, calls their handlers, and sends what they return."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import abstractcore
from abstractcore.budgets import MemoryLedger, flush
from abstractcore.configuration import Problems
from abstractcore.errors import AccessDeniedError, NotFoundError, RateLimitError
from abstractcore.ports import BudgetLedger
from abstractcore.registry import Registry
from abstractcore.schema import WireResponse

from .access.admission import AccessControl, AdminKeys, FixedKeys, Grant, Hosts, OpenAccess, Origins, is_preflight
from .access.budgets import RequestBudgets
from .access.content_guards import Guards
from .access.settlements import CallAccounts
from .configuration.reading import addresses, check_models
from .configuration.settings import Settings
from .context import APIRoute, FoundRoute, NoDownloads, Reply, RequestContext, RouteTable, ServerState
from .dashboard.opened_store import STORE_VARIABLE, OpenedTraces
from .dialects import ClientDialect
from .failures import RequestRefused, refusal, refusal_of, shown_error, with_code
from .metrics import Metrics, SharedFolder
from .models import BackendModels, LLMs
from .records import CLIENT_CLOSED_REQUEST, AuditEntry, AuditLog, save_receipt
from .requests import (
    ClientConnection,
    ClientGone,
    Drains,
    Receive,
    RequestHead,
    Send,
    begin_request,
    new_trace_id,
    next_trace_id,
)
from .responses.running import RunningResponses
from .responses.websockets import WebSockets
from .routes import ROUTES, dialect_of_path
from .stored_state import StoredState
from .telemetry import ServerTelemetry
from .tools.servers import ApprovedToolCalls, MCPServers

_UNKNOWN_HOST = (
    "the name in the header Host is not one of this server: add it to hosts in its configuration, or start it with "
    "--allow-host NAME"
)
_NO_GRANT = Grant(models=())
_LONGEST_METHOD = 20
_FLUSH_SECONDS = 5.0
"""How long a server that ends waits until what its calls cost is written."""


class Application:
    """Answers clients of many APIs by the models of `settings`, and by `models`: LLMs of the program, by their names.

    `services`, by default `server_services(settings)`, and `access` are those of programs that bring their own. Without
    `access`, clients need a key of `settings.server.database`, or of `settings.keys`; without both, everyone who can
    connect is let in. `admins`, by default the `admin_keys` of the settings, lets in who may see the traces at
    `traces`, by default those of `ABSTRACTCORE_TRACES_STORE`. `shared` is the folder of all processes that answer
    together. Raises `ConfigurationError` for a database that cannot be used.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        models: Mapping[str, abstractcore.LLM] | None = None,
        services: abstractcore.Services | None = None,
        access: AccessControl | None = None,
        shared: SharedFolder | None = None,
        routes: tuple[APIRoute, ...] = ROUTES,
        admins: AccessControl | None = None,
        traces: str | Path | None = None,
    ) -> None:
        self._models = models or {}
        self._given_services = services
        self._given_access = access or _access_of(settings)
        self._routes = RouteTable(routes)
        self._admins = admins
        self._shared = shared
        first = settings or Settings()
        self._database = _database_of_state(first, shared)
        self._stored = StoredState(self._database, first.limits.stored_seconds)
        self._backgrounds = RunningResponses(self._stored, shared)
        self.websockets = WebSockets(self._http)
        self._metrics = Metrics(shared, lambda: self._backgrounds.running, lambda: self.websockets.open)
        self._approved = ApprovedToolCalls(self._stored)
        self._accounts = CallAccounts()
        self._ledger: BudgetLedger | None = None
        self._retired: set[Guards] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._telemetry = ServerTelemetry()
        environment = os.environ if services is None else services.environment
        self._traces = OpenedTraces(traces or environment.get(STORE_VARIABLE) or None)
        self.state = self._new_state(first)
        self._telemetry.check(first)
        self.state.guards.connect()

    def _new_state(self, settings: Settings, registry: Registry | None = None) -> ServerState:
        services = self._given_services or server_services(settings, registry=registry)
        access = self._given_access or (FixedKeys(settings.keys) if settings.keys else OpenAccess())
        llms = LLMs(settings, services, self._models)
        hosts = Hosts((settings.server.host, *settings.server.hosts))
        backend_models = BackendModels(settings, services, llms)
        return ServerState(
            settings,
            services,
            llms,
            access,
            hosts,
            Origins(settings.server.origins),
            Drains(settings.limits),
            backend_models,
            Guards(settings, services, llms),
            self._metrics,
            self._stored,
            self._backgrounds,
            MCPServers(settings, services.environment, self._approved),
            self._accounts,
            self._routes,
            RequestBudgets(settings.budgets, self._ledger_of(access) if settings.budgets else None),
            self._admins or AdminKeys(settings.admin_keys),
            self._traces,
        )

    def _ledger_of(self, access: AccessControl) -> BudgetLedger:
        """Returns where budgets have their sums: in the database of keys, in that of all processes, or here."""
        if self._ledger is None:
            of_keys: BudgetLedger | None = getattr(access, "ledger", None)
            self._ledger = of_keys or _ledger_at(self._database)
        return self._ledger

    def reload(self, settings: Settings) -> None:
        """Replaces the configuration. Requests that are being answered keep theirs; where the server listens, and what
        it accepts of a connection, stays as it is. Raises `ConfigurationError`, and changes nothing, for models or
        providers that cannot be used.
        """
        before = self.state
        # The plugins stay: one of them has the processes of models on this machine.
        state = self._new_state(settings, registry=before.services.registry)
        try:
            _check(state)
            self._telemetry.check(settings)
            if self._loop is not None:
                self._telemetry.follow(settings, state.services)
            state.guards.connect()
        except BaseException:
            self._soon(self._retire(state, before))
            raise
        self.state = state
        self._soon(before.mcp.retire())
        self._soon(self._retire(before, state))

    def check(self) -> None:
        """Raises `ConfigurationError` for all providers, models and MCP servers that cannot be used; asks none."""
        _check(self.state)

    def addresses(self) -> list[str]:
        """Returns which URLs are requested of the providers, and what is unusual in them; asks none."""
        return addresses(self.state.settings, self.state.services, self.state.llms)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Begins work on the loop that answers requests; drops it if there is none yet, and nothing has been used."""
        if self._loop is None:
            work.close()
        else:
            asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _retire(self, state: ServerState, successor: ServerState) -> None:
        """Closes guards and connections of a state when its last request has ended."""
        self._retired.add(state.guards)
        await state.uses.wait_until_unused()
        await state.guards.close(successor.guards)
        self._retired.discard(state.guards)
        if state.services is not successor.services:
            await state.services.close_connections()

    def stop(self) -> None:
        """Lets `/ready` report that the server is being stopped."""
        self.state.drains.is_stopping = True
        self._backgrounds.stop(self.state.settings.limits.drain_seconds)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answers one request (ASGI)."""
        if scope["type"] == "http":
            await self._http(scope, ClientConnection(receive, send))
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:
            await self.websockets.serve(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        with suppress(asyncio.CancelledError):  # of a server that ends at once
            await receive()
            self._loop = asyncio.get_running_loop()
            self._telemetry.follow(self.state.settings, self.state.services)
            await self._backgrounds.begin()
            await send({"type": "lifespan.startup.complete"})
            async with self._metrics.kept_saved():
                await receive()
                await self._backgrounds.close()
            await self._accounts.wait_until_settled(self.state.settings.limits.drain_seconds)
            await self.state.mcp.close()
            await asyncio.gather(*(guards.close() for guards in (*self._retired, self.state.guards)))
            await asyncio.to_thread(self._telemetry.close)
            if self._given_services is None:
                await asyncio.to_thread(self.state.services.close)
            await self._approved.wait_until_saved()
            await asyncio.to_thread(flush, _FLUSH_SECONDS)
            await asyncio.to_thread(self._stored.close)
            await asyncio.to_thread(self._traces.close)
            await send({"type": "lifespan.shutdown.complete"})

    async def _http(self, scope: Mapping[str, Any], connection: ClientConnection) -> None:
        """Answers a request with the state of its beginning."""
        state = self.state
        with state.uses.count():
            await self._answer(scope, connection, state)

    async def _answer(self, scope: Mapping[str, Any], connection: ClientConnection, state: ServerState) -> None:
        """Answers a request. Whatever happens becomes a response in the client's dialect."""
        request = RequestHead.of(scope, new_trace_id())
        begin_request(request.trace_id)
        found = self._routes.find(request)
        dialect = dialect_of_path(request) if found is None else found.route.dialect
        entry = AuditEntry(
            request.trace_id, request.method[:_LONGEST_METHOD], None if found is None else found.route.path
        )
        if state.settings.server.audit_log is not None and (found is None or not found.route.is_open):
            log = AuditLog(state.settings.server.audit_log)
            connection.before_end = lambda: log.write(entry, connection.status, connection.digest.hexdigest())
        if state.settings.server.receipts is not None:
            connection.copy = []
        self._metrics.counts.running += 1
        begun = time.monotonic()
        budgets = ExitStack()
        try:
            reply = await self._reply(request, state, found, connection, entry, budgets)
            if isinstance(reply, WireResponse):
                await connection.send(reply.status, reply.headers, reply.body)
            else:
                await reply.send_to(connection)
        except ClientGone:
            return
        except Exception as error:
            if connection.started:
                raise
            response = _failure(error, request, state, dialect)
            await connection.send(response.status, response.headers, response.body)
        finally:
            budgets.close()
            self._metrics.counts.running -= 1
            self._metrics.counts.count(entry, connection.status or CLIENT_CLOSED_REQUEST, time.monotonic() - begun)
            if connection.before_end is not None:
                connection.before_end()
            if connection.copy is not None and entry.receipt.calls:
                folder = str(state.settings.server.receipts)
                await save_receipt(folder, entry.trace_id, entry.receipt, b"".join(connection.copy))

    async def _reply(
        self,
        request: RequestHead,
        state: ServerState,
        found: FoundRoute | None,
        connection: ClientConnection,
        entry: AuditEntry,
        budgets: ExitStack,
    ) -> Reply:
        """Lets a request in and calls its handler. `budgets` holds those of the request until its answer is sent."""
        if not state.hosts.allows(request.headers.get("host", "")):
            raise RequestRefused(403, AccessDeniedError(_UNKNOWN_HOST))
        is_page = found is not None and found.route.is_open
        connection.cors_headers = state.origins.check(request, is_page=is_page)
        if connection.cors_headers and is_preflight(request):
            return WireResponse(200, {}, b"")
        grant = _NO_GRANT
        if found is None or not found.route.is_open:
            is_admin = found is not None and found.route.is_admin
            grant = await (state.admins if is_admin else state.access).admit(request)
            entry.key = grant.key_id
        if found is None:
            raise NotFoundError(f"there is nothing at {request.method} {request.path[:200]}; /docs lists the routes")
        if found.handler is None:
            allowed = ", ".join(found.route.methods)
            raise refusal(405, f"{request.method} is not allowed here: use {allowed}", allow=allowed)
        if self._metrics.counts.running > state.settings.limits.requests and not found.route.is_open:
            raise RateLimitError("the server has reached its limit of concurrent requests", retry_after=1)
        budgets.enter_context(state.budgets.hold(grant))
        return await found.handler(
            RequestContext(found.request, connection, state, found.route.dialect, grant, time.time(), entry)
        )


def _check(state: ServerState) -> None:
    problems = Problems()
    with problems.collect():
        check_models(state.settings, state.services, state.llms)
    with problems.collect():
        state.mcp.check()
    problems.check()


def _database_of_state(settings: Settings, shared: SharedFolder | None) -> str | None:
    """Returns the URL of the database of stored responses; None for a file of this process."""
    if settings.server.database is not None or shared is None:
        return settings.server.database
    return f"sqlite:///{shared.folder / 'responses.db'}"


def _ledger_at(database: str | None) -> BudgetLedger:
    """Returns the sums of budgets in a database, which several processes share; without one, those of this process."""
    if database is None:
        return MemoryLedger()
    from abstractcore.budgets import DatabaseLedger

    return DatabaseLedger(database)


def _access_of(settings: Settings | None) -> AccessControl | None:
    """Returns the access by the keys of a database that the settings name."""
    if settings is None or settings.server.database is None:
        return None
    from .access.stored_keys import stored_keys

    return stored_keys(settings)


def _failure(error: Exception, request: RequestHead, state: ServerState, dialect: ClientDialect) -> WireResponse:
    """Returns the response for an error, in the client's dialect."""
    shown = shown_error(error, request.trace_id, state.hidden_addresses)
    refusal = refusal_of(error, shown)
    response = dialect.failure(state.format(dialect.format), shown, refusal.status)
    if refusal.code is not None:
        response = replace(response, body=with_code(response.body, refusal.code))
    headers = {
        **response.headers,
        **refusal.headers,
        dialect.id_header: request.trace_id,
        "x-abstractcore-trace-id": request.trace_id,
    }
    if response.status == 401:
        headers["www-authenticate"] = "Bearer"
    return replace(response, headers=headers)


def server_services(settings: Settings, **services: Any) -> abstractcore.Services:
    """Returns the services of a server, which are those of `Services(...)`, but for two: it downloads nothing that
    clients name, unless the settings allow it, and the first call of a request has the id of the request.
    """
    fetcher = None if settings.server.fetch_urls else NoDownloads()
    return abstractcore.Services(fetcher=fetcher, new_id=next_trace_id, **services)
