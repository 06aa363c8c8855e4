"""Hypothesis strategies: provider options on messages and parts that are given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import ContentPart, Message, Part, ProviderOptions, ToolResult


def placed_options(options: SearchStrategy[ProviderOptions]) -> SearchStrategy[list[tuple[int, ProviderOptions]]]:
    """Provider options, each with a number that says where they go."""
    return st.lists(st.tuples(st.integers(0, 9), options), max_size=3)


def message_with_options(message: Message, number: int, options: ProviderOptions) -> Message:
    """Returns `message` with provider options on itself or on one of its parts, by `number`."""
    index = number % (len(message.parts) + 1) - 1
    if index < 0:
        return message if message.role == "tool" else replace(message, provider_options=options)
    return replace(message, parts=parts_with_options(message.parts, index, options))


def parts_with_options(some: tuple[Part, ...], index: int, options: ProviderOptions) -> tuple[Part, ...]:
    """Returns `some` with provider options on the part at `index`, or on the content of a tool result there."""
    part = some[index]
    if isinstance(part, ToolResult) and part.content:
        content = cast("tuple[ContentPart, ...]", parts_with_options(part.content, 0, options))
        part = replace(part, content=content)
    if not hasattr(part, "provider_options"):
        return some
    return (*some[:index], replace(cast(Any, part), provider_options=options), *some[index + 1 :])
