"""Lowers the schema of the answer: how it is requested, by the call's `output_mode`, the model's profile and what its
schema needs; to a tool whose arguments are the answer, or to an instruction.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from ...errors import UnsupportedOptionError
from ...ports import ChecksOutputSchemas, ModelProfile, Transpiler
from ...schema import CallWarning, Message, ModelCall, OutputSchema, ToolChoice, ToolSpec
from .options import lower_thinking, thinks
from .tools import prompt_format

OUTPUT_TOOL = "final_answer"
_DESCRIPTION = "Gives the final answer. Call it once, when the answer is complete, instead of answering as text."
OutputStrategy: TypeAlias = Literal["native", "tool", "prompted", "separate"]
"""With the request, as the arguments of a tool, by an instruction, or in a call of its own after those with tools."""


def lower_output_tool(
    call: ModelCall, output: OutputSchema, profile: ModelProfile, transpiler: Transpiler | None = None
) -> tuple[ModelCall, str | None, OutputPlan, list[CallWarning]]:
    """Returns the call with a tool for its typed answer, if it needs one, the tool's name, how the answer is requested,
    and a warning of a tool that the call did not ask for.

    The tool is forced, or beside other tools some tool, unless the model thinks. A tool choice that forces another tool
    leaves it out: the answer comes in a later round.
    """
    plan = output_plan(call, profile, transpiler)
    requested, call = call.output_mode, call.with_(output_mode=None) if call.output_mode is not None else call
    if plan.strategy != "tool":
        return call, None, plan, []
    choice = call.tool_choice
    if choice is not None and choice.mode in ("required", "tool") and call.tools:
        return call.with_(output=None), None, plan, []
    names = {tool.name for tool in call.tools}
    name = next(each for each in _names() if each not in names)
    tool = ToolSpec(name, output.description or _DESCRIPTION, output.schema)
    others = () if choice is not None and choice.mode == "none" else call.tools
    if may_force_output_tool(call, profile):
        choice = ToolChoice("required") if others or call.hosted_tools else ToolChoice("tool", name)
    else:
        choice = None
    messages = call.messages if choice is not None else _with_instruction(call, f"Give the answer by calling {name}.")
    warnings: list[CallWarning] = []
    if requested is None:
        message = f"{_because(plan)}{call.model} gives its answer as the arguments of the tool {name!r}"
        warnings.append(CallWarning("schema_as_tool", "output", message, sent=name))
    lowered = call.with_(output=None, tools=(*others, tool), tool_choice=choice, messages=messages)
    return lowered, name, plan, warnings


def lower_instruction(call: ModelCall, requested: bool, plan: OutputPlan) -> tuple[dict[str, Any], list[CallWarning]]:
    """Returns the changed fields of a call whose schema is an instruction, and a warning unless it was `requested`.

    The schema is then in a system message of its own, after the initial ones, and nothing enforces it.
    """
    output = call.output
    if output is None or plan.strategy == "native":
        return {}, []
    messages = _with_instruction(call, instruction(output))
    if requested:
        return {"output": None, "messages": messages}, []
    position = sum(1 for _ in takewhile(lambda message: message.role == "system", call.messages))
    what = "together with tools" if plan.strategy == "separate" else "of the answer"
    reason = _because(plan) or f"{call.model} accepts no schema {what}: "
    message = f"{reason}it is sent in a system message, messages[{position}]"
    return {"output": None, "messages": messages}, [CallWarning("schema_as_instruction", "output", message)]


def _because(plan: OutputPlan) -> str:
    return f"structured output cannot express the schema ({plan.lost}): " if plan.lost else ""


def instruction(output: OutputSchema) -> str:
    """Returns the instruction to answer in this schema: as a sketch of the type, if that is shorter."""
    from ...outputs.type_sketch import schema_instruction

    return schema_instruction(output.schema)


def _with_instruction(call: ModelCall, text: str) -> tuple[Message, ...]:
    position = sum(1 for _ in takewhile(lambda message: message.role == "system", call.messages))
    return (*call.messages[:position], Message.system(text), *call.messages[position:])


def _names() -> Any:
    yield OUTPUT_TOOL
    number = 2
    while True:
        yield f"{OUTPUT_TOOL}_{number}"
        number += 1


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
    """Returns the losses of the call's schema in the wire format; None if it can express all of its structure."""
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
