"""Lowers the schema of the answer: to a tool whose arguments are the answer, or to an instruction."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

from ...ports import ModelProfile, Transpiler
from ...schema import CallWarning, Message, ModelCall, OutputSchema, ToolChoice, ToolSpec

if TYPE_CHECKING:
    from .output_modes import OutputPlan

OUTPUT_TOOL = "final_answer"
_DESCRIPTION = "Gives the final answer. Call it once, when the answer is complete, instead of answering as text."


def lower_output_tool(
    call: ModelCall, profile: ModelProfile, transpiler: Transpiler | None = None
) -> tuple[ModelCall, str | None, OutputPlan | None, list[CallWarning]]:
    """Returns the call with a tool for its typed answer, if it needs one, the tool's name, how the answer is requested,
    and a warning of a tool that the call did not ask for.

    The tool is forced, or beside other tools some tool, unless the model thinks. A tool choice that forces another tool
    leaves it out: the answer comes in a later round.
    """
    output = call.output
    if output is None:
        return call.with_(output_mode=None) if call.output_mode is not None else call, None, None, []
    from .output_modes import may_force_output_tool, output_plan

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
    messages = call.messages if choice is not None else _instructed(call, f"Give the answer by calling {name}.")
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
    messages = _instructed(call, instruction(output))
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
    """Returns what asks a model for an answer of this schema: as a sketch of the type, if that is shorter."""
    from ...outputs.type_sketch import schema_instruction

    return schema_instruction(output.schema)


def _instructed(call: ModelCall, text: str) -> tuple[Message, ...]:
    position = sum(1 for _ in takewhile(lambda message: message.role == "system", call.messages))
    return (*call.messages[:position], Message.system(text), *call.messages[position:])


def _names() -> Any:
    yield OUTPUT_TOOL
    number = 2
    while True:
        yield f"{OUTPUT_TOOL}_{number}"
        number += 1
