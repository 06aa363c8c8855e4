"""Decides whether the prefix of a cache point is too short to be cached."""

from __future__ import annotations

from ...ports import ModelProfile
from ...schema import NO_OPTIONS, ModelCall, TextPart

_TOKENS_AROUND = 16
"""More than the tokens that a provider writes around a message: its role, its beginning and its end."""


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
