"""Hypothesis strategies: calls, and what they hold besides messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import (
    MEDIA_RULES,
    ContentPart,
    HostedTool,
    HostedToolKind,
    MediaKind,
    Modality,
    ModelCall,
    OutputSchema,
    ProviderOptions,
    Sampling,
    ThinkingLevel,
    ToolChoice,
    ToolSpec,
)
from .message import conversations
from .option_placement import message_with_options, placed_options
from .part import CACHE, FLAG, NAME, OBJECT, SOME_TEXT, TEXT, TOOL_NAME, tuples

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
