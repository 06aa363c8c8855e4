"""Lowers the times to live of cache points to those that the model supports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from ...schema import CachePoint, CallWarning, Message, ModelCall
from .changes import change_warning

T = TypeVar("T")

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def lower_cache_times(call: ModelCall, allowed: tuple[str, ...]) -> tuple[ModelCall, list[CallWarning]]:
    """Returns the call with times to live out of `allowed`, such as "5m": the next longer one, else the longest.

    Times that are not set stay so. Each change has a warning.
    """
    warnings: list[CallWarning] = []
    times = sorted(int(time[:-1]) * _SECONDS[time[-1]] for time in allowed)
    tools = tuple(_timed(tool, f"tools[{i}]", times, warnings) for i, tool in enumerate(call.tools))
    messages = tuple(
        _timed_message(message, f"messages[{i}]", times, warnings) for i, message in enumerate(call.messages)
    )
    return (call.with_(tools=tools, messages=messages) if warnings else call), warnings


def _timed_message(message: Message, path: str, times: list[int], warnings: list[CallWarning]) -> Message:
    parts = tuple(_timed(part, f"{path}.parts[{i}]", times, warnings) for i, part in enumerate(message.parts))
    changed = any(new is not old for new, old in zip(parts, message.parts, strict=True))
    return replace(message, parts=parts) if changed else message


def _timed(holder: T, path: str, times: list[int], warnings: list[CallWarning]) -> T:
    item: Any = holder
    cache: CachePoint | None = getattr(item, "cache", None)
    if cache is None or cache.ttl is None or cache.ttl in times:
        return holder
    sent = next((time for time in times if time >= cache.ttl), times[-1])
    message = f"the supported TTLs are {' and '.join(map(str, times))} seconds"
    warnings.append(change_warning("cache_time_changed", f"{path}.cache.ttl", message, cache.ttl, sent))
    return replace(item, cache=CachePoint(sent))
