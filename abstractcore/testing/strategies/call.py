"""Hypothesis strategies: messages, conversations, and calls with provider options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, cast, get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import (
    MEDIA_RULES,
    ContentPart,
    HostedTool,
    HostedToolKind,
    MediaKind,
    Message,
    Modality,
    ModelCall,
    OutputSchema,
    Part,
    ProviderOptions,
    Sampling,
    SchemaError,
    ThinkingLevel,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
)
from .part import (
    CACHE,
    FLAG,
    NAME,
    OBJECT,
    SOME_TEXT,
    TEXT,
    TOOL_NAME,
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
    return st.builds(_mix, tuples(others), st.lists(st.tuples(st.integers(0, 3), tool_calls()), max_size=_MOST_CALLS))


def _mix(others: tuple[Part, ...], calls: Sequence[tuple[int, ToolCall]]) -> tuple[Part, ...]:
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


_KINDS: tuple[MediaKind, ...] = get_args(MediaKind)
_LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)
_HOSTED = get_args(HostedToolKind)
_MODALITIES: tuple[Modality, ...] = get_args(Modality)


def tool_specs() -> SearchStrategy[ToolSpec]:
    """Tool specs."""
    names = st.sampled_from(["a", "$top"])
    schemas = names.map(lambda name: {"type": "object", "properties": {name: {"type": "integer"}}}) | OBJECT
    strict = st.sampled_from([None, True, False])
    return st.builds(ToolSpec, TOOL_NAME, TEXT, schemas, strict, FLAG, FLAG, FLAG, CACHE, FLAG)


def samplings() -> SearchStrategy[Sampling]:
    """Sampling parameters."""
    large, limits = st.none() | st.integers(0, 10**6), st.none() | st.integers(1, 10**6)
    temperature, top_p, penalty = (st.none() | st.floats(*ends) for ends in ((0, 2), (0, 1), (-2, 2)))
    return st.builds(Sampling, limits, temperature, top_p, large, large, tuples(SOME_TEXT, 2), penalty, penalty, large)


def output_schemas() -> SearchStrategy[OutputSchema]:
    """Output schemas."""
    return st.builds(OutputSchema, NAME | st.just("An answer"), OBJECT, st.none() | TEXT, FLAG)


def hosted_tools() -> SearchStrategy[HostedTool]:
    """Hosted tools."""
    return st.builds(HostedTool, st.sampled_from(_HOSTED), OBJECT)


def calls(
    provider: str = "scripted",
    user_content: SearchStrategy[ContentPart] | None = None,
    tool_content: SearchStrategy[ContentPart] | None = None,
    hosted: SearchStrategy[HostedTool] | None = None,
    options: SearchStrategy[ProviderOptions] | None = None,
) -> SearchStrategy[ModelCall]:
    """Lowered calls of `provider`, with content that `user_content` and `tool_content` can restrict.

    Without `hosted`, calls have no hosted tools; without `options`, parts and messages have no provider options.
    """
    choices = st.sampled_from([None, *map(ToolChoice, ("auto", "none", "required"))]) | st.builds(
        ToolChoice, st.just("tool"), NAME
    )
    labels = st.dictionaries(NAME, TEXT, max_size=1)
    drawn = st.builds(
        ModelCall,
        model=NAME,
        messages=conversations(user_content, tool_content),
        provider=st.just(provider),
        tools=st.lists(tool_specs(), max_size=2, unique_by=lambda tool: tool.name),
        hosted_tools=st.just([]) if hosted is None else st.lists(hosted, max_size=2),
        tool_choice=choices,
        parallel_tool_calls=st.none() | FLAG,
        sampling=st.just(Sampling()) | samplings(),
        output=st.none() | output_schemas(),
        thinking=st.none() | st.sampled_from(_LEVELS) | st.integers(0, 9999),
        modalities=st.lists(st.sampled_from(_MODALITIES), max_size=2, unique=True),
        stream=FLAG,
        strict=FLAG,
        media_policy=st.dictionaries(st.sampled_from(_KINDS), st.sampled_from(MEDIA_RULES), max_size=1),
        media_history=st.dictionaries(st.sampled_from(_KINDS), st.sampled_from(["keep", "text"]), max_size=1),
        provider_options=st.dictionaries(st.sampled_from([provider, "another"]), OBJECT, max_size=2),
        tags=labels,
        parent_id=st.none() | NAME,
        trace_context=labels,
    )
    return drawn if options is None else st.builds(_with_options, drawn, placed_options(options))


def _with_options(call: ModelCall, placed: Sequence[tuple[int, ProviderOptions]]) -> ModelCall:
    """Returns `call` with provider options on some messages and parts, also in tool results."""
    messages = list(call.messages)
    for number, options in placed:
        index = number % len(messages)
        messages[index] = message_with_options(messages[index], number // len(messages), options)
    return call.with_(messages=tuple(messages))
