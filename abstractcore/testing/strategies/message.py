"""Hypothesis strategies: messages and conversations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import ContentPart, Message, Part, SchemaError, ToolCall, ToolResult
from .part import (
    content_parts,
    hosted_parts,
    opaque_parts,
    reasoning_parts,
    text_parts,
    tool_calls,
    tool_results,
    tuples,
)

_MOST_CALLS = 2
"""The maximum number of tool calls in one reply."""


def parts_with_calls(others: SearchStrategy[Any]) -> SearchStrategy[tuple[Part, ...]]:
    """Parts and tool calls with distinct ids, in any order."""
    return st.builds(_mixed, tuples(others), st.lists(st.tuples(st.integers(0, 3), tool_calls()), max_size=_MOST_CALLS))


def _mixed(others: tuple[Part, ...], calls: Sequence[tuple[int, ToolCall]]) -> tuple[Part, ...]:
    mixed = list(others)
    for index, call in {call.id: (index, call) for index, call in calls}.values():
        mixed.insert(index, call)
    return tuple(mixed)


def messages(content: SearchStrategy[ContentPart] | None = None) -> SearchStrategy[Message]:
    """One message of any role."""
    shown = content_parts() if content is None else content
    return st.one_of(_system_or_user(shown), _assistant(shown), tool_results(shown).map(Message.tool))


def _system_or_user(content: SearchStrategy[Any]) -> SearchStrategy[Message]:
    user = st.builds(Message, st.just("user"), tuples(content | opaque_parts(), min_size=1))
    return user | st.builds(Message, st.just("system"), tuples(text_parts() | opaque_parts(), min_size=1))


def _assistant(content: SearchStrategy[Any]) -> SearchStrategy[Message]:
    others = st.one_of(content, reasoning_parts(), hosted_parts(), opaque_parts())
    return st.builds(_answer, parts_with_calls(others))


def _answer(some: tuple[Part, ...]) -> Message:
    try:
        return Message("assistant", some)
    except SchemaError:
        return Message.assistant("nothing else is left")


def conversations(
    user_content: SearchStrategy[ContentPart] | None = None, tool_content: SearchStrategy[ContentPart] | None = None
) -> SearchStrategy[tuple[Message, ...]]:
    """Conversations: tools are called after a user message, and every call has a result right after its turn."""
    shown = content_parts() if user_content is None else user_content
    results = st.lists(tool_results(tool_content), min_size=_MOST_CALLS, max_size=_MOST_CALLS)
    turns = st.builds(_turn, _system_or_user(shown), st.none() | _assistant(shown), results)
    return st.lists(turns, min_size=1, max_size=3).map(lambda turns: tuple(chain.from_iterable(turns)))


def _turn(message: Message, answer: Message | None, results: Sequence[ToolResult]) -> list[Message]:
    """Returns a turn with one of `results` for each call of the answer."""
    if answer is None:
        return [message]
    if not answer.tool_calls:
        return [message, answer]
    first = [message] if message.role == "user" else [message, Message.user("Go on.")]
    pairs = zip(answer.tool_calls, results, strict=False)
    return [*first, answer, Message("tool", tuple(replace(result, call_id=call.id) for call, result in pairs))]
