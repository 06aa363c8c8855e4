"""The HTTP transport: Streamable HTTP at `/mcp`, for clients with a key, or on this machine.

Limits of HTTP connections: their number, and the time of each state. uvicorn waits for requests forever.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import h11
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...concurrency.connection_timers import ConnectionState, ConnectionTimer, make_room
from ...errors import ConfigurationError, InvalidInputError
from .calls import MCPServerLimits

_CLOSE = {"Connection": "close"}


def limited_connections(most: int, seconds: float) -> type[asyncio.Protocol]:
    """Returns the protocol of uvicorn for `most` connections. When there is one more, the connection that has waited
    longest is ended; that is the new one if all others are being answered. The states of a connection are those of
    `ConnectionTimer`: `seconds` is the time of each but the keep-alive time, which is uvicorn's.
    """
    limited = (ConnectionState.HEAD, ConnectionState.REST, ConnectionState.SENDING, ConnectionState.CLOSING)

    class LimitedH11Connection(H11Protocol):
        """A connection that is ended after the time of each state, or if there are too many."""

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            times = {**dict.fromkeys(limited, seconds), ConnectionState.IDLE: self.timeout_keep_alive}
            self.timer = ConnectionTimer(self.loop, transport, times)
            self._update()
            if len(self.connections) > most:
                make_room([each.timer for each in cast("set[Any]", self.connections)], self.timer)

        def _update(self) -> None:
            self.timer.enter(self._state())

        def _state(self) -> ConnectionState:
            latest: Any = self.cycle
            if self.transport.is_closing():
                return ConnectionState.CLOSING
            if self.flow.write_paused:
                return ConnectionState.SENDING
            if latest is not None and not latest.response_complete:
                has_body = latest.response_started or not latest.more_body
                return ConnectionState.ANSWER if has_body else ConnectionState.BODY
            if self.conn.their_state is h11.SEND_BODY:
                return ConnectionState.REST
            return ConnectionState.HEAD if latest is None or self.conn.trailing_data[0] else ConnectionState.IDLE

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._update()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._update()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._update()

        def resume_writing(self) -> None:
            super().resume_writing()
            self._update()

        def connection_lost(self, exc: Exception | None) -> None:
            self.timer.stop()
            super().connection_lost(exc)

    return LimitedH11Connection


class CompleteRequests:
    """Passes on requests whose body is complete within `seconds` and not longer than `limit` bytes."""

    def __init__(self, app: ASGIApp, limit: int, seconds: float) -> None:
        self._app = app
        self._limit = limit
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body: bytes | None
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._body(scope, receive)
        except TimeoutError:
            await PlainTextResponse("The request took too long", 408, _CLOSE)(scope, receive, send)
            return
        except OverflowError:
            await PlainTextResponse(f"The limit is {self._limit} bytes", 413, _CLOSE)(scope, receive, send)
            return
        if body is not None:
            await self._app(scope, _replay(body, receive), send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """Returns the body; None if the client has gone. Raises `OverflowError`."""
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if int(declared) > self._limit:
            raise OverflowError
        pieces = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            pieces += message.get("body", b"")
            if len(pieces) > self._limit:
                raise OverflowError
            if not message.get("more_body", False):
                return bytes(pieces)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again


PATH = "/mcp"
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_SHORTEST_KEY = 16
_CLOSING_SECONDS = 3


@dataclass(frozen=True, slots=True)
class MCPAccess:
    """Who may connect: `keys` are bearer tokens, one of which a request must have; `hosts` are names of the server in
    the `Host` header, beside its address and those of this machine.

    Raises `InvalidInputError` for a key that is short, or that a header cannot hold.
    """

    keys: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for key in self.keys:
            if len(key) < _SHORTEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
                raise InvalidInputError(
                    f"a key needs at least {_SHORTEST_KEY} characters, which are ASCII without spaces",
                    path="keys",
                    hint='To make one: python -c "import secrets; print(secrets.token_urlsafe(32))"',
                )


def listening_socket(host: str, port: int, access: MCPAccess) -> socket.socket:
    """Returns a socket that listens at an address. Port 0 is any free one.

    Raises `ConfigurationError` for an address of other machines without keys, for all addresses without host names,
    and if it cannot be used.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        ip = ipaddress.ip_address(str(address[0]).partition("%")[0])
        if not ip.is_loopback and not access.keys:
            raise ConfigurationError(
                f"{host} can be reached from other machines, and no key is set",
                hint="Set a key (ABSTRACTCORE_SERVER_KEY, or --key-env NAME), or listen at 127.0.0.1.",
            )
        if ip.is_unspecified and not access.hosts:
            raise ConfigurationError(
                f"{host} stands for all addresses of this machine, and it is not known by which name clients reach it",
                hint="Name it: --allow-host NAME, as in the URL that clients use.",
            )
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, UnicodeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"cannot listen at {host}:{port}: {reason}", hint="Choose another address.") from None


def url_of(listening: socket.socket) -> str:
    """Returns the URL of a server that listens there."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"


async def serve_http(
    server: Server[Any], listening: socket.socket, host: str, access: MCPAccess, limits: MCPServerLimits
) -> None:
    """Serves clients until SIGINT or SIGTERM. `host` is the name or address that `listening` was made of."""
    config = uvicorn.Config(
        http_app(server, host, access, limits),
        http=limited_connections(limits.connections, limits.receive_seconds),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_CLOSING_SECONDS,
    )
    await uvicorn.Server(config).serve(sockets=[listening])


def http_app(server: Server[Any], host: str, access: MCPAccess, limits: MCPServerLimits) -> ASGIApp:
    """Returns the ASGI application: keys are checked first, then `Host` and `Origin`, then the size of the body."""
    names = [*_LOOPBACK_NAMES, *map(_in_url, (host, *access.hosts))]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[allowed for name in names for allowed in (name, f"{name}:*")],
        allowed_origins=[
            f"{scheme}://{name}{port}" for scheme in ("http", "https") for name in names for port in ("", ":*")
        ],
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=limits.request_bytes,
        session_idle_timeout=limits.session_idle_seconds,
        max_sessions=limits.sessions,
        transport_security=security,
    )
    return _RequireKey(CompleteRequests(app, limits.request_bytes, limits.receive_seconds), access.keys)


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host.lower()


class _RequireKey:
    """Lets requests with one of `keys` pass, compared in constant time; all requests if there are none.

    The key's number is the user, so that a session belongs to the key that opened it.
    """

    def __init__(self, app: ASGIApp, keys: Sequence[str]) -> None:
        self._app = app
        self._digests = [_digest(key.encode()) for key in keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._digests:
            user = self._user(scope)
            if user is None:
                refused = JSONResponse(
                    {
                        "error": "invalid_token",
                        "error_description": "A valid key is required: Authorization: Bearer KEY",
                    },
                    status_code=401,
                    headers={"WWW-Authenticate": 'Bearer error="invalid_token"', "Connection": "close"},
                )
                await refused(scope, receive, send)
                return
            token = AccessToken(token="", client_id=str(user), scopes=[])
            scope["user"] = AuthenticatedUser(token)
        await self._app(scope, receive, send)

    def _user(self, scope: Scope) -> int | None:
        """Returns the number of the key of a request; None if it has none, a wrong one, or several."""
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(given) != 1 or given[0][:7].lower() != b"bearer ":
            return None
        digest = _digest(given[0][7:].strip())
        matches = [hmac.compare_digest(digest, each) for each in self._digests]
        return matches.index(True) if any(matches) else None


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
