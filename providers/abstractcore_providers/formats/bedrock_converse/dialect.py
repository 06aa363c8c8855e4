"""Differences between the models behind this format, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

ThinkingField: TypeAlias = Literal[
    "thinking", "reasoningConfig", "reasoning.effort", "reasoning_effort", "reasoning_config", ""
]
TopKField: TypeAlias = Literal["top_k", "inferenceConfig.topK", ""]


@dataclass(frozen=True, slots=True)
class ConverseDialect:
    """How the requests of a model are written.

    `thinking_field` and `top_k_field` are the fields of `additionalModelRequestFields` for these options, empty if
    there is none or it is not known; with `reads_all`, any of them is read, since a client's request is parsed before
    its model is known. With `tool_choice_none`, that object also has a field that forbids tool calls.

    For thinking in the field `thinking`: `off` is the type that disables it, and `off_effort` the highest effort beside
    it, empty for any. With `display`, the text of thinking has to be asked for; with `thinks_by_default`, the model
    thinks unless told not to; with `block_binding`, thinking that is sent back is refused if the conversation before it
    has changed.

    With `results_alone`, the model refuses a message with tool results and anything else: an assistant message comes
    between them. Without `result_status`, it refuses the status of a tool result.
    """

    thinking_field: ThinkingField = "thinking"
    top_k_field: TopKField = "top_k"
    reads_all: bool = False
    tool_choice_none: bool = False
    off: str = "disabled"
    off_effort: str = ""
    display: bool = False
    thinks_by_default: bool = False
    block_binding: bool = False
    results_alone: bool = False
    result_status: bool = True
