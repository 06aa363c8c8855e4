"""Lowers the tools of a call, and what depends on them: thinking, and a tool choice that forces a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ...errors import UnsupportedContentError
from ...ports import ModelProfile
from ...schema import CallWarning, ModelCall, ToolChoice, to_data
from .changes import change_warning
from .thinking import Asked, thinks

if TYPE_CHECKING:
    from ...schema import ReplyReading

DEFAULT_FORMAT = "hermes"
"""The format for models whose own is not known: plain JSON between tags."""
_AUTO = ToolChoice("auto")


def lower_tools(call: ModelCall, profile: ModelProfile) -> tuple[ModelCall, ReplyReading | None, list[CallWarning]]:
    """Returns the call with its tools in a system message and its history as text, how to read the reply, and warnings,
    if the call or the profile says so. Raises `InvalidInputError` for an unknown format.

    Without a prompt of tools, a reply may have native calls as text: from servers of which the profile says so.
    """
    name = prompt_format(call, profile)
    if name is not None:
        from .prompted_tools import write_tools

        return write_tools(call, name, profile)
    reading = None
    if profile.calls_as_text and call.rescue and call.tools and not forbids_tools(call):
        from ...schema import ReplyReading

        reading = ReplyReading(tools=call.tools, rescue=True, single=call.parallel_tool_calls is False)
    changed = call.tool_format is not None or not call.rescue
    return call.with_(tool_format=None, rescue=True) if changed else call, reading, []


def prompt_format(call: ModelCall, profile: ModelProfile) -> str | None:
    """Returns the format of the call's tools in the prompt; None if they are sent as such, or refused: beside hosted
    tools, which cannot be in a prompt, a model without tools has a prompt only if the call names its format.
    """
    name = call.tool_format
    if name is None:
        if call.tools and call.hosted_tools:
            return None
        if profile.tools != "never" or (profile.tools_provider is not None and call.tools):
            return None
        name = profile.tool_prompt or DEFAULT_FORMAT
    return name if name != "native" and (call.tools or _has_calls(call)) else None


def _has_calls(call: ModelCall) -> bool:
    return any(message.role == "tool" or message.tool_calls for message in call.messages)


def forbids_tools(call: ModelCall) -> bool:
    """Returns whether the tool choice forbids calls."""
    return call.tool_choice is not None and call.tool_choice.mode == "none"


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
    if call.hosted_tools:
        hint = "Choose another model, or leave out the hosted tools: the others are then described in the prompt."
    if profile.tools_provider is not None:
        hint = f"Use the provider {profile.tools_provider!r}, or tool_format='hermes' for tools in the prompt."
    raise UnsupportedContentError(
        f"tools: {call.model} accepts no tools at the provider {call.provider!r}.",
        hint=hint,
        provider=call.provider or None,
        model=call.model,
    )
