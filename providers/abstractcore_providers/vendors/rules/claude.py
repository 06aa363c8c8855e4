"""What Claude's models refuse, wherever they run, and what of a call is left for them then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from abstractcore.schema import CallWarning, Lowered, ModelCall, Sampling, ThinkingLevel, ToolChoice, to_data

Asked = ThinkingLevel | int | None

HOTTEST = 1.0
"""The highest temperature, the default, and the only one that goes with thinking."""
LEAST_TOP_P = 0.95
"""The lowest `top_p` that goes with thinking (build-with-claude/extended-thinking, "Feature compatibility")."""
LEAST_BUDGET = 1024

_AUTO = ToolChoice("auto")


@dataclass(frozen=True, slots=True)
class ClaudeRules:
    """Newer models take no sampling options, and cannot be made to call a tool. Some take `temperature` or `top_p`, not
    both.

    How a request is spelt for them: some take system messages in the middle of a conversation (`system_in_place`), and
    `off` is the type of thinking that is none.
    """

    takes_sampling: bool = True
    one_of_temperature_and_top_p: bool = False
    tools_forced: bool = True
    system_in_place: bool = False
    off: str = "disabled"

    def lower(self, call: ModelCall) -> Lowered:
        """The call as the model takes it in Anthropic's own API: `ProviderSession.lower`.

        A choice of tools that becomes "auto" is left out beside `parallel_tool_calls`, which says as much there.
        """
        lowered = self.lower_sampling(call)
        if call.tool_choice is None:
            return lowered
        warnings = list(lowered.warnings)
        alone = call.parallel_tool_calls is None
        choice = fit_choice(call.tool_choice, self, thinks(lowered.call), warnings, auto_is_read=alone)
        if choice is call.tool_choice:
            return lowered
        return Lowered(lowered.call.with_(tool_choice=choice if alone else None), warnings=tuple(warnings))

    def lower_for_chat(self, call: ModelCall) -> Lowered:
        """The call as the model accepts it behind chat completions."""
        return self.lower_sampling(call)

    def lower_sampling(self, call: ModelCall) -> Lowered:
        """The call with the budget and the sampling that the model takes together."""
        warnings: list[CallWarning] = []
        thinking = fit_budget(call.thinking, call.sampling.max_output_tokens, warnings)
        sampling = fit_sampling(call.sampling, self, thinking not in (None, "off"), warnings)
        if thinking == call.thinking and sampling is call.sampling:
            return Lowered(call)
        return Lowered(call.with_(thinking=thinking, sampling=sampling), warnings=tuple(warnings))


def thinks(call: ModelCall) -> bool:
    """Whether the model is asked to think."""
    return call.thinking not in (None, "off")


def fit_sampling(sampling: Sampling, rules: ClaudeRules, thinks: bool, warnings: list[CallWarning]) -> Sampling:
    """The options without those that are refused, each with a warning: "already_so" for the default temperature.

    A model that thinks takes the highest temperature, and `top_p` from `LEAST_TOP_P`. Of two options that exclude each
    other the temperature stays, unless it is the default.
    """
    changed: dict[str, Any] = {}
    for name in ("temperature", "top_p", "top_k"):
        value = getattr(sampling, name)
        why = None if value is None else _why_refused(name, sampling, rules, thinks)
        if why is not None:
            code = "already_so" if name == "temperature" and value == HOTTEST else "unsupported_option"
            warnings.append(CallWarning(code, f"sampling.{name}", why, value))
            changed[name] = None
    top_p = changed.get("top_p", sampling.top_p)
    if thinks and top_p is not None and top_p < LEAST_TOP_P:
        message = f"a model that thinks takes a top_p from {LEAST_TOP_P:g}"
        warnings.append(CallWarning("top_p_changed", "sampling.top_p", message, top_p, LEAST_TOP_P))
        changed["top_p"] = LEAST_TOP_P
    return replace(sampling, **changed) if changed else sampling


def _why_refused(name: str, sampling: Sampling, rules: ClaudeRules, thinks: bool) -> str | None:
    """Why an option that is asked for is not sent; None if it is."""
    if not rules.takes_sampling:
        return f"this model takes no {name}"
    cool = sampling.temperature is not None and sampling.temperature < HOTTEST
    if thinks and (name == "top_k" or (name == "temperature" and cool)):
        return f"this model takes no {name} beside thinking"
    if not rules.one_of_temperature_and_top_p or sampling.temperature is None or sampling.top_p is None:
        return None
    refused = "top_p" if cool and not thinks else "temperature"
    return "this model takes temperature or top_p, not both" if name == refused else None


def fit_budget(asked: Asked, max_tokens: int | None, warnings: list[CallWarning]) -> Asked:
    """A budget of at least 1,024 tokens and fewer than `max_tokens`, else "off"; a level as it is."""
    if not isinstance(asked, int):
        return asked
    sent = _budget(asked, max_tokens)
    if sent != asked:
        reason = "the budget is at least 1,024 tokens, and below the most tokens of the answer"
        warnings.append(CallWarning("thinking_changed", "thinking", reason, asked, sent))
    return sent


def _budget(asked: int, max_tokens: int | None) -> Asked:
    most = asked if max_tokens is None else max_tokens - 1
    if asked == 0 or (max_tokens is not None and most < LEAST_BUDGET):
        return "off"
    return max(LEAST_BUDGET, min(asked, most))


def fit_choice(
    choice: ToolChoice, rules: ClaudeRules, thinks: bool, warnings: list[CallWarning], *, auto_is_read: bool = True
) -> ToolChoice:
    """The choice, or "auto" for one that would make a model call a tool that cannot be made to, as when it thinks.

    `auto_is_read` says whether the other side can tell "auto" from no choice.
    """
    if choice.mode in ("auto", "none") or (rules.tools_forced and not thinks):
        return choice
    message = "a model that thinks, or always may, cannot be made to call a tool"
    sent = {"mode": "auto"} if auto_is_read else None
    warnings.append(CallWarning("tool_choice_changed", "tool_choice", message, to_data(choice), sent))
    return _AUTO
