"""Spoken replies in both colours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from abstractcore import LLM, AudioPart, HeardReply
from abstractcore.testing.sync_and_async import AsyncCalls


def read(
    call_style: Any, llm: LLM, *prompt: str, until: Callable[[AudioPart], bool] = lambda part: False, **options: Any
) -> tuple[list[AudioPart], Any]:
    """Reads a reply to its end, or until a part for which `until` holds; returns the parts, and the reply, closed."""
    if not isinstance(call_style, AsyncCalls):
        parts: list[AudioPart] = []
        with llm.voice.reply(*prompt, **options) as reply:
            for part in reply:
                parts.append(part)
                if until(part):
                    break
        return parts, reply

    async def read_it() -> tuple[list[AudioPart], Any]:
        found: list[AudioPart] = []
        async with llm.voice.areply(*prompt, **options) as spoken:
            async for each in spoken:
                found.append(each)
                if until(each):
                    break
        return found, spoken

    return call_style.run(read_it())


def interrupted(call_style: Any, reply: Any, **played: float) -> HeardReply:
    """Interrupts a reply."""
    if isinstance(call_style, AsyncCalls):
        return call_style.run(reply.interrupt(**played))
    return reply.interrupt(**played)
