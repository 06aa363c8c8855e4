"""Tools that a server offers in tests: some behave badly."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from abstractcore import Blob, ImagePart, ToolContext, ToolFailed, tool

sys.stdout.write("printed on import\n")
RELEASED = threading.Event()


@dataclass
class Weather:
    """The weather of a city."""

    city: str
    celsius: float


class Stock(TypedDict):
    """What is in stock."""

    count: int


@tool(read_only=True, idempotent=True, labels=("untrusted",))
def weather(city: str) -> Weather:
    """Returns the weather.

    Args:
        city: The city's name.
    """
    return Weather(city, 7.5)


@tool(destructive=True)
async def stock(item: str) -> Stock:
    """Returns how many of an item there are."""
    return {"count": len(item)}


@tool
def wrong_type() -> Weather:
    """Returns something else than it says."""
    return {"city": 3}  # type: ignore[return-value]


@tool
def not_a_number() -> dict[str, float]:
    """Returns what JSON cannot hold."""
    return {"value": float("nan")}


@tool
def count(to: int, context: ToolContext[None]) -> str:
    """Reports progress."""
    for number in range(to):
        context.progress(number, to, f"{number} of {to}")
    return "counted"


@tool
def shout() -> str:
    """Prints everywhere."""
    sys.stdout.write("printed by a tool\n")
    sys.stdout.flush()
    os.write(1, b"written to descriptor 1\n")
    subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
    return f"read {sys.stdin.readline()!r}"


@tool
def fail() -> str:
    """Raises."""
    raise ValueError(f"the key {os.environ.get('SHOP_API_KEY')} is wrong")


@tool
def leak(context: ToolContext[None]) -> dict[str, str]:
    """Returns credentials and other variables, and reports the credentials as progress."""
    names = ("SHOP_API_KEY", "ABSTRACTCORE_SERVER_KEY", "SHOP_DATABASE", "GIT_AUTHOR_NAME", "SHOP_KEY_FILE")
    context.progress(1, None, " ".join(os.environ[name] for name in names[:2]))
    return {name: os.environ[name] for name in names if name in os.environ}


@tool(isolate=True)
def crash() -> str:
    """Ends its process."""
    os._exit(3)


@tool
@dataclass
class invoice:  # noqa: N801 - the name of a tool
    """Takes an invoice."""

    total: float


@tool
def leave() -> str:
    """Exits."""
    sys.exit(3)


@tool
async def wait(context: ToolContext[None]) -> str:
    """Waits until it is cancelled."""
    context.progress(1, None, "waiting")
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        sys.stderr.write("cancelled\n")
        sys.stderr.flush()
        raise
    return "never"


@tool
def block(context: ToolContext[None]) -> str:
    """Blocks its thread until `release` is called."""
    context.progress(1, None, "blocking")
    RELEASED.wait()
    return "released"


@tool
def release() -> str:
    """Lets `block` return."""
    RELEASED.set()
    return "done"


@tool(parallel=False)
def alone() -> str:
    """Returns when it began and ended, in nanoseconds."""
    begin = time.monotonic_ns()
    time.sleep(0.01)
    return f"{begin} {time.monotonic_ns()}"


@tool(timeout=0.2)
async def late() -> str:
    """Takes longer than it may."""
    await asyncio.sleep(3600)
    return "never"


@tool
def large(size: int) -> str:
    """Returns a long text."""
    return "x" * size


@tool(on_error="raise")
def fatal() -> str:
    """Raises an error that is not for models."""
    raise RuntimeError("broken")


@tool
def picture() -> list[Any]:
    """Returns an image and a link."""
    url = Blob.from_url("https://example.com/a.png", "image/png")
    return ["look", ImagePart(Blob.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png")), ImagePart(url)]


@tool
def refuse() -> str:
    """Says why there is no result."""
    raise ToolFailed("sold out")
