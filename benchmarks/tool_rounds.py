"""CPU time of a tool round: two requests, and the call of a function between them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import clients
from rounds import Row, Setup, best, cpu_seconds, repeated

from abstractcore import tool

_GOAL_SECONDS = 300e-6


@tool
def add(first: int, second: int) -> int:
    """Adds two numbers.

    Args:
        first: A number.
        second: Another number.
    """
    return first + second


_TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
_ASKED: dict[str, Any] = {**clients.BODY, "tools": _TOOLS}


def tool_rounds(setup: Setup) -> list[Row]:
    """`llm.generate(..., run_tools=True)` compared with two posts of the HTTP library and the function itself."""
    url, count = f"{setup.url}/v1", 40 if setup.quick else 100
    llm, bare = clients.ours(url), clients.bare(url)

    def ours() -> object:
        return llm.generate(clients.PROMPT, system_prompt=clients.SYSTEM, tools=[add], run_tools=True)

    def two_calls() -> object:
        llm.generate(clients.PROMPT, system_prompt=clients.SYSTEM)
        return llm.generate(clients.PROMPT, system_prompt=clients.SYSTEM)

    def httpx2() -> object:
        message = bare.post("/chat/completions", json=_ASKED).json()["choices"][0]["message"]
        called = message["tool_calls"][0]
        result = str(add(**json.loads(called["function"]["arguments"])))
        answered = [
            *clients.BODY["messages"],
            message,
            {"role": "tool", "tool_call_id": called["id"], "content": result},
        ]
        return bare.post("/chat/completions", json={**_ASKED, "messages": answered}).json()

    asynchronous = clients.ours(url)

    async def agenerate() -> None:
        for _ in range(count):
            await asynchronous.agenerate(clients.PROMPT, system_prompt=clients.SYSTEM, tools=[add], run_tools=True)

    with bare, asyncio.Runner() as runner:
        times = best(
            {
                "ours": cpu_seconds(repeated(ours, count), count),
                "two calls": cpu_seconds(repeated(two_calls, count), count),
                "httpx2": cpu_seconds(repeated(httpx2, count), count),
                "async": cpu_seconds(lambda: runner.run(agenerate()), count),
            },
            setup.rounds,
        )
    over = times["ours"] - times["httpx2"]
    return [
        Row("tool round / httpx2", times["ours"], times["httpx2"]),
        Row("tool round / two calls of ours", times["ours"], times["two calls"]),
        Row("async tool round / httpx2", times["async"], times["httpx2"]),
        Row("tool round over httpx2", over, goal=_GOAL_SECONDS),
    ]
