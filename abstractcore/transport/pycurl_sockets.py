"""Sockets for libcurl, opened and waited for here, so that DNS, addresses and timeouts work as with httpx2."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import TypeAlias

import pycurl

from ..ports import interruptible
from .messages import shut_down
from .name_lookup import addresses

Wait: TypeAlias = Callable[[Mapping[int, int], float], Iterable[tuple[int, int]]]
"""Waits up to the given seconds for descriptors, with the event to wait for (`pycurl.POLL_IN`, `POLL_OUT`,
`POLL_INOUT`); returns those that are ready, with their events (`pycurl.CSELECT_...`)."""


def connected(host: str, port: int, due: float) -> socket.socket:
    """Returns a connection to the first address of `host` that answers. Each address gets an equal part of the time
    until `due` (monotonic seconds). Raises `TimeoutError`, other `OSError` and `UnicodeError`.
    """
    found = addresses(host, port, max(0.0, due - time.monotonic()))
    failure: OSError | None = None
    for number, (family, kind, protocol, _, address) in enumerate(found):
        left = due - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"connecting to {host} timed out")
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(left / (len(found) - number))
            with interruptible(partial(shut_down, connection)):
                connection.connect(address)
        except OSError as error:
            connection.close()
            failure = error
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise failure or OSError(f"{host} has no address")


def is_same_connection(descriptor: int, connection: socket.socket) -> bool:
    """Returns whether `descriptor` is a duplicate of `connection`, and not closed or reused."""
    with suppress(OSError), socket.fromfd(descriptor, connection.family, connection.type) as twin:
        return (twin.getsockname(), twin.getpeername()) == (connection.getsockname(), connection.getpeername())
    return False


def wait_with_poll(wanted: Mapping[int, int], seconds: float) -> Iterable[tuple[int, int]]:
    """Waits with `select.poll`, which supports any descriptor."""
    poller = select.poll()
    for descriptor, events in wanted.items():
        reading = select.POLLIN if events & pycurl.POLL_IN else 0
        poller.register(descriptor, reading | (select.POLLOUT if events & pycurl.POLL_OUT else 0))
    return [(descriptor, _ready(events)) for descriptor, events in poller.poll(seconds * 1000)]


def _ready(events: int) -> int:
    return (
        (pycurl.CSELECT_IN if events & (select.POLLIN | select.POLLHUP) else 0)
        | (pycurl.CSELECT_OUT if events & select.POLLOUT else 0)
        | (pycurl.CSELECT_ERR if events & (select.POLLERR | select.POLLNVAL) else 0)
    )


def wait_with_select(wanted: Mapping[int, int], seconds: float) -> Iterable[tuple[int, int]]:
    """Waits with `select.select`, for Windows."""
    if not wanted:
        time.sleep(seconds)
        return []
    reading = [descriptor for descriptor, events in wanted.items() if events & pycurl.POLL_IN]
    writing = [descriptor for descriptor, events in wanted.items() if events & pycurl.POLL_OUT]
    readable, writable, failed = select.select(reading, writing, list(wanted), seconds)
    found = dict.fromkeys([*readable, *writable, *failed], 0)
    for ready, bit in ((readable, pycurl.CSELECT_IN), (writable, pycurl.CSELECT_OUT), (failed, pycurl.CSELECT_ERR)):
        for descriptor in ready:
            found[descriptor] |= bit
    return found.items()


wait_for_sockets: Wait = wait_with_poll if hasattr(select, "poll") else wait_with_select
"""The function for this system."""
