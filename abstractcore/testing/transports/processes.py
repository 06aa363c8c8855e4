"""Tests with forked children."""

from __future__ import annotations

import gc
import os
import signal
import traceback
import warnings
from collections.abc import Callable

from ..http_bytes import LAST_CHUNK, answer, chunk, stream_head
from ..http_server import PATIENCE_SECONDS
from .cases import TransportCase, expect, rest, same

_FORKS = hasattr(os, "fork")


def in_fork(function: Callable[[], object]) -> None:
    """Runs `function` in a forked child; raises `AssertionError` if it fails there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the server runs in a thread: the child has none
        child = os.fork()
    if child == 0:
        signal.alarm(int(PATIENCE_SECONDS))
        try:
            function()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    expect(os.waitpid(child, 0)[1] == 0, "the child failed")


class ForkSuite(TransportCase):
    """For a transport that is shared with forked children. Skipped where fork is not available."""

    def test_forked_child_has_its_own_connections(self) -> None:
        """The parent keeps its own."""
        if not _FORKS:
            return
        self.server.always_by(lambda request: [answer(request.body)])
        same(self.answer(body=b"parent").body, b"parent")

        def child() -> None:
            self.begin_in_child()
            same(self.answer(body=b"child").body, b"child")
            gc.collect()

        in_fork(child)
        same(self.answer(body=b"again").body, b"again")
        found = [(request.body, request.connection.number) for request in self.server.requests]
        same(found, [(b"parent", 0), (b"child", 1), (b"again", 0)])

    def test_body_dropped_in_a_forked_child_continues_in_the_parent(self) -> None:
        """Its connection is the parent's."""
        if not _FORKS:
            return
        gate = self.server.gate()
        self.server.script(stream_head(), chunk(b"first"), gate, chunk(b"second"), LAST_CHUNK)
        bodies = [self.run(self.open())]
        same(self.run(bodies[0].read()), b"first")

        def child() -> None:
            bodies[0].abort()
            bodies.clear()
            gc.collect()

        in_fork(child)
        gate.open()
        same(self.run(rest(bodies[0])), b"second")
        self.run(bodies[0].close())
