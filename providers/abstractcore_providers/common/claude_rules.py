"""What Claude's models refuse, wherever they run, and what of a call is left for them then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from abstractcore.schema import CallWarning, Sampling, ThinkingLevel, ToolChoice, to_data

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
    both, some take system messages in the middle of a conversation. `off` is the type of thinking that is none.
    """

    takes_sampling: bool = True
    one_of_temperature_and_top_p: bool = False
    tools_forced: bool = True
    system_in_place: bool = False
    off: str = "disabled"


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


def fit_thinking(asked: Asked, max_tokens: int | None, warnings: list[CallWarning]) -> Asked:
    """What there are words for: at least 1,024 tokens and fewer than `max_tokens`, or one of three levels."""
    sent = asked
    reason = "the budget is at least 1,024 tokens, and below the most tokens of the answer"
    if isinstance(asked, int):
        sent = _budget(asked, max_tokens)
    elif asked == "minimal":
        sent, reason = "low", "'low' is the least there is"
    if sent != asked:
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
