"""How a typed answer is requested: by the call's `output_mode`, the model's profile, and what its schema needs."""

from __future__ import annotations

from typing import Literal, NamedTuple, NoReturn, TypeAlias

from ...errors import UnsupportedOptionError
from ...ports import ChecksOutputSchemas, ModelProfile, Transpiler
from ...schema import ModelCall
from .thinking import lower_thinking, thinks
from .tools import prompt_format

OutputStrategy: TypeAlias = Literal["native", "tool", "prompted", "separate"]
"""With the request, as the arguments of a tool, by an instruction, or in a call of its own after those with tools."""


class OutputPlan(NamedTuple):
    """How the answer of a call is requested."""

    strategy: OutputStrategy
    lost: str = ""
    """What structured output would lose of the schema, which is why another way is taken."""


def output_plan(call: ModelCall, profile: ModelProfile, transpiler: Transpiler | None = None) -> OutputPlan:
    """Returns how the answer of a call with a schema is requested.

    A model is sent the schema if its provider enforces one, or JSON, and the wire format can express it. Otherwise the
    answer is the arguments of a tool, where the model has tools, or follows an instruction. Beside tools that exclude a
    schema it is such a tool too; a model whose tools are in the prompt could not write a call under a schema, and has a
    call of its own for the answer.

    Raises `UnsupportedOptionError` for a mode that the provider does not have, or that cannot express the schema.
    """
    mode = call.output_mode
    if mode is not None:
        _check_mode(call, profile, transpiler)
        if mode in ("tool", "prompted"):
            return OutputPlan(mode)
    if profile.structured_output == "none":
        has_tool = may_have_output_tool(call, profile) and _lost(call, transpiler, as_tool=True) is None
        return OutputPlan("tool" if has_tool else "prompted")
    if call.tools and prompt_format(call, profile) is not None:
        return OutputPlan("separate")
    if mode is None and (lost := _lost(call, transpiler)) is not None:
        has_tool = may_have_output_tool(call, profile) and may_force_output_tool(call, profile)
        is_tool = has_tool and _lost(call, transpiler, as_tool=True) is None
        return OutputPlan("tool" if is_tool else "prompted", lost)
    if profile.output_with_tools is not False or not (call.tools or call.hosted_tools):
        return OutputPlan("native")
    is_tool = mode is None and call.tools and may_have_output_tool(call, profile)
    return OutputPlan("tool" if is_tool and _lost(call, transpiler, as_tool=True) is None else "separate")


def _lost(call: ModelCall, transpiler: Transpiler | None, *, as_tool: bool = False) -> str | None:
    """Returns what the wire format cannot express of the call's schema; None if it can express all of its structure."""
    if call.output is None or not isinstance(transpiler, ChecksOutputSchemas):
        return None
    return transpiler.inexpressible(call.output, as_tool=as_tool)


def _check_mode(call: ModelCall, profile: ModelProfile, transpiler: Transpiler | None) -> None:
    mode = call.output_mode
    if mode in ("native", "grammar"):
        if profile.structured_output == "none":
            _refuse(call, "has no structured output", "'tool' or 'prompted'")
        if mode == "grammar" and profile.grammar is None:
            _refuse(call, "is not constrained by grammars", "'native', 'tool' or 'prompted'")
    lost = None if mode == "prompted" else _lost(call, transpiler, as_tool=mode == "tool")
    if lost is not None:
        others = "'prompted'" if _lost(call, transpiler, as_tool=True) is not None else "'tool' or 'prompted'"
        _refuse(call, f"cannot be sent all of the schema in this mode ({lost})", others)


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
