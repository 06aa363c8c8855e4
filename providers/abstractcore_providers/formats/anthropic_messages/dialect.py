"""Where servers and models of this format differ, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """One vendor's way of speaking the format.

    `provider` is the name under which `provider_options` are looked up, and whose reasoning, files and opaque parts are
    sent back. `max_tokens`, which the format demands, stands where a call says nothing. With `system_in_place`, system
    messages may stand in the middle of a conversation. `off` is the type of thinking that is none.
    """

    provider: str = "anthropic"
    max_tokens: int = 4096
    system_in_place: bool = False
    off: str = "disabled"
