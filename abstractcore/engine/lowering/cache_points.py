"""Lowers cache points: sets those of `cache=True`, and drops those that the model does not accept."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import takewhile
from typing import Any, NamedTuple

from ...ports import ModelProfile
from ...schema import CachePoint, CallWarning, Message, ModelCall, to_data
from .cache_minimum import is_too_short, minimum_reason
from .cache_times import lower_cache_times
from .changes import change_warning


class _Position(NamedTuple):
    """What can hold a cache point: a part of a message, or a tool (`message` is None)."""

    message: int | None
    number: int

    def __str__(self) -> str:
        return f"tools[{self.number}]" if self.message is None else f"messages[{self.message}].parts[{self.number}]"


def lower_cache(call: ModelCall, profile: ModelProfile) -> tuple[ModelCall, list[CallWarning]]:
    """Returns the call with cache points for `call.cache`, and without those that the model does not accept.

    Points that certainly cache nothing, since their prefix is too short, are dropped. Above the maximum, points of
    messages are dropped before those of system and tools, the earliest first. Each has a warning; for `call.cache`
    there is one if all of its points are dropped. Times to live that the model does not support are changed.
    """
    most = profile.cache_points
    warnings: list[CallWarning] = []
    if call.cache and most == 0:
        message = "this provider caches automatically, without cache points"
        warnings.append(change_warning("cache_left_out", "cache", message, True))
    elif call.cache:
        best = _best(call, profile)
        short = _without_effect(call, best, profile)
        if short and short == best:
            warnings.append(change_warning("cache_too_short", "cache", minimum_reason(call, profile), True))
        call = _with(call, [position for position in best if position not in short], CachePoint())
    held = _held(call)
    if not held and not call.cache:
        return call, warnings
    on_tools = [] if profile.cache_tools else [position for position in held if position.message is None]
    warnings += _left_out(call, on_tools, "this model accepts no cache point behind a tool")
    short = _without_effect(call, held, profile)
    warnings += _left_out(call, short, minimum_reason(call, profile), "cache_too_short")
    held = [position for position in held if position not in on_tools and position not in short]
    over = held[: max(0, len(held) - most)] if most is not None else []
    if over:
        warnings += _left_out(call, over, f"this provider accepts at most {most} cache points")
    call = _with(call.with_(cache=False) if call.cache else call, [*on_tools, *short, *over], None)
    if not profile.cache_times:
        return call, warnings
    call, changed = lower_cache_times(call, profile.cache_times)
    return call, warnings + changed


def _left_out(
    call: ModelCall, positions: Collection[_Position], reason: str, code: str = "cache_left_out"
) -> list[CallWarning]:
    return [
        CallWarning(
            code,
            f"{position}.cache",
            f"the cache point at {position} is left out: {reason}",
            to_data(_holder(call, position).cache),
        )
        for position in positions
    ]


def _best(call: ModelCall, profile: ModelProfile) -> list[_Position]:
    """Returns the free positions after tools and system, and after the last user message (or the last results)."""
    best: list[_Position] = []
    system = [i for i, _ in takewhile(lambda item: item[1].role == "system", enumerate(call.messages))]
    asked = [i for i, message in enumerate(call.messages) if message.role in ("user", "tool")]
    if system:
        best.append(_Position(system[-1], len(call.messages[system[-1]].parts) - 1))
    elif profile.cache_tools:
        # Deferred tools are not in the prompt, and accept no cache point.
        best += [_Position(None, i) for i, tool in enumerate(call.tools) if not tool.defer][-1:]
    if asked:
        best.append(_Position(asked[-1], len(call.messages[asked[-1]].parts) - 1))
    return [position for position in best if _can_hold(call, position)]


def _held(call: ModelCall) -> list[_Position]:
    """Returns all cache points: those of the conversation in order, then those of system and tools."""
    positions = [
        _Position(i, j)
        for i, message in enumerate(call.messages)
        for j, part in enumerate(message.parts)
        if getattr(part, "cache", None) is not None
    ]
    positions.sort(key=lambda position: call.messages[position.message or 0].role == "system")
    return positions + [_Position(None, i) for i, tool in enumerate(call.tools) if tool.cache is not None]


def _without_effect(call: ModelCall, positions: list[_Position], profile: ModelProfile) -> list[_Position]:
    """Returns the positions whose prefix is certainly too short to be cached."""
    least = profile.cache_minimum
    if not least or profile.cache_points == 0:
        return []
    return [
        position
        for position in positions
        if position.message is not None and is_too_short(call, least, position.message, position.number)
    ]


def _can_hold(call: ModelCall, position: _Position) -> bool:
    holder = _holder(call, position)
    return hasattr(holder, "cache") and holder.cache is None


def _holder(call: ModelCall, position: _Position) -> Any:
    return (
        call.tools[position.number]
        if position.message is None
        else call.messages[position.message].parts[position.number]
    )


def _with(call: ModelCall, positions: Collection[_Position], point: CachePoint | None) -> ModelCall:
    """Returns the call with `point` at `positions`."""
    if not positions:
        return call
    tools = tuple(
        replace(tool, cache=point) if _Position(None, i) in positions else tool for i, tool in enumerate(call.tools)
    )
    return call.with_(
        messages=tuple(_changed(m, i, positions, point) for i, m in enumerate(call.messages)), tools=tools
    )


def _changed(message: Message, number: int, positions: Collection[_Position], point: CachePoint | None) -> Message:
    if not any(position.message == number for position in positions):
        return message
    parts: list[Any] = list(message.parts)
    for position in positions:
        if position.message == number:
            parts[position.number] = replace(parts[position.number], cache=point)
    return replace(message, parts=tuple(parts))
