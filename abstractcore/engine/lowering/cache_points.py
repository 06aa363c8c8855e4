"""Lowers cache points: sets those of `cache=True`, and drops those above the model's maximum."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import takewhile
from typing import Any, NamedTuple

from ...schema import CachePoint, CallWarning, Message, ModelCall


class _Place(NamedTuple):
    """What can hold a cache point: a part of a message, or a tool (`message` is None)."""

    message: int | None
    number: int

    def __str__(self) -> str:
        return f"tools[{self.number}]" if self.message is None else f"messages[{self.message}].parts[{self.number}]"


def lower_cache(call: ModelCall, most: int | None) -> tuple[ModelCall, list[CallWarning]]:
    """Returns the call with cache points for `call.cache`, and with `most` points at most.

    Points of messages are dropped before those of system and tools, the earliest first, each with a warning. `most` is
    0 for a provider that caches without them, None if unknown.
    """
    warnings: list[CallWarning] = []
    if call.cache and most == 0:
        message = "this provider caches automatically, without cache points"
        warnings.append(CallWarning("cache_left_out", "cache", message, True))
    elif call.cache:
        call = _with(call, _best(call), CachePoint())
    held = _held(call)
    over = held[: max(0, len(held) - most)] if most is not None else []
    if over:
        message = f"this provider accepts at most {most} cache points"
        warnings += [CallWarning("cache_left_out", f"{place}.cache", message) for place in over]
    return _with(call.with_(cache=False) if call.cache else call, over, None), warnings


def _best(call: ModelCall) -> list[_Place]:
    """Returns the free places after tools and system, and after the last user message (or the last results)."""
    best: list[_Place] = []
    system = [i for i, _ in takewhile(lambda item: item[1].role == "system", enumerate(call.messages))]
    asked = [i for i, message in enumerate(call.messages) if message.role in ("user", "tool")]
    if system:
        best.append(_Place(system[-1], len(call.messages[system[-1]].parts) - 1))
    elif call.tools:
        best.append(_Place(None, len(call.tools) - 1))
    if asked:
        best.append(_Place(asked[-1], len(call.messages[asked[-1]].parts) - 1))
    return [place for place in best if _can_hold(call, place)]


def _held(call: ModelCall) -> list[_Place]:
    """Returns all cache points: those of the conversation in order, then those of system and tools."""
    places = [
        _Place(i, j)
        for i, message in enumerate(call.messages)
        for j, part in enumerate(message.parts)
        if getattr(part, "cache", None) is not None
    ]
    places.sort(key=lambda place: call.messages[place.message or 0].role == "system")
    return places + [_Place(None, i) for i, tool in enumerate(call.tools) if tool.cache is not None]


def _can_hold(call: ModelCall, place: _Place) -> bool:
    holder = _holder(call, place)
    return hasattr(holder, "cache") and holder.cache is None


def _holder(call: ModelCall, place: _Place) -> Any:
    return call.tools[place.number] if place.message is None else call.messages[place.message].parts[place.number]


def _with(call: ModelCall, places: Collection[_Place], point: CachePoint | None) -> ModelCall:
    """Returns the call with `point` at `places`."""
    if not places:
        return call
    tools = tuple(
        replace(tool, cache=point) if _Place(None, i) in places else tool for i, tool in enumerate(call.tools)
    )
    return call.with_(messages=tuple(_changed(m, i, places, point) for i, m in enumerate(call.messages)), tools=tools)


def _changed(message: Message, number: int, places: Collection[_Place], point: CachePoint | None) -> Message:
    if not any(place.message == number for place in places):
        return message
    parts: list[Any] = list(message.parts)
    for place in places:
        if place.message == number:
            parts[place.number] = replace(parts[place.number], cache=point)
    return replace(message, parts=tuple(parts))
