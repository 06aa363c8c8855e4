"""How a typed answer is requested: `output_strategy` decides, by the call's `output_mode` and the model's profile."""

from __future__ import annotations

from typing import Literal, NoReturn, TypeAlias

from ...errors import UnsupportedOptionError
from ...ports import ModelProfile
from ...schema import ModelCall
from .thinking import lower_thinking, thinks
from .tools import prompt_format

OutputStrategy: TypeAlias = Literal["native", "tool", "prompted", "separate"]
"""With the request, as the arguments of a tool, by an instruction, or in a call of its own after those with tools."""


def output_strategy(call: ModelCall, profile: ModelProfile) -> OutputStrategy:
    """Returns how the answer of a call with a schema is requested.

    A model is sent the schema if its provider enforces one, or JSON. Otherwise the answer is the arguments of a tool,
    where the model has tools, or follows an instruction. Beside tools that exclude a schema it is such a tool too; a
    model whose tools are in the prompt could not write a call under a schema, and has a call of its own for the answer.

    Raises `UnsupportedOptionError` for "native" and "grammar" where the provider has no structured output, and for
    "grammar" where its server accepts no grammars.
    """
    mode = call.output_mode
    if mode in ("tool", "prompted"):
        return mode
    if profile.structured_output == "none":
        if mode is not None:
            _refuse(call, "has no structured output", "'tool' or 'prompted'")
        return "tool" if may_have_output_tool(call, profile) else "prompted"
    if mode == "grammar" and profile.grammar is None:
        _refuse(call, "is not constrained by grammars", "'native', 'tool' or 'prompted'")
    in_prompt = bool(call.tools) and prompt_format(call, profile) is not None
    if in_prompt:
        return "separate"
    if profile.output_with_tools is not False or not (call.tools or call.hosted_tools):
        return "native"
    return "tool" if mode is None and call.tools and may_have_output_tool(call, profile) else "separate"


def _refuse(call: ModelCall, why: str, modes: str) -> NoReturn:
    raise UnsupportedOptionError(
        f"output_mode={call.output_mode!r}: {call.model} {why} at the provider {call.provider!r}.",
        hint=f"Leave output_mode out, or use {modes}.",
        provider=call.provider or None,
        model=call.model,
    )


def may_have_output_tool(call: ModelCall, profile: ModelProfile) -> bool:
    """Returns whether the model accepts a tool for its answer without a change to its thinking."""
    if profile.tools is None or profile.tools == "always":
        return True
    return profile.tools != "never" and not thinks(lower_thinking(call, profile)[0], profile.thinking)


def may_force_output_tool(call: ModelCall, profile: ModelProfile) -> bool:
    """Returns whether the model may be forced to call it: never while it thinks."""
    if profile.forced_tools == "never" or "tool_choice" in profile.refused:
        return False
    return not thinks(lower_thinking(call, profile)[0], profile.thinking)
