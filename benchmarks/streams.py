"""CPU time per streamed chunk, from the request to the end of the stream."""

from __future__ import annotations

import asyncio
import json
from functools import partial

import clients
import httpx2
import wire
from rounds import Row, Setup, best, cpu_seconds

from abstractcore import LLM

_GOAL = 0.9
_FAST_GOAL = 0.35
_MORE_ROUNDS = 3
"""A stream takes only 50 ms: one slow phase of the machine affects several."""


def sync_stream(setup: Setup) -> list[Row]:
    """Deltas in sync calls."""
    return _sync(setup, "/v1", "chunk", _GOAL)


def single_events(setup: Setup) -> list[Row]:
    """The same with one event per chunk."""
    return _sync(setup, "/single", "lone chunk", None)


def async_stream(setup: Setup) -> list[Row]:
    """Deltas in async calls."""
    url = f"{setup.url}/v1"
    llm, fast, bare, openai = (
        clients.ours(url),
        clients.ours_fast(url),
        clients.bare_async(url),
        clients.openai_async(url),
    )

    async def ours(llm: LLM) -> None:
        async with llm.astream(clients.PROMPT, system_prompt=clients.SYSTEM) as stream:
            async for _ in stream:
                pass

    async def event_source() -> None:
        async with bare.stream("POST", "/chat/completions", json=clients.STREAM_BODY) as response:
            async for event in httpx2.EventSource(response):
                if event.data != "[DONE]":
                    json.loads(event.data)

    async def openai_python() -> None:
        async for _ in await openai.chat.completions.create(**clients.STREAM_BODY):
            pass

    async def close() -> None:
        await bare.aclose()
        await openai.close()

    ways = {"ours": partial(ours, llm), "fast": partial(ours, fast)}
    ways |= {"httpx2": event_source, "openai-python": openai_python}
    with asyncio.Runner() as runner:
        times = best(
            {name: cpu_seconds(lambda way=way: runner.run(way()), wire.CHUNKS) for name, way in ways.items()},
            _MORE_ROUNDS * setup.rounds,
        )
        runner.run(close())
    return _rows("async chunk", times, _GOAL)


def _sync(setup: Setup, path: str, name: str, goal: float | None) -> list[Row]:
    url = setup.url + path
    llm, fast, bare, openai = clients.ours(url), clients.ours_fast(url), clients.bare(url), clients.openai_sync(url)

    def ours(llm: LLM) -> None:
        with llm.stream(clients.PROMPT, system_prompt=clients.SYSTEM) as stream:
            for _ in stream:
                pass

    def event_source() -> None:
        with bare.stream("POST", "/chat/completions", json=clients.STREAM_BODY) as response:
            for event in httpx2.EventSource(response):
                if event.data != "[DONE]":
                    json.loads(event.data)

    def openai_python() -> None:
        for _ in openai.chat.completions.create(**clients.STREAM_BODY):
            pass

    ways = {"ours": partial(ours, llm), "fast": partial(ours, fast)}
    ways |= {"httpx2": event_source, "openai-python": openai_python}
    with bare, openai:
        times = best({name: cpu_seconds(way, wire.CHUNKS) for name, way in ways.items()}, _MORE_ROUNDS * setup.rounds)
    return _rows(name, times, goal)


def _rows(name: str, times: dict[str, float], goal: float | None) -> list[Row]:
    return [
        Row(f"{name} / httpx2, json", times["ours"], times["httpx2"], goal),
        Row(f"{name} / openai-python", times["ours"], times["openai-python"]),
        Row(f"{name}, fast / httpx2, json", times["fast"], times["httpx2"], _FAST_GOAL),
    ]
