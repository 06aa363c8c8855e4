"""Where servers and models of this format differ, as data."""

from __future__ import annotations

from dataclasses import dataclass

from ...common.claude_rules import ClaudeRules


@dataclass(frozen=True, slots=True)
class Dialect(ClaudeRules):
    """One vendor's way of speaking the format, and what its model refuses.

    `provider` is the name under which `provider_options` are looked up, and whose reasoning, files and opaque parts are
    sent back. `max_tokens`, which the format demands, stands where a call says nothing.
    """

    provider: str = "anthropic"
    max_tokens: int = 4096
