"""Lowers `thinking` to a level or a budget that the model supports."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ...ports import ModelProfile, Thinking
from ...schema import CallWarning, Message, ModelCall, ReasoningPart, Sampling, TextPart, ThinkingLevel
from .changes import change_warning

_BUDGETS: dict[ThinkingLevel, int] = {
    "minimal": 1024,
    "low": 1024,
    "medium": 8192,
    "high": 24_576,
    "xhigh": 32_768,
    "max": 65_536,
}
"""Tokens for a level; up to "high" as Google maps OpenAI's (ai.google.dev/gemini-api/docs/openai, "Thinking")."""
_ANSWER = 4096
"""Tokens that a level leaves for the answer, of the highest budget, if the budget counts towards the output."""

Asked = ThinkingLevel | int | None


class _Choice(NamedTuple):
    """The value to send, with the code and the reason of the warning if it is not what was requested."""

    sent: Asked
    code: str = ""
    message: str = ""


def lower_thinking(call: ModelCall, profile: ModelProfile) -> tuple[Asked, list[CallWarning]]:
    """Returns the value to send for the requested one, and a warning if it differs.

    A level becomes a budget within the model's bounds, without a warning: that is what a level means there. If two
    levels are equally near, it is the higher one.
    """
    asked, takes = call.thinking, profile.thinking
    if asked is None:
        return None, []
    choice = _translated(asked, profile)
    if takes is not None and takes.budget_within_output and takes.budget is not None:
        limits = [limit for limit in (call.sampling.max_output_tokens, profile.max_output_tokens) if limit is not None]
        choice = _within_output(choice, takes, takes.budget[0], min(limits)) if limits else choice
    if not choice.code or choice.sent == asked:
        return choice.sent, []
    requested = "off" if asked == 0 else asked
    return choice.sent, [change_warning(choice.code, "thinking", choice.message, requested, choice.sent)]


def thinking_within_turn(call: ModelCall, thinking: Asked, profile: ModelProfile) -> tuple[Asked, CallWarning | None]:
    """Returns the thinking to send in a turn of the model that goes on, after tool results or a beginning of its text:
    a budget that the model refuses there, since the reasoning of this turn is not in the messages, becomes a level, or
    none; with a warning then.
    """
    takes = profile.thinking
    if takes is None or not takes.budget_needs_reasoning or not isinstance(thinking, int) or thinking == 0:
        return thinking, None
    if not _goes_on_without_reasoning(call):
        return thinking, None
    sent: Asked = "off" if takes.can_be_off else None
    sent = _level(thinking, takes.levels).sent if takes.levels else sent
    message = "a budget needs the reasoning with which the model began this turn, and the messages do not have it"
    return sent, change_warning("thinking_changed", "thinking", message, call.thinking, sent)


def _goes_on_without_reasoning(call: ModelCall) -> bool:
    """Whether the model's last turn, of all its messages since the last question, goes on, and does not begin with
    reasoning of the model that the call goes to.
    """
    first: Message | None = None
    for message in reversed(call.messages):
        if message.role == "assistant":
            if first is None and not message.tool_calls and message is not call.messages[-1]:
                return False
            first = message
        elif message.role == "user" and first is not None:
            break
    if first is None:
        return False
    begin = next((part for part in first.parts if not (isinstance(part, TextPart) and part.text.isspace())), None)
    origin = f"{call.provider}/{call.model}"
    return not (isinstance(begin, ReasoningPart) and begin.origin == origin and not begin.is_plain)


def thinks(thinking: Asked, takes: Thinking | None) -> bool:
    """Returns whether the model thinks if it is sent this value."""
    if thinking is None:
        return takes is not None and takes.on_by_default
    return thinking not in ("off", 0)


def room_to_think(recommended: Sampling, thinking: Asked, profile: ModelProfile) -> Sampling:
    """Returns the recommended sampling with a token limit above a thinking budget that is part of the output.

    The limit is at most the maximum of the model; if that is unknown, one token above the highest budget.
    """
    limit, takes = recommended.max_output_tokens, profile.thinking
    if limit is None or not isinstance(thinking, int) or takes is None or takes.budget is None:
        return recommended
    if not takes.budget_within_output:
        return recommended
    most = profile.max_output_tokens or takes.budget[1] + 1
    return replace(recommended, max_output_tokens=min(limit + thinking, most))


def _translated(asked: ThinkingLevel | int, profile: ModelProfile) -> _Choice:
    takes = profile.thinking
    if "thinking" in profile.refused:
        return _Choice(None, "unsupported_option", "this model does not accept a thinking option")
    if "thinking" in profile.no_effect:
        return _Choice(None, "no_effect", "this model ignores the thinking option")
    if takes is None:
        return _Choice(asked)
    if asked in ("off", 0):
        return _off(takes)
    if takes.levels and (takes.budget is None or isinstance(asked, str)):
        return _level(asked, takes.levels)
    if takes.budget is not None:
        return _budget(asked, takes.budget, takes.budget_within_output)
    if takes.on_by_default:
        return _Choice(asked)
    return _Choice(None, "thinking_left_out", "this model does not support thinking")


def _off(takes: Thinking) -> _Choice:
    settable = takes.budget is not None or bool(takes.levels)
    if not settable and not takes.on_by_default:
        return _Choice(None)
    if takes.can_be_off:
        return _Choice("off")
    least: Asked = takes.levels[0] if takes.levels else takes.budget[0] if takes.budget is not None else None
    return _Choice(least, "thinking_changed", "thinking cannot be turned off for this model")


def _budget(asked: ThinkingLevel | int, bounds: tuple[int, int], within_output: bool) -> _Choice:
    lowest, highest = bounds
    if isinstance(asked, str):
        most = highest - min(_ANSWER, highest // 4) if within_output else highest
        return _Choice(max(lowest, min(_BUDGETS.get(asked, 0), most)))
    tokens = min(max(asked, lowest), highest)
    return _Choice(tokens, "thinking_changed", f"this model's thinking budget is {lowest:,} to {highest:,} tokens")


def _within_output(choice: _Choice, takes: Thinking, lowest: int, limit: int) -> _Choice:
    """Returns a budget below the output limit; if the lowest one is not, thinking is turned off."""
    if not isinstance(choice.sent, int) or choice.sent < limit:
        return choice
    least: Asked = "off" if takes.can_be_off else None
    message = f"the budget must be at least {lowest:,} tokens and below max_output_tokens"
    return _Choice(limit - 1 if limit > lowest else least, "thinking_changed", message)


def _level(asked: ThinkingLevel | int, levels: tuple[ThinkingLevel, ...]) -> _Choice:
    if asked in levels:
        return _Choice(asked)
    tokens = asked if isinstance(asked, int) else _BUDGETS.get(asked, 0)
    nearest = min(reversed(levels), key=lambda level: abs(_BUDGETS.get(level, 0) - tokens))
    return _Choice(nearest, "thinking_changed", f"this model supports the thinking levels {', '.join(levels)}")
