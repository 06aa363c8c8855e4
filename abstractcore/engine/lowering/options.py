"""Lowers thinking, sampling, modalities and other options to what the model supports: always, together, or while it
thinks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from ...ports import ModelProfile, Thinking
from ...schema import (
    CallWarning,
    Message,
    Modality,
    ModelCall,
    ReasoningPart,
    Sampling,
    TextPart,
    ThinkingLevel,
    ToolChoice,
    to_data,
)
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
ThinkingSetting = ThinkingLevel | int | None
SAMPLING_OPTIONS = tuple(field.name for field in fields(Sampling))
_OPTIONS = (*SAMPLING_OPTIONS, "tool_choice", "parallel_tool_calls")
_of_sampling = attrgetter(*SAMPLING_OPTIONS)
_UNSET = (*_of_sampling(Sampling()), None, None)
_DEFAULTS: Mapping[str, float] = MappingProxyType(
    {"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}
)
"""The defaults of the vendors' APIs (OpenAI's API reference, "Create chat completion"; Anthropic's, "Messages")."""


class _Choice(NamedTuple):
    """The value to send, with the code and the reason of the warning if it is not what was requested."""

    sent: ThinkingSetting
    code: str = ""
    message: str = ""


def lower_thinking(call: ModelCall, profile: ModelProfile) -> tuple[ThinkingSetting, list[CallWarning]]:
    """Returns the value to send for the requested one, and a warning if it differs.

    A level becomes a budget within the model's bounds, without a warning: that is what a level means there. If two
    levels are equally near, it is the higher one.
    """
    asked, takes = call.thinking, profile.thinking
    if asked is None:
        return None, []
    choice = _thinking_choice(asked, profile)
    if takes is not None and takes.budget_within_output and takes.budget is not None:
        limits = [limit for limit in (call.sampling.max_output_tokens, profile.max_output_tokens) if limit is not None]
        choice = _within_output(choice, takes, takes.budget[0], min(limits)) if limits else choice
    if not choice.code or choice.sent == asked:
        return choice.sent, []
    requested = "off" if asked == 0 else asked
    return choice.sent, [change_warning(choice.code, "thinking", choice.message, requested, choice.sent)]


def thinking_within_turn(
    call: ModelCall, thinking: ThinkingSetting, profile: ModelProfile
) -> tuple[ThinkingSetting, CallWarning | None]:
    """Returns the thinking to send in a turn of the model that goes on, after tool results or a beginning of its text:
    a budget that the model refuses there, since the reasoning of this turn is not in the messages, becomes a level, or
    none; with a warning then.
    """
    takes = profile.thinking
    if takes is None or not takes.budget_needs_reasoning or not isinstance(thinking, int) or thinking == 0:
        return thinking, None
    if not _goes_on_without_reasoning(call):
        return thinking, None
    sent: ThinkingSetting = "off" if takes.can_be_off else None
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


def thinks(thinking: ThinkingSetting, takes: Thinking | None) -> bool:
    """Returns whether the model thinks if it is sent this value."""
    if thinking is None:
        return takes is not None and takes.on_by_default
    return thinking not in ("off", 0)


def room_to_think(recommended: Sampling, thinking: ThinkingSetting, profile: ModelProfile) -> Sampling:
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


def _thinking_choice(asked: ThinkingLevel | int, profile: ModelProfile) -> _Choice:
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
    least: ThinkingSetting = takes.levels[0] if takes.levels else takes.budget[0] if takes.budget is not None else None
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
    least: ThinkingSetting = "off" if takes.can_be_off else None
    message = f"the budget must be at least {lowest:,} tokens and below max_output_tokens"
    return _Choice(limit - 1 if limit > lowest else least, "thinking_changed", message)


def _level(asked: ThinkingLevel | int, levels: tuple[ThinkingLevel, ...]) -> _Choice:
    if asked in levels:
        return _Choice(asked)
    tokens = asked if isinstance(asked, int) else _BUDGETS.get(asked, 0)
    nearest = min(reversed(levels), key=lambda level: abs(_BUDGETS.get(level, 0) - tokens))
    return _Choice(nearest, "thinking_changed", f"this model supports the thinking levels {', '.join(levels)}")


def lower_options(
    call: ModelCall, sampling: Sampling, thinking: ThinkingSetting, profile: ModelProfile
) -> tuple[dict[str, Any], list[CallWarning]]:
    """Returns the new values of those options that the model does not accept with this `thinking`, and warnings.

    `sampling` replaces that of `call`. A refused option is left out: with the code "no_effect" if it has the default
    value, else "unsupported_option". A value outside its range becomes the nearest one ("option_changed"); where only
    one value is accepted, the option is left out.
    """
    if not _restricts(profile):
        return {}, []
    values = (*_of_sampling(sampling), call.tool_choice, call.parallel_tool_calls)
    if values == _UNSET:
        return {}, []
    given = {name: value for name, value in zip(_OPTIONS, values, strict=True) if value is not None and value != ()}
    limits = _Limits(call.model, profile, thinking)
    found = {name: each for name, value in given.items() if (each := limits.warning(name, value)) is not None}
    for pair in profile.refused_together:
        excluded = _exclusion(pair, given, found)
        if excluded is not None:
            found[excluded[0]] = excluded[1]
    return {name: () if name == "stop" else warning.sent for name, warning in found.items()}, [*found.values()]


def _restricts(profile: ModelProfile) -> bool:
    return bool(
        profile.refused
        or profile.refused_with_thinking
        or profile.max_output_tokens
        or profile.ranges
        or profile.ranges_with_thinking
        or profile.refused_together
        or profile.refused_with_level
        or profile.no_effect
        or profile.parallel_tools is False
    )


class _Limits:
    """What a model refuses with one value of thinking."""

    __slots__ = ("_level", "_model", "_profile", "_thinks")

    def __init__(self, model: str, profile: ModelProfile, thinking: ThinkingSetting) -> None:
        self._model, self._profile = model, profile
        self._thinks = thinks(thinking, profile.thinking)
        self._level: ThinkingLevel | None = thinking if isinstance(thinking, str) else None

    def warning(self, name: str, value: Any) -> CallWarning | None:
        """Returns the warning if the option must be left out or changed, with the value to send."""
        profile = self._profile
        if name in profile.refused:
            return self._refusal(name, value, "")
        if name in profile.no_effect:
            return _left_out("no_effect", name, value, f"{self._model} ignores {name}")
        if self._thinks and name in profile.refused_with_thinking:
            return self._refusal(name, value, " while it thinks")
        if self._level is not None and name in profile.refused_with_level.get(self._level, ()):
            message = f"{self._model} does not accept {name} with the thinking level {self._level!r}"
            return _left_out("unsupported_option", name, value, message)
        if name == "parallel_tool_calls" and profile.parallel_tools is False:
            message = f"{self._model} calls one tool at a time"
            return _left_out("unsupported_option" if value else "no_effect", name, value, message)
        bounds = self._range(name)
        if bounds is None or not isinstance(value, int | float) or bounds[0] <= value <= bounds[1]:
            return None
        return self._out_of_range(name, value, *bounds)

    def _range(self, name: str) -> tuple[float, float] | None:
        profile = self._profile
        if self._thinks and name in profile.ranges_with_thinking:
            return profile.ranges_with_thinking[name]
        if name in profile.ranges:
            return profile.ranges[name]
        if name == "max_output_tokens" and profile.max_output_tokens is not None:
            return 1, profile.max_output_tokens
        return None

    def _out_of_range(self, name: str, value: float, lowest: float, highest: float) -> CallWarning:
        if lowest == highest:
            message = f"{self._model} accepts only {lowest:g} as {name}{self._when(name)}"
            return _left_out("unsupported_option", name, value, message)
        sent = type(value)(min(max(value, lowest), highest))
        message = f"{self._model} accepts {name} from {lowest:g} to {highest:g}{self._when(name)}"
        return change_warning("option_changed", _path(name), message, value, sent)

    def _when(self, name: str) -> str:
        return " while it thinks" if self._thinks and name in self._profile.ranges_with_thinking else ""

    def _refusal(self, name: str, value: Any, when: str) -> CallWarning:
        if value == _DEFAULTS.get(name):
            return _left_out("no_effect", name, value, f"{value:g} is the default of {self._model}")
        return _left_out("unsupported_option", name, value, f"{self._model} does not accept {name}{when}")


def _exclusion(
    pair: tuple[str, str], given: Mapping[str, Any], found: Mapping[str, CallWarning]
) -> tuple[str, CallWarning] | None:
    """Returns which of two options is left out, with its warning: the second, unless the first is the default."""
    first, second = pair
    if any(name not in given or (name in found and found[name].sent is None) for name in pair):
        return None
    is_default = given[first] == _DEFAULTS.get(first)
    name, code = (first, "no_effect") if is_default else (second, "unsupported_option")
    return name, _left_out(code, name, given[name], f"this model accepts {first} or {second}, not both")


def _left_out(code: str, name: str, value: Any, message: str) -> CallWarning:
    return change_warning(code, _path(name), message, to_data(value) if isinstance(value, ToolChoice) else value)


def _path(name: str) -> str:
    return f"sampling.{name}" if name in SAMPLING_OPTIONS else name


def lower_modalities(call: ModelCall, profile: ModelProfile) -> tuple[tuple[Modality, ...], list[CallWarning]]:
    """Returns the modalities without those that the model is known not to produce, and a warning.

    Text alone is not asked for: it is what every model writes.
    """
    asked, produces = call.modalities, profile.produces
    if not asked or produces is None:
        return asked, []
    missing = [each for each in asked if each != "text" and each not in produces]
    if not missing:
        return asked, []
    kept: tuple[Modality, ...] = tuple(each for each in asked if each not in missing)
    if set(kept) == {"text"}:
        kept = ()
    reason = f"{call.model} produces no {' and '.join(missing)}"
    return kept, [change_warning("unsupported_option", "modalities", reason, [*asked], [*kept] if kept else None)]
