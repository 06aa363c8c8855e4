"""Leaves out or changes the options that a model refuses: always, together, or while it thinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from ...ports import ModelProfile
from ...schema import CallWarning, ModelCall, Sampling, ThinkingLevel, ToolChoice, to_data
from .changes import change_warning
from .thinking import Asked, thinks

SAMPLING_OPTIONS = tuple(field.name for field in fields(Sampling))
_OPTIONS = (*SAMPLING_OPTIONS, "tool_choice", "parallel_tool_calls")
_of_sampling = attrgetter(*SAMPLING_OPTIONS)
_UNSET = (*_of_sampling(Sampling()), None, None)
_DEFAULTS: Mapping[str, float] = MappingProxyType(
    {"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}
)
"""The defaults of the vendors' APIs (OpenAI's API reference, "Create chat completion"; Anthropic's, "Messages")."""


def lower_options(
    call: ModelCall, sampling: Sampling, thinking: Asked, profile: ModelProfile
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

    def __init__(self, model: str, profile: ModelProfile, thinking: Asked) -> None:
        self._model, self._profile = model, profile
        self._thinks = thinks(thinking, profile.thinking)
        self._level: ThinkingLevel | None = thinking if isinstance(thinking, str) else None

    def warning(self, name: str, value: Any) -> CallWarning | None:
        """Returns the warning if the option must be left out or changed, with the value to send."""
        profile = self._profile
        if name in profile.refused:
            return self._refused(name, value, "")
        if name in profile.no_effect:
            return _left_out("no_effect", name, value, f"{self._model} ignores {name}")
        if self._thinks and name in profile.refused_with_thinking:
            return self._refused(name, value, " while it thinks")
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

    def _refused(self, name: str, value: Any, when: str) -> CallWarning:
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
