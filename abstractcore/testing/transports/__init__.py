"""For authors of transports: what every transport does, as tests to inherit.

    class TestMine(SyncTransportSuite, ForkSuite):
        def make_transport(self) -> Transport:
            return MyTransport()

`SyncTransportSuite` is for transports of plain code, `AsyncTransportSuite` for those of event loops. `EventLoopSuite`
goes with a transport that serves any number of event loops, `ForkSuite` with one that is shared with forked children.
Each test talks to a server of its own on this machine. pytest runs them; nothing here imports it.
"""

from .cases import SyncCase, TransportCase
from .connections import ConnectionTests
from .exchanges import ExchangeTests
from .failures import FailureTests
from .loops import CancellationTests, EventLoopSuite
from .processes import ForkSuite
from .stalls import StallTests

__all__ = ["AsyncTransportSuite", "EventLoopSuite", "ForkSuite", "SyncTransportSuite", "TransportCase"]


class SyncTransportSuite(SyncCase, ExchangeTests, FailureTests, StallTests, ConnectionTests):
    """What a transport for plain code does."""


class AsyncTransportSuite(CancellationTests, ExchangeTests, FailureTests, StallTests, ConnectionTests):
    """What a transport for event loops does."""
