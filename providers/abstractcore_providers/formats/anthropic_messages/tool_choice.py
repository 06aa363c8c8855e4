"""`tool_choice` and `parallel_tool_calls`, written and read."""

from __future__ import annotations

from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, ModelCall, ToolChoice, to_data

from ...common.reading import Object, get_flag, get_object, get_text

_CHOICES = {ToolChoice("auto"): "auto", ToolChoice("none"): "none", ToolChoice("required"): "any"}
_AUTO = ToolChoice("auto")


def choice_to_theirs(call: ModelCall, warnings: list[CallWarning]) -> Object:
    """Returns the field `tool_choice`, which includes `parallel_tool_calls`; empty if neither is set."""
    choice, parallel = call.tool_choice, call.parallel_tool_calls
    if choice is not None and choice.mode == "none":
        if parallel is not None:
            message = "no tools may be called"
            warnings.append(CallWarning("no_effect", "parallel_tool_calls", message, parallel))
        return {"tool_choice": {"type": "none"}}
    if choice == _AUTO and parallel is not None:
        message = "it is the default"
        warnings.append(CallWarning("no_effect", "tool_choice", message, to_data(choice)))
    if choice is None and parallel is None:
        return {}
    data: Object = {"type": _CHOICES.get(choice, "tool") if choice is not None else "auto"}
    if choice is not None and choice.tool is not None:
        data["name"] = choice.tool
    if parallel is not None:
        data["disable_parallel_tool_use"] = not parallel
    return {"tool_choice": data}


def choice_to_ours(value: Any) -> tuple[ToolChoice | None, bool | None]:
    """Reads `tool_choice` and `parallel_tool_calls`. "auto" together with the latter counts as not set."""
    if value is None:
        return None, None
    data = get_object(value, "tool_choice")
    kind = get_text(data.get("type"), "tool_choice.type")
    one = get_flag(data, "disable_parallel_tool_use", "tool_choice.")
    parallel = None if one is None else not one
    if kind == "tool":
        return ToolChoice("tool", get_text(data.get("name"), "tool_choice.name")), parallel
    choice = next((ours for ours, theirs in _CHOICES.items() if theirs == kind), None)
    if choice is None:
        raise InvalidInputError(f"unknown tool choice {kind!r}", path="tool_choice.type")
    return None if choice == _AUTO and parallel is not None else choice, parallel
