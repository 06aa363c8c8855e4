"""Lowers what depends on the tools of a call: thinking beside them, and a tool choice that forces a call."""

from __future__ import annotations

from typing import NoReturn

from ...errors import UnsupportedContentError
from ...ports import ModelProfile
from ...schema import CallWarning, ModelCall, ToolChoice, to_data
from .changes import change_warning
from .thinking import Asked, thinks

_AUTO = ToolChoice("auto")


def thinking_beside_tools(call: ModelCall, thinking: Asked, profile: ModelProfile) -> tuple[Asked, CallWarning | None]:
    """Returns the thinking to send beside the tools of `call`, with a warning if they exclude `thinking`, which is what
    would be sent without them.

    Raises `UnsupportedContentError` for tools that the model never accepts.
    """
    accepts = profile.tools
    if accepts is None or accepts == "always" or not call.tools:
        return thinking, None
    if accepts == "never":
        _refuse_tools(call, profile)
    if not thinks(thinking, profile.thinking) or (thinking is None and accepts == "thinking_unset"):
        return thinking, None
    allowed: Asked = "off" if accepts == "without_thinking" else None
    message = f"{call.model} accepts tools only {'without thinking' if allowed else 'if thinking is not set'}"
    if profile.tools_provider is not None:
        message += f": {profile.tools_provider!r} has both"
    return allowed, change_warning("thinking_changed", "thinking", message, call.thinking, allowed)


def lower_tool_choice(
    call: ModelCall, thinking: Asked, profile: ModelProfile
) -> tuple[ToolChoice | None, list[CallWarning]]:
    """Returns the tool choice, or "auto" in place of one that forces a call where the model does not accept that.

    "auto" is left out beside `parallel_tool_calls`, which implies it.
    """
    choice, accepts = call.tool_choice, profile.forced_tools
    if choice is None or accepts is None or accepts == "always" or choice.mode in ("auto", "none"):
        return choice, []
    if not (call.tools or call.hosted_tools):
        return choice, []
    if accepts == "without_budget" and (not isinstance(thinking, int) or thinking == 0):
        return choice, []
    if accepts == "without_thinking" and not thinks(thinking, profile.thinking):
        return choice, []
    auto_is_sent = call.parallel_tool_calls is None
    what = {"without_budget": " with a thinking budget", "without_thinking": " while it thinks"}.get(accepts, "")
    message = f"{call.model} does not accept a forced tool call{what}"
    sent = {"mode": "auto"} if auto_is_sent else None
    warning = change_warning("tool_choice_changed", "tool_choice", message, to_data(choice), sent)
    return _AUTO if auto_is_sent else None, [warning]


def _refuse_tools(call: ModelCall, profile: ModelProfile) -> NoReturn:
    hint = "Choose another model, leave the tools out, or leave out tool_format='native'."
    if profile.tools_provider is not None:
        hint = f"Use the provider {profile.tools_provider!r}, or tool_format='hermes' for tools in the prompt."
    raise UnsupportedContentError(
        f"tools: {call.model} accepts no tools at the provider {call.provider!r}.",
        hint=hint,
        provider=call.provider or None,
        model=call.model,
    )
