"""Generator functions for processes of their own, which do what decoders do when a hostile file breaks them."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any

from abstractcore import MediaPart
from abstractcore.errors import WrongPasswordError


def echo(*values: Any) -> Generator[Any, Any, None]:
    """Yields the id of its process, its arguments, and then what is sent to it."""
    answer = yield os.getpid()
    for each in values:
        answer = yield each
    while answer is not None:
        answer = yield answer


def crash(values: int = 0) -> Generator[Any, Any, None]:
    """Ends by SIGSEGV after some values."""
    yield from range(values)
    os.write(2, b"the last words\n")
    ctypes.string_at(0)


def warn(text: str) -> Generator[Any, Any, None]:
    """Prints a text on standard error, as libraries do."""
    os.write(2, text.encode())
    yield "read"


def crash_once(path: str) -> Generator[Any, Any, None]:
    """Crashes, if nobody has crashed at this path before."""
    if not os.path.exists(path):
        open(path, "w").close()
        ctypes.string_at(0)
    yield "read"


def hang(values: int = 1) -> Generator[Any, Any, None]:
    """Yields the id of its process so many times, and then lets none of its threads run again."""
    yield from [os.getpid()] * values
    ctypes.PyDLL(None).sleep(600)  # keeps the interpreter's lock


def hang_after(path: str) -> Generator[Any, Any, None]:
    """Yields the id of its process, creates a file, and then hangs in C."""
    yield os.getpid()
    open(path, "w").close()
    ctypes.PyDLL(None).sleep(600)


def leave_pipes_open(is_orphan: bool) -> Generator[Any, Any, None]:
    """Yields the id of a process in a session of its own, which holds all pipes, and hangs. An orphan is no child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        if not is_orphan or os.fork() == 0:
            os.write(writer, os.getpid().to_bytes(8))
            time.sleep(600)
        os._exit(0)
    yield int.from_bytes(os.read(reader, 8))
    time.sleep(600)


def eat_memory() -> Generator[Any, Any, None]:
    yield len(bytearray(1 << 34))


def refuse() -> Generator[Any, Any, None]:
    yield 1
    raise WrongPasswordError("the password is wrong", source="a.pdf", hint="Check it.")


def fail() -> Generator[Any, Any, None]:
    yield 1
    raise KeyError("not for users")


def leave() -> Generator[Any, Any, None]:
    yield 1
    os._exit(7)


def print_on_stdout() -> Generator[Any, Any, None]:
    os.write(1, b"a message of a library in C")
    yield "clean"


def write_on_all_pipes(garbage: bytes) -> Generator[Any, Any, None]:
    """Writes garbage where the results are read, and waits."""
    yield 1
    for descriptor in range(3, 32):
        with suppress(OSError):
            os.write(descriptor, garbage)
    time.sleep(600)


def crash_at(part: MediaPart, log: str, steps: int) -> Generator[Any, Any, None]:
    """Writes a line to a file each time it runs, yields what is sent, and crashes at "bad", or after so many steps."""
    with open(log, "a") as file:
        file.write(f"{part.type}\n")
    sent = None
    for _ in range(steps):
        sent = yield sent
        if sent == "bad":
            break
    ctypes.string_at(0)


def hang_with(part: MediaPart) -> Generator[Any, Any, None]:
    """Hangs in C at once."""
    ctypes.PyDLL(None).sleep(600)
    yield part.type


def read(part: MediaPart) -> Generator[Any, Any, None]:
    """Reads a file that harms others."""
    yield part.type
