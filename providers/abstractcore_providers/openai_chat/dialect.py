"""Where servers of this format differ, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """One vendor's way of speaking the format.

    `provider` is the name under which `provider_options` are looked up. `max_tokens_field` is what the limit on the
    answer is called. `options` are the sampling options taken beyond those every server takes. With `think_tags`, a
    server may leave reasoning in the text, between the tags that the model wrote.
    """

    provider: str = "openai"
    max_tokens_field: str = "max_completion_tokens"
    options: frozenset[str] = frozenset()
    reasoning_effort: bool = True
    stream_usage: bool = True
    think_tags: bool = False


COMPATIBLE = Dialect("openai-compatible", "max_tokens", reasoning_effort=False, think_tags=True)
"""The common ground of servers that speak the format."""

LLAMA_CPP = Dialect("local", "max_tokens", frozenset({"top_k"}), reasoning_effort=False, think_tags=True)
"""llama.cpp's own server (tools/server/README.md in its repository)."""
