"""What Claude's models refuse, wherever they run, and the call that they accept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from abstractcore.schema import CallWarning, Lowered, ModelCall, Sampling, ThinkingLevel, ToolChoice, to_data

Asked = ThinkingLevel | int | None

MAX_TEMPERATURE = 1.0
"""The highest temperature, the default, and the only one that is accepted with thinking."""
MIN_TOP_P = 0.95
"""The lowest `top_p` that is accepted with thinking (build-with-claude/extended-thinking, "Feature compatibility")."""
MIN_BUDGET = 1024

_AUTO = ToolChoice("auto")


@dataclass(frozen=True, slots=True)
class ClaudeRules:
    """What a model refuses: sampling options (without `accepts_sampling`), `temperature` beside `top_p`, a forced tool
    call (without `accepts_forced_tools`).

    How requests are written for it: with `system_in_place`, system messages stay in the middle of a conversation; `off`
    is the type of thinking that turns it off.
    """

    accepts_sampling: bool = True
    one_of_temperature_and_top_p: bool = False
    accepts_forced_tools: bool = True
    system_in_place: bool = False
    off: str = "disabled"

    def lower(self, call: ModelCall) -> Lowered:
        """Returns the call as the model accepts it in Anthropic's own API: `ProviderSession.lower`.

        A tool choice that becomes "auto" is left out beside `parallel_tool_calls`, which implies it there.
        """
        lowered = self.lower_sampling(call)
        if call.tool_choice is None:
            return lowered
        warnings = list(lowered.warnings)
        alone = call.parallel_tool_calls is None
        choice = fit_choice(call.tool_choice, self, thinks(lowered.call), warnings, auto_is_sent=alone)
        if choice is call.tool_choice:
            return lowered
        return Lowered(lowered.call.with_(tool_choice=choice if alone else None), warnings=tuple(warnings))

    def lower_for_chat(self, call: ModelCall) -> Lowered:
        """Returns the call as the model accepts it through a chat completions API."""
        return self.lower_sampling(call)

    def lower_sampling(self, call: ModelCall) -> Lowered:
        """Returns the call with a budget and sampling options that the model accepts together."""
        warnings: list[CallWarning] = []
        thinking = fit_budget(call.thinking, call.sampling.max_output_tokens, warnings)
        sampling = fit_sampling(call.sampling, self, thinking not in (None, "off"), warnings)
        if thinking == call.thinking and sampling is call.sampling:
            return Lowered(call)
        return Lowered(call.with_(thinking=thinking, sampling=sampling), warnings=tuple(warnings))


def thinks(call: ModelCall) -> bool:
    """Returns whether the call asks for thinking."""
    return call.thinking not in (None, "off")


def fit_sampling(sampling: Sampling, rules: ClaudeRules, thinks: bool, warnings: list[CallWarning]) -> Sampling:
    """Returns the options without the refused ones, each with a warning: "no_effect" for the default temperature.

    A model that thinks accepts the highest temperature, and `top_p` from `MIN_TOP_P`. Of two options that exclude each
    other the temperature stays, unless it is the default.
    """
    changed: dict[str, Any] = {}
    for name in ("temperature", "top_p", "top_k"):
        value = getattr(sampling, name)
        why = None if value is None else _why_refused(name, sampling, rules, thinks)
        if why is not None:
            code = "no_effect" if name == "temperature" and value == MAX_TEMPERATURE else "unsupported_option"
            warnings.append(CallWarning(code, f"sampling.{name}", why, value))
            changed[name] = None
    top_p = changed.get("top_p", sampling.top_p)
    if thinks and top_p is not None and top_p < MIN_TOP_P:
        message = f"a model that thinks accepts a top_p of {MIN_TOP_P:g} or more"
        warnings.append(CallWarning("top_p_changed", "sampling.top_p", message, top_p, MIN_TOP_P))
        changed["top_p"] = MIN_TOP_P
    return replace(sampling, **changed) if changed else sampling


def _why_refused(name: str, sampling: Sampling, rules: ClaudeRules, thinks: bool) -> str | None:
    """Returns why an option of the call is refused; None if it is not."""
    if not rules.accepts_sampling:
        return f"this model does not accept {name}"
    below_max = sampling.temperature is not None and sampling.temperature < MAX_TEMPERATURE
    if thinks and (name == "top_k" or (name == "temperature" and below_max)):
        return f"this model does not accept {name} with thinking"
    if not rules.one_of_temperature_and_top_p or sampling.temperature is None or sampling.top_p is None:
        return None
    refused = "top_p" if below_max and not thinks else "temperature"
    return "this model accepts temperature or top_p, not both" if name == refused else None


def fit_budget(asked: Asked, max_tokens: int | None, warnings: list[CallWarning]) -> Asked:
    """Returns a budget of at least 1,024 tokens and fewer than `max_tokens`, else "off"; a level unchanged."""
    if not isinstance(asked, int):
        return asked
    sent = _budget(asked, max_tokens)
    if sent != asked:
        reason = "the budget must be at least 1,024 tokens and below max_output_tokens"
        warnings.append(CallWarning("thinking_changed", "thinking", reason, asked, sent))
    return sent


def _budget(asked: int, max_tokens: int | None) -> Asked:
    limit = asked if max_tokens is None else max_tokens - 1
    if asked == 0 or (max_tokens is not None and limit < MIN_BUDGET):
        return "off"
    return max(MIN_BUDGET, min(asked, limit))


def fit_choice(
    choice: ToolChoice, rules: ClaudeRules, thinks: bool, warnings: list[CallWarning], *, auto_is_sent: bool = True
) -> ToolChoice:
    """Returns the choice, or "auto" in place of one that forces a tool call on a model that does not accept that.

    `auto_is_sent` False means that the request cannot express "auto": then it is left out.
    """
    if choice.mode in ("auto", "none") or (rules.accepts_forced_tools and not thinks):
        return choice
    message = "a model that thinks, or always may, does not accept a forced tool call"
    sent = {"mode": "auto"} if auto_is_sent else None
    warnings.append(CallWarning("tool_choice_changed", "tool_choice", message, to_data(choice), sent))
    return _AUTO
