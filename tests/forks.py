"""Functions that run in a forked child."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager

from tests.chaos_server import PATIENCE_SECONDS


@contextmanager
def forked(function: Callable[[], object]) -> Generator[None]:
    """Runs `function` in a forked child during `with`; fails if it fails there."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        faulthandler.register(signal.SIGALRM, file=sys.__stderr__, chain=True)
        signal.alarm(int(PATIENCE_SECONDS))
        try:
            function()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    try:
        yield
    finally:
        status = os.waitpid(child, 0)[1]
    assert status == 0


def in_fork(function: Callable[[], object]) -> None:
    """Runs `function` in a forked child, until its end."""
    with forked(function):
        pass
