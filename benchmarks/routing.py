"""Groups of models: what the first member's answer takes more than a plain call, and how often a dead member is asked.

LiteLLM's Router and pydantic-ai's FallbackModel are measured beside it if `.cache/routing` is a virtual environment
that has them: `python -m venv .cache/routing && .cache/routing/bin/pip install litellm "pydantic-ai-slim[openai]"`.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import wire
from rounds import Row, Setup, best, cpu_seconds, repeated

from abstractcore import LLM, FallbackExhaustedError, Routing, ServerError, Services, create_llm
from abstractcore.testing import VirtualClock

_COUNT = 300
_MOST_ADDED = 30e-6
_HOUR = 3600
_CALLS = 200
_PROMPT = "What is the capital of France? Answer in one word."
_PYTHON = Path(__file__).parent.parent / ".cache" / "routing" / "bin" / "python"
_OTHERS = Path(__file__).parent / "routing_others.py"


def routing(setup: Setup) -> list[Row]:
    """Calls of a group beside plain ones, an hour with a dead first member, and other libraries if they are there."""
    plain = _member("plain")
    groups = {
        order: create_llm([_member("one"), _member("two")], routing=Routing(order=order))
        for order in ("first", "spread", "cheapest")
    }
    batches = {"plain": cpu_seconds(repeated(lambda: plain.generate(_PROMPT), _COUNT), _COUNT)}
    batches |= {
        name: cpu_seconds(repeated(lambda llm=llm: llm.generate(_PROMPT), _COUNT), _COUNT)
        for name, llm in groups.items()
    }
    times = best(batches, setup.rounds)
    return [
        Row("what a group adds to a call", times["first"] - times["plain"], goal=_MOST_ADDED),
        Row("with the order 'spread'", times["spread"] - times["plain"]),
        Row("with the order 'cheapest'", times["cheapest"] - times["plain"]),
        *_hour_with_a_dead_member(),
        *_with_others(),
    ]


def _member(name: str, replies: Any = lambda call: "Paris.", services: Services | None = None) -> LLM:
    return create_llm("scripted", name, replies=replies, services=services, max_retries=0)


def _hour_with_a_dead_member() -> list[Row]:
    """Makes a call a second for an hour, on a virtual clock."""
    clock, asked = VirtualClock(), 0

    def dead(call: object) -> ServerError:
        nonlocal asked
        asked += 1
        return ServerError("down")

    services = Services(environment={}, clock=clock)
    llm = create_llm([_member("dead", dead, services), _member("well", services=services)], services=services)
    lost = 0
    for _ in range(_HOUR):
        try:
            llm.generate(_PROMPT)
        except FallbackExhaustedError:
            lost += 1
        clock.advance(1)
    services.close()
    return [
        Row("calls in 30 s that reach a dead member", asked / (_HOUR / 30), goal=1, is_count=True),
        Row("calls in a thousand that are lost", 1000 * lost / _HOUR, goal=1, is_count=True),
    ]


def _with_others() -> list[Row]:
    """Makes calls over HTTP to a first member that answers with errors, and a second one that answers."""
    with ExitStack() as stack:
        dead, well = stack.enter_context(_vendor(500)), stack.enter_context(_vendor(200))
        members = [
            create_llm("openai-compatible", "m", base_url=each.url, max_retries=0, proxy=None) for each in (dead, well)
        ]
        llm = create_llm(members)
        for _ in range(_CALLS):
            llm.generate(_PROMPT)
        rows = [Row(f"of {_CALLS} calls over HTTP, those that reach a dead member", dead.requests, is_count=True)]
        if not _PYTHON.exists():
            return rows
        for name in ("litellm", "pydantic_ai"):
            dead.requests = 0
            command = [str(_PYTHON), str(_OTHERS), name, dead.url, well.url, str(_CALLS)]
            result = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(result.stdout.splitlines()[-1])
            rows += [
                Row(f"what {name}'s adds to a call", found["added"]),
                Row(f"{name}: of {_CALLS} calls, those that reach a dead member", dead.requests, is_count=True),
                Row(f"{name}: of {_CALLS} calls, those that are lost", found["lost"], is_count=True),
            ]
        return rows


class _Vendor:
    """A server that answers each request with one status, and counts them."""

    def __init__(self, status: int) -> None:
        self.requests = 0
        vendor, body = self, wire.completion() if status == 200 else b'{"error": {"message": "down"}}'

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                vendor.requests += 1
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:
                """Logs nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@contextmanager
def _vendor(status: int) -> Generator[_Vendor]:
    vendor = _Vendor(status)
    thread = threading.Thread(target=vendor.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield vendor
    finally:
        vendor.server.shutdown()
        vendor.server.server_close()
