"""CPU time per call: sequential sync calls, and 64 concurrent async calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import clients
from rounds import Row, Setup, best, cpu_seconds, repeated

_AT_ONCE = 64
_GOAL = 1.15
_FAST_GOAL = 0.3


def sequential(setup: Setup) -> list[Row]:
    """`llm.generate` compared with `Client.post(json=...).json()` and openai-python; and on libcurl."""
    url, count = f"{setup.url}/v1", 60 if setup.quick else 150
    llm, bare, openai = clients.ours(url), clients.bare(url), clients.openai_sync(url)
    other = clients.ours_fast(url)

    def ours() -> object:
        return llm.generate(clients.PROMPT, system_prompt=clients.SYSTEM)

    def fast() -> object:
        return other.generate(clients.PROMPT, system_prompt=clients.SYSTEM)

    def httpx2() -> object:
        return bare.post("/chat/completions", json=clients.BODY).json()

    def openai_python() -> object:
        return openai.chat.completions.create(**clients.BODY)

    ways = {"ours": ours, "fast": fast, "httpx2": httpx2, "openai-python": openai_python}
    with bare, openai:
        times = best({name: cpu_seconds(repeated(way, count), count) for name, way in ways.items()}, setup.rounds)
    return [*_rows("call", times), Row("call, fast / httpx2", times["fast"], times["httpx2"])]


def concurrent(setup: Setup) -> list[Row]:
    """`llm.agenerate` compared with `AsyncClient` and openai-python, 64 concurrent calls; and on aiohttp."""
    url, each = f"{setup.url}/v1", 2 if setup.quick else 4
    llm, bare, openai = clients.ours(url), clients.bare_async(url), clients.openai_async(url)
    other = clients.ours_fast(url)

    async def ours() -> object:
        return await llm.agenerate(clients.PROMPT, system_prompt=clients.SYSTEM)

    async def fast() -> object:
        return await other.agenerate(clients.PROMPT, system_prompt=clients.SYSTEM)

    async def httpx2() -> object:
        return (await bare.post("/chat/completions", json=clients.BODY)).json()

    async def openai_python() -> object:
        return await openai.chat.completions.create(**clients.BODY)

    async def crowd(way: Callable[[], Awaitable[object]]) -> None:
        async def one_after_the_other() -> None:
            for _ in range(each):
                await way()

        await asyncio.gather(*(one_after_the_other() for _ in range(_AT_ONCE)))

    async def close() -> None:
        await bare.aclose()
        await openai.close()

    ways = {"ours": ours, "fast": fast, "httpx2": httpx2, "openai-python": openai_python}
    with asyncio.Runner() as runner:
        batches = {
            name: cpu_seconds(lambda way=way: runner.run(crowd(way)), _AT_ONCE * each) for name, way in ways.items()
        }
        times = best(batches, setup.rounds)
        runner.run(close())
    return [*_rows("64 at once", times), Row("64 at once, fast / httpx2", times["fast"], times["httpx2"], _FAST_GOAL)]


def _rows(name: str, times: dict[str, float]) -> list[Row]:
    return [
        Row(f"{name} / httpx2", times["ours"], times["httpx2"], _GOAL),
        Row(f"{name} / openai-python", times["ours"], times["openai-python"]),
    ]
