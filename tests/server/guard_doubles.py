"""Guards whose checks are those of a test, and checks that fail in every way."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Final

from abstractcore.ports import Edit, GuardContext, Refusal
from tests.server.serving import Served

UNSET: Final = -1


def allowed(subject: object, context: object) -> None:
    """Allows everything."""


@dataclass
class Double:
    """A guard whose checks are those of the test: functions by the name of what is checked."""

    name: str
    checks: tuple[str, ...]
    hold_back: int = 8
    read_only: bool = False
    summary = "of a test"
    do: Callable[..., Any] = field(default=allowed)
    seen: list[Any] = field(default_factory=list[Any])

    def connect(self, options: Any, services: Any) -> Any:
        members: dict[str, Any] = dict.fromkeys(self.checks, self._check) | {"read_only": self.read_only}
        if "check_text" in self.checks and self.hold_back != UNSET:
            members["hold_back"] = self.hold_back
        return SimpleNamespace(**members)

    def _check(self, subject: Any, context: GuardContext) -> Any:
        self.seen.append(subject)
        return self.do(subject, context)


def reset(doubles: Iterable[Double]) -> None:
    """Lets doubles allow everything again, and forget what they have seen."""
    for double in doubles:
        double.seen.clear()
        double.do = allowed


def always(verdict: object) -> Callable[..., Any]:
    def check(subject: object, context: object) -> object:
        return verdict

    return check


async def sleeps_async(subject: Any, context: Any) -> None:
    await asyncio.Event().wait()


def raises(error: BaseException) -> Callable[..., Any]:
    def check(subject: Any, context: Any) -> Any:
        raise error

    return check


ANYTHING: Any = 7


class Trap(list[Any]):
    """Edits that cannot be read."""

    def __iter__(self) -> Iterator[Any]:
        raise ValueError("x")

    def __eq__(self, other: object) -> bool:
        raise ValueError("x")

    __hash__ = None


FAILURES: dict[str, Callable[..., Any]] = {
    "raises": raises(ValueError("x")),
    "exits": raises(SystemExit(1)),
    "interrupts": raises(KeyboardInterrupt()),
    "cancels": raises(asyncio.CancelledError()),
    "stops": raises(StopIteration()),
    "returns a number": always(7),
    "returns text": always("other"),
    "returns its class": always(Refusal),
    "reason is no text": always(Refusal(ANYTHING)),
    "cannot be read": always(Trap()),
    "edits outside": always([Edit(0, 10**9, "x")]),
    "hangs": sleeps_async,
}


@contextmanager
def leaving(served: Served, body: dict[str, Any], path: str = "/v1/chat/completions") -> Generator[None]:
    """Sends a request whose client leaves at the end of `with`, without an answer."""
    content = json.dumps(body).encode()
    host, port = served.url.removeprefix("http://").split(":")
    head = f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
    with socket.create_connection((host, int(port))) as client:
        client.sendall(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
        yield
