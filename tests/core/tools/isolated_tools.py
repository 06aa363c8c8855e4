"""Tools that run in processes of their own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstractcore import Blob, ToolContext, ToolFailed, ToolOutput, ToolRetry, tool


@dataclass
class Account:
    owner: str


@tool(isolate=True)
def process_id(prefix: str = "") -> str:
    os.write(1, b"this is not a result")
    return f"{prefix}{os.getpid()}"


@tool(isolate=True)
async def later(n: int) -> list[int]:
    await asyncio.sleep(0)
    return [n, n + 1]


@tool(isolate=True)
def whose(context: ToolContext[Account]) -> str:
    context.progress(1, 2, "half")
    return context.deps.owner


@tool(isolate=True)
def with_llm(context: ToolContext[Any]) -> str:
    return context.llm.generate("hi").content


@tool(isolate=True)
def picture() -> Any:
    return ToolOutput(["a picture", Blob.from_bytes(b"\x89PNG", "image/png")], data={"size": (1, 2)})


@tool(isolate=True)
def say(what: str) -> None:
    match what:
        case "retry":
            raise ToolRetry("again")
        case "failed":
            raise ToolFailed("no")
        case "error":
            raise KeyError("sk-verysecretkey42")
        case "exit":
            raise SystemExit(3)
        case "object":
            return object()  # type: ignore[return-value]


@tool(isolate=True, on_error="raise")
def raising() -> None:
    raise KeyError("a")


@tool(isolate=True)
def die(how: str) -> None:
    match how:
        case "abort":
            os.abort()
        case "exit":
            os._exit(3)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)


@tool(isolate=True)
def hang(file: str) -> None:
    """Writes its process id and that of a child, and waits."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(f"{file}.new").write_text(f"{os.getpid()} {child.pid}")
    Path(f"{file}.new").rename(file)
    time.sleep(600)


@tool(isolate=True)
def leave_a_child() -> str:
    return str(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid)


@tool(isolate=True)
def big(megabytes: int) -> str:
    return "x" * (megabytes << 20)


class Shop:
    @tool(isolate=True)
    @classmethod
    def open(cls, day: str) -> str:
        return f"{cls.__name__} {day}"

    @staticmethod
    @tool(isolate=True)
    def close(day: str) -> str:
        return f"closed {day}"
