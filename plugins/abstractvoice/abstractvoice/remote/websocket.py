"""`VendorSocket`: a WebSocket connection to a vendor (RFC 6455); `SocketOpening`. Both block, and know no vendor."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from abstractcore import (
    AuthenticationError,
    ConnectionFailedError,
    MissingExtraError,
    OverloadedError,
    ProviderError,
    RequestTimeoutError,
    StreamInterruptedError,
    UnexpectedResponseError,
)
from abstractcore.ports import environment_proxy
from abstractcore.schema import WireResponse, install_hint

from .failures import error_of

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

_LARGEST_MESSAGE = 16 * 1024 * 1024
_CLOSE_SECONDS = 1.0
_POLICY_VIOLATION = 1008
_TRY_AGAIN_LATER = 1013
_OF_APPLICATIONS = 3000
"""Close codes from here on are the vendor's own: RFC 6455, section 7.4.2."""
_LONGEST_WAIT_SECONDS = 60.0

# The library logs headers, which have the key, and messages, which have the text.
_NO_LOG = logging.Logger("abstractvoice.websocket", logging.CRITICAL + 1)


class VendorSocket:
    """An open connection. The values of `credentials` are removed from errors."""

    def __init__(self, connection: ClientConnection, credentials: Mapping[str, str]) -> None:
        self._connection = connection
        self._credentials = credentials

    @classmethod
    def opened(
        cls, url: str, headers: Mapping[str, str], credentials: Mapping[str, str], seconds: float
    ) -> VendorSocket:
        """Connects to `url`, of HTTP or HTTPS. Redirects are not followed, since they could take the key elsewhere.

        Raises `MissingExtraError` without the library, `ConnectionFailedError`, `RequestTimeoutError` after `seconds`,
        and the vendor's errors.
        """
        open_connection = _connector()
        address = f"ws{url.removeprefix('http')}"
        try:
            return cls(open_connection(address, {**headers, **credentials}, seconds), credentials)
        except Exception as error:
            failure = _handshake_error(error, seconds)
        raise without_secrets(failure, credentials)

    def send(self, message: str) -> None:
        """Sends a text. If the connection has ended, `receive` says why, after the messages that came before."""
        from websockets.exceptions import ConnectionClosed

        with suppress(ConnectionClosed):
            self._connection.send(message)

    def receive(self, seconds: float) -> str | bytes:
        """Returns the next message. Raises `RequestTimeoutError` if none arrives for `seconds`,
        `StreamInterruptedError` if the connection ends, and the errors that its close code stands for.
        """
        from websockets.exceptions import ConnectionClosed

        try:
            return self._connection.recv(timeout=seconds)
        except TimeoutError:
            failure: ProviderError = RequestTimeoutError(f"no sound arrived for {seconds:.3g} s")
        except ConnectionClosed as error:
            failure = _closed_error(error)
        except UnicodeDecodeError:
            failure = UnexpectedResponseError("a message is not UTF-8")
        raise without_secrets(failure, self._credentials)

    def close(self) -> None:
        """Ends the connection with a closing handshake."""
        self._connection.close()

    def abort(self) -> None:
        """Ends the connection at once, and waits of other threads."""
        self._connection.close_socket()


class SocketOpening:
    """A connection opened in another thread; if the caller stops waiting, it is closed as soon as it is open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False

    def run(self, url: str, headers: Mapping[str, str], credentials: Mapping[str, str], seconds: float) -> VendorSocket:
        """Returns the open connection. Raises as `VendorSocket.opened` does."""
        socket = VendorSocket.opened(url, headers, credentials, seconds)
        with self._lock:
            if self._cancelled:
                socket.abort()
        return socket

    def cancel(self) -> None:
        """Closes the connection when it is open."""
        with self._lock:
            self._cancelled = True


def without_secrets(error: ProviderError, credentials: Mapping[str, str]) -> ProviderError:
    """Returns `error` without the values of `credentials`, or the key in them."""
    text = str(error.args[0]) if error.args else ""
    for value in credentials.values():
        for secret in (value, value.rpartition(" ")[2]):
            text = text.replace(secret, "***")
    error.args = (text, *error.args[1:])
    return error


def _connector() -> Any:
    try:
        from websockets.sync.client import reconnect
    except ImportError:
        raise MissingExtraError(
            "voice_websocket needs the package websockets", hint=install_hint("websockets>=17.4,<18")
        ) from None

    class Connector(reconnect):
        def process_redirect(self, exc: Exception) -> Exception:
            return exc

    def connect(url: str, headers: Mapping[str, str], seconds: float) -> ClientConnection:
        return Connector(
            url,
            additional_headers=headers,
            proxy=environment_proxy(url),
            open_timeout=seconds,
            close_timeout=_CLOSE_SECONDS,
            compression=None,
            max_size=_LARGEST_MESSAGE,
            logger=_NO_LOG,
        ).__enter__()  # closed by `VendorSocket`

    return connect


def _handshake_error(error: Exception, seconds: float) -> ProviderError:
    """Returns the error of a connection that was not opened; raises `error` if it is a defect."""
    from websockets.exceptions import InvalidStatus, WebSocketException

    if isinstance(error, InvalidStatus):
        response = error.response
        failure = error_of(WireResponse(response.status_code, {}, bytes(response.body or b"")))
        failure.retry_after = _wait(response.headers.get("Retry-After", ""))
        return failure
    if isinstance(error, TimeoutError):
        return RequestTimeoutError(f"the WebSocket connection was not opened in {seconds:.3g} s")
    if isinstance(error, WebSocketException):
        return UnexpectedResponseError(f"expected a WebSocket handshake: {type(error).__name__}")
    if isinstance(error, OSError):
        return ConnectionFailedError(f"the WebSocket connection failed: {error.strerror or type(error).__name__}")
    raise error


def _wait(text: str) -> float | None:
    return float(text) if text.isdecimal() and float(text) <= _LONGEST_WAIT_SECONDS else None


def _closed_error(error: Any) -> ProviderError:
    """Returns the error that a close frame stands for, or its absence."""
    if error.rcvd is None:
        return StreamInterruptedError("the WebSocket connection ended without a close frame")
    code, reason = int(error.rcvd.code), str(error.rcvd.reason)
    about = f"the server closed the WebSocket connection with code {code}" + (f": {reason}" if reason else "")
    if code == _TRY_AGAIN_LATER:
        return OverloadedError(about)
    if code == _POLICY_VIOLATION or code >= _OF_APPLICATIONS:
        kind = type(error_of(WireResponse(400, {}, reason.encode())))
        return (AuthenticationError if "api key" in reason.lower().replace("_", " ") else kind)(about, code=str(code))
    return StreamInterruptedError(about)
