"""A process that makes calls within shared limits: `python -m tests.core.limits.pacing URL NAME COUNT [die]`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from typing import Any

from abstractcore import Limits, ModelCall, create_llm
from abstractcore.testing import ScriptedReply


def limits_at(url: str, name: str, parallel: int) -> Limits:
    """Returns the limits that the processes share."""
    return Limits(requests_per_minute=60, parallel=parallel, name=name, store=url)


def work(url: str, name: str, count: int) -> None:
    """Makes so many calls at once, of which some have room; writes how many began, and why the others did not.

    Those without room fail as soon as they ask: there is none within their 40 seconds, of the minute that has begun.
    """
    begun: list[float] = []

    def reply(call: ModelCall) -> ScriptedReply:
        begun.append(time.time())
        return ScriptedReply.text("ok", delay=0.005)

    llm: Any = create_llm("scripted", replies=reply, limits=limits_at(url, name, 8), timeout=40)

    async def run() -> list[Any]:
        return await asyncio.gather(*(llm.agenerate("hi") for _ in range(count)), return_exceptions=True)

    refused = [each for each in asyncio.run(run()) if isinstance(each, BaseException)]
    sys.stdout.write(f"{len(begun)} {sorted({type(each).__name__ for each in refused})}\n")


def die(url: str, name: str, count: int) -> None:
    """Dies of SIGKILL while so many streams run, and one more waits."""
    llm: Any = create_llm("scripted", replies=lambda call: "one two", limits=limits_at(url, name, 4), timeout=30)

    async def run() -> None:
        streams = [llm.astream("hi") for _ in range(count)]
        for stream in streams:
            await anext(aiter(stream))
        waiting = asyncio.create_task(llm.agenerate("hi"))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(run())


if __name__ == "__main__":
    (die if sys.argv[4:] == ["die"] else work)(sys.argv[1], sys.argv[2], int(sys.argv[3]))
