"""A batch and a chat share the limits of one account: the batch waits, the user does not. Offline, on a virtual clock.

Run: python examples/paced.py
"""

import asyncio
import sys

from abstractcore import LimitExceededError, Limits, ModelCall, Services, create_llm
from abstractcore.testing import ScriptedReply, VirtualClock

clock = VirtualClock()
services = Services(clock=clock)
limits = Limits(requests_per_minute=20, parallel=4)
begun: list[float] = []


def reply(call: ModelCall) -> ScriptedReply:
    """Stands for a provider that takes two seconds."""
    begun.append(clock.now())
    return ScriptedReply.text("Summary.", delay=2.0)


batch = create_llm("scripted", replies=reply, services=services, limits=limits, timeout=None)
chat = create_llm("scripted", replies=reply, services=services, limits=limits, priority=2)


async def main() -> None:
    """Summarises fifty documents; a user asks after a minute and a half, and another one has no time to wait."""
    work = [asyncio.create_task(batch.agenerate(f"Summarise document {number}.")) for number in range(50)]
    await clock.asleep(90)
    try:
        await chat.agenerate("Only if it is quick?", timeout=5)
    except LimitExceededError as error:
        sys.stdout.write(f"{error.message}\n")
    asked = clock.now()
    answer = await chat.agenerate("What is in the first one?")
    sys.stdout.write(f"the user waited {answer.seconds_waited:.0f} s at {asked:.0f} s, before the rest of the batch\n")
    waited = [response.seconds_waited for response in await asyncio.gather(*work)]
    most = max(sum(start <= each < start + 60 for each in begun) for start in begun)
    sys.stdout.write(f"{len(begun)} requests in {clock.now():.0f} s, {most} in any minute at most\n")
    sys.stdout.write(f"the batch waited up to {max(waited):.0f} s\n")


asyncio.run(main())
