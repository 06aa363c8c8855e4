"""Ends a child process when the one that started it has died, even if the child runs code in C that never returns."""

from __future__ import annotations

import os
import select
import signal
import sys


def exit_with_parent(descriptor: int) -> None:
    """Has the kernel kill this process group as soon as nobody holds the other end of a pipe, which carries no data.

    Linux only. `PR_SET_PDEATHSIG` would end it with the thread that started it.
    """
    if sys.platform != "linux":
        return
    import fcntl

    os.set_inheritable(descriptor, False)
    fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_ASYNC)
    poll = select.poll()
    poll.register(descriptor, 0)
    if poll.poll(0):  # it had died before
        os.killpg(0, signal.SIGKILL)
