"""Test suites for authors of transports, to inherit from.

    class TestMine(SyncTransportSuite, ForkSuite):
        def make_transport(self) -> Transport:
            return MyTransport()

`SyncTransportSuite` is for sync transports, `AsyncTransportSuite` for async ones. Add `EventLoopSuite` for a transport
that serves any number of event loops, and `ForkSuite` for one that is shared with forked children. Each test has a
server of its own on this machine. pytest runs the tests; nothing here imports it.
"""

from .cases import SyncCase, TransportCase
from .connections import ConnectionTests
from .exchanges import ExchangeTests
from .failures import FailureTests
from .loops import CancellationTests, EventLoopSuite
from .loops import ForkSuite
from .exchanges import StallTests

__all__ = ["AsyncTransportSuite", "EventLoopSuite", "ForkSuite", "SyncTransportSuite", "TransportCase"]


class SyncTransportSuite(SyncCase, ExchangeTests, FailureTests, StallTests, ConnectionTests):
    """Tests of a sync transport."""


class AsyncTransportSuite(CancellationTests, ExchangeTests, FailureTests, StallTests, ConnectionTests):
    """Tests of an async transport."""
