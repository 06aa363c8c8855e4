"""Loads a script, and forks to run its `main()`: `python server.py SOCKET SCRIPT`. It ends when its input does."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading


def serve(path: str) -> None:
    """Returns in a child process for each connection."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    os.write(1, b"ready\n")
    while True:
        readable, _, _ = select.select([listener, 0], [], [])
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if 0 in readable:
            sys.exit()
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            return attend(connection)
        connection.close()


def attend(connection: socket.socket) -> None:
    """Returns in a child process; reports its end here, or ends it when what started it has ended."""
    message, streams, _, _ = socket.recv_fds(connection, 65_536, 3)
    while not message.endswith(b"\n"):
        message += connection.recv(65_536) or os._exit(1)
    sys.argv, folder, environment = json.loads(message)
    child = os.fork()
    if child == 0:
        connection.close()
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        return
    for stream in (0, 1, 2, *streams):
        os.close(stream)

    def kill_without_starter() -> None:
        connection.recv(1)
        os.killpg(child, signal.SIGKILL)

    threading.Thread(target=kill_without_starter, daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(OSError):
        connection.sendall(str(code).encode())
    os._exit(0)


loaded = runpy.run_path(sys.argv[2], run_name="warm")
gc.collect()
gc.freeze()
serve(sys.argv[1])
loaded["main"]()
