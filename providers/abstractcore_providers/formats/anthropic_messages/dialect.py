"""Differences between servers and models of this format, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """One vendor's variant of the format.

    `provider` is the key of `provider_options`, and the provider whose reasoning, files and opaque parts are sent back.
    `max_tokens`, which the format requires, is the default for calls without a limit. With `system_in_place`, system
    messages may be in the middle of a conversation. `off` is the type of thinking that disables it.
    """

    provider: str = "anthropic"
    max_tokens: int = 4096
    system_in_place: bool = False
    off: str = "disabled"
