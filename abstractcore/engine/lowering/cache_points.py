"""Lowers cache points: sets those of `cache=True`, drops those that the model does not accept or whose prefix is too
short, and changes their times to live.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import takewhile
from typing import Any, NamedTuple, TypeVar

from ...ports import ModelProfile
from ...schema import NO_OPTIONS, CachePoint, CallWarning, Message, ModelCall, TextPart, to_data
from .changes import change_warning

_TOKENS_AROUND = 16
"""More than the tokens that a provider writes around a message: its role, its beginning and its end."""
T = TypeVar("T")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


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
    held = _cache_points(call)
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


def _cache_points(call: ModelCall) -> list[_Position]:
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
        messages=tuple(_with_point(m, i, positions, point) for i, m in enumerate(call.messages)), tools=tools
    )


def _with_point(message: Message, number: int, positions: Collection[_Position], point: CachePoint | None) -> Message:
    if not any(position.message == number for position in positions):
        return message
    parts: list[Any] = list(message.parts)
    for position in positions:
        if position.message == number:
            parts[position.number] = replace(parts[position.number], cache=point)
    return replace(message, parts=tuple(parts))


def is_too_short(call: ModelCall, least: int, message: int, part: int) -> bool:
    """Returns whether the prefix that ends with a part of a message has fewer than `least` tokens for certain.

    A token is at least one byte of the text, so that the bytes in UTF-8 are an upper limit. It counts all system
    messages, which may be sent first. Where a provider adds text of its own, for tools and for a schema, and where a
    prefix has anything but text, nothing is certain.
    """
    if call.tools or call.hosted_tools or call.output is not None or call.provider_options is not NO_OPTIONS:
        return False
    most = 0
    for number, each in enumerate(call.messages):
        if number > message and each.role != "system":
            continue
        most += _TOKENS_AROUND
        for item in each.parts[: part + 1] if number == message else each.parts:
            if type(item) is not TextPart or len(item.text) >= least:
                return False
            most += len(item.text.encode())
        if most >= least:
            return False
    return True


def minimum_reason(call: ModelCall, profile: ModelProfile) -> str:
    """Returns why a prefix with fewer tokens than the model's minimum is not cached."""
    return (
        f"{call.model} caches only prefixes of at least {profile.cache_minimum or 0:,} tokens, and this one is shorter"
    )


def lower_cache_times(call: ModelCall, allowed: tuple[str, ...]) -> tuple[ModelCall, list[CallWarning]]:
    """Returns the call with times to live out of `allowed`, such as "5m": the next longer one, else the longest.

    Times that are not set stay so. Each change has a warning.
    """
    warnings: list[CallWarning] = []
    times = sorted(int(time[:-1]) * _SECONDS[time[-1]] for time in allowed)
    tools = tuple(_with_supported_ttl(tool, f"tools[{i}]", times, warnings) for i, tool in enumerate(call.tools))
    messages = tuple(
        _timed_message(message, f"messages[{i}]", times, warnings) for i, message in enumerate(call.messages)
    )
    return (call.with_(tools=tools, messages=messages) if warnings else call), warnings


def _timed_message(message: Message, path: str, times: list[int], warnings: list[CallWarning]) -> Message:
    parts = tuple(
        _with_supported_ttl(part, f"{path}.parts[{i}]", times, warnings) for i, part in enumerate(message.parts)
    )
    changed = any(new is not old for new, old in zip(parts, message.parts, strict=True))
    return replace(message, parts=parts) if changed else message


def _with_supported_ttl(holder: T, path: str, times: list[int], warnings: list[CallWarning]) -> T:
    item: Any = holder
    cache: CachePoint | None = getattr(item, "cache", None)
    if cache is None or cache.ttl is None or cache.ttl in times:
        return holder
    sent = next((time for time in times if time >= cache.ttl), times[-1])
    message = f"the supported TTLs are {' and '.join(map(str, times))} seconds"
    warnings.append(change_warning("cache_time_changed", f"{path}.cache.ttl", message, cache.ttl, sent))
    return replace(item, cache=CachePoint(sent))
