"""Where servers of this format differ, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ...common import json_schemas, tool_names

Field: TypeAlias = "tuple[str, ...]"
"""A field of a request, or a field of an object there: `("reasoning", "effort")`."""

COMMON_OPTIONS = frozenset(
    {
        "temperature",
        "top_p",
        "seed",
        "stop",
        "presence_penalty",
        "frequency_penalty",
        "top_logprobs",
        "parallel_tool_calls",
    }
)
"""Options that OpenAI takes."""


@dataclass(frozen=True, slots=True)
class ThinkingFields:
    """Where a request says how much the model is to think: a level, that it is not to, or a budget of tokens."""

    level: Field = ("reasoning_effort",)
    off: tuple[Field, str | bool] = (("reasoning_effort",), "none")
    budget: Field | None = None


PIECES, DETAILS = "content", "reasoning_details"
"""The fields where reasoning goes back as something else than one text: as pieces of the content, or as objects."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One vendor's way of speaking the format.

    `provider` is the name under which `provider_options` are looked up. `max_tokens_field` and `seed_field` are
    what the limit on the answer and the seed are called. `options` are those of a call's options that are taken.
    With `counted_logprobs`, `logprobs` is how many alternatives to show instead of a flag beside that number.
    `thinking` is None where nothing can be asked of it. With `stream_usage`, a stream tells usage only when asked.
    With `think_tags`, a server may leave reasoning in the text, between the tags that the model wrote.
    `reasoning_field` is where an earlier answer's reasoning goes back to its model, None if it does not; with
    `empty_reasoning`, an answer that calls tools has that field in any case. `call_id_size` is how many letters and
    digits the id of a tool call has, where that is prescribed. With `search_results`, the sources of an answer
    stand beside it. With `json_mode_only`, answers can be asked to be JSON, but not to fit a schema. Without
    `named_tool_choice`, a model cannot be told which tool to call. `tool_names` are the names that tools may have,
    None where any is taken; with `tool_descriptions`, none is without a description. `schemas` says what is taken of
    JSON Schema.
    """

    provider: str = "openai"
    max_tokens_field: str = "max_completion_tokens"
    seed_field: str = "seed"
    options: frozenset[str] = COMMON_OPTIONS
    counted_logprobs: bool = False
    thinking: ThinkingFields | None = ThinkingFields()
    stream_usage: bool = True
    think_tags: bool = False
    reasoning_field: str | None = None
    empty_reasoning: bool = False
    call_id_size: int | None = None
    search_results: bool = False
    json_mode_only: bool = False
    named_tool_choice: bool = True
    tool_names: tool_names.ToolNames | None = tool_names.OPENAI
    tool_descriptions: bool = False
    schemas: json_schemas.SchemaRules = json_schemas.OPENAI


COMPATIBLE = Dialect(
    "openai-compatible",
    "max_tokens",
    thinking=None,
    think_tags=True,
    tool_names=None,
    schemas=json_schemas.COMPATIBLE,
)
"""The common ground of servers that speak the format."""

LLAMA_CPP = Dialect(
    "local",
    "max_tokens",
    options=COMMON_OPTIONS | {"top_k"},
    thinking=None,
    think_tags=True,
    tool_names=None,
    schemas=json_schemas.TOLERANT,
)
"""llama.cpp's own server (tools/server/README.md in its repository)."""
