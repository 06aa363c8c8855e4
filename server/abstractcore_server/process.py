"""One process that serves: its socket, uvicorn, signals, and its reports to systemd and to its watcher."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
import math
import os
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from types import FrameType
from typing import Protocol

import uvicorn

from abstractcore.errors import ConfigurationError

from .application import Application
from .configuration.settings import ServerSettings, Settings
from .connections import PING_SECONDS, limited_connections, limited_websockets
from .routes import WEBSOCKET_PATHS

READY, STOP, ABORT = "ready", "stop", "abort"
"""What a worker reports when it answers, and how it is asked to end: after its requests, or at once."""


class Stoppable(Protocol):
    """A server that can be stopped."""

    def stop(self) -> None:
        """Stops when the requests have ended."""
        ...

    def abort(self) -> None:
        """Stops at once."""
        ...


class Control:
    """Stops a worker, and gives new settings to `reload`. It stops, too, when the process that started it has died."""

    def __init__(self, connection: Connection, reload: Callable[[Settings], None]) -> None:
        self._connection = connection
        self._reload = reload

    def attach(self, server: Stoppable) -> None:
        """Reports that the server answers; from then on it is controlled. Signals that were blocked arrive now."""
        asyncio.get_running_loop().add_reader(self._connection.fileno(), self._receive, server)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        self._connection.send(READY)

    def _receive(self, server: Stoppable) -> None:
        try:
            message = self._connection.recv()
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(self._connection.fileno())
            message = STOP
        if isinstance(message, Settings):
            self._reload(message)
        elif message == ABORT:
            server.abort()
        else:
            server.stop()


_log = logging.getLogger("abstractcore.server")


def report_ready() -> None:
    """Sends `READY=1` to the socket of sd_notify(3), if systemd has started this process and named one."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifying:
            notifying.sendto(b"READY=1", f"\0{address[1:]}" if address.startswith("@") else address)
    except OSError as error:
        _log.warning("systemd was not notified that the server is ready: %s", error)


def listening_socket(settings: ServerSettings, *, is_open: bool) -> socket.socket:
    """Returns a socket that listens at the address of the settings. Port 0 is any free one.

    Raises `ConfigurationError` as `check_address` does, and if another program listens there.
    """
    family = check_address(settings, is_open=is_open)
    with _usable(settings):
        return socket.create_server((settings.host, settings.port), family=family, backlog=1024)


def check_address(settings: ServerSettings, *, is_open: bool) -> int:
    """Returns the family of the address of the settings.

    Raises `ConfigurationError` for an address of other machines if the server is open to everyone (`is_open`), for all
    addresses without host names, and for one that is not valid.
    """
    host = settings.host
    with _usable(settings):
        found = socket.getaddrinfo(host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = found[0]
    ip = ipaddress.ip_address(str(address[0]).partition("%")[0])
    if not ip.is_loopback and is_open:
        raise ConfigurationError(
            f"{host} can be reached from other machines, and no key is set",
            hint="Create one (abstractcore keys create NAME), set ABSTRACTCORE_SERVER_KEY, or listen at 127.0.0.1.",
        )
    if ip.is_unspecified and not settings.hosts:
        raise ConfigurationError(
            f"{host} stands for all addresses of this machine, and it is not known by which name clients reach it",
            hint="Name it: --allow-host NAME, as in the URL that clients use.",
        )
    return family


@contextmanager
def _usable(settings: ServerSettings) -> Generator[None]:
    """Raises `ConfigurationError` for an address that cannot be used."""
    try:
        yield
    except (OSError, UnicodeError, OverflowError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition(" (while")[0]  # which repeats the address
        hint = "Choose another address: --host ADDRESS, --port NUMBER."
        message = f"cannot listen at {settings.host}:{settings.port}: {reason}"
        raise ConfigurationError(message, hint=hint) from None


def url_of(listening: socket.socket, settings: ServerSettings) -> str:
    """Returns the URL of a server that listens there."""
    host, port = listening.getsockname()[:2]
    scheme = "http" if settings.tls_certificate is None else "https"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


IDLE_SECONDS = 75
"""How long a connection without a request stays open: longer than proxies (60 seconds in nginx) and most clients keep
theirs, so that it is they who close. A request that meets a connection that is being closed gets no response."""
_NEW_OBJECTS = 20_000
"""How many new objects the garbage collector lets come before it looks at them."""


class GracefulServer(uvicorn.Server):
    """Stops at the first SIGINT or SIGTERM when running requests have ended, at the second one at once."""

    def __init__(
        self, application: Application, reload: Callable[[], object] | None = None, control: Control | None = None
    ) -> None:
        self._reload = reload
        self._control = control
        settings = application.state.settings
        self._application = application
        super().__init__(
            uvicorn.Config(
                application,
                http=limited_connections(settings.limits, WEBSOCKET_PATHS, application.websockets.end_idle),
                loop="auto",
                ws=limited_websockets(settings.limits),
                ws_max_size=settings.limits.body_bytes,
                ws_per_message_deflate=False,
                ws_ping_interval=PING_SECONDS,
                ws_ping_timeout=settings.limits.head_seconds,
                lifespan="on",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=math.ceil(settings.limits.drain_seconds),
                ssl_certfile=settings.server.tls_certificate,
                ssl_keyfile=settings.server.tls_key,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to listen, and reports it; from then on SIGHUP reloads the configuration."""
        await super().startup(sockets)
        if self._reload is not None and hasattr(signal, "SIGHUP"):
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._reload)
        if self._control is None:
            report_ready()
        else:
            self._control.attach(self)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Waits for running requests; WebSocket connections end after theirs."""
        self._application.websockets.stop()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stops the server: at the second signal at once, whatever is running."""
        if self.should_exit:
            self.abort()
        else:
            self.stop()

    def stop(self) -> None:
        """Stops the server when the running requests have ended."""
        self.should_exit = True
        self._application.stop()

    def abort(self) -> None:
        """Stops the server at once, whatever is running."""
        self.stop()
        self.force_exit = True
        asyncio.get_running_loop().call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def _collect_less_garbage() -> None:
    """Lets the collector leave alone what was loaded before the first request, and look for cycles less often: requests
    make few. Collections took a tenth of the time of small calls.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])


def run(
    application: Application,
    listening: socket.socket,
    reload: Callable[[], object] | None = None,
    control: Control | None = None,
) -> None:
    """Serves clients until SIGINT or SIGTERM, on the fastest event loop that is installed. SIGHUP calls `reload`; a
    worker has a `control`.
    """
    server = GracefulServer(application, reload, control)
    _collect_less_garbage()
    with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(server.serve(sockets=[listening]))
