"""What Claude's models refuse, wherever they run, and what of a call is left for them then."""

from __future__ import annotations

from dataclasses import dataclass, replace

from abstractcore.schema import CallWarning, Sampling, ToolChoice, to_data

HOTTEST = 1.0
"""The highest temperature, and the only one that goes with thinking."""

_AUTO = ToolChoice("auto")


@dataclass(frozen=True, slots=True)
class ClaudeRules:
    """Newer models take no sampling options, and cannot be made to call a tool. Some take system messages in the middle
    of a conversation. `off` is the type of thinking that is none.
    """

    takes_sampling: bool = True
    tools_forced: bool = True
    system_in_place: bool = False
    off: str = "disabled"


def fit_sampling(sampling: Sampling, rules: ClaudeRules, thinks: bool, warnings: list[CallWarning]) -> Sampling:
    """The options without those that are refused, each with a warning. A model that thinks takes `top_p` only, and the
    highest temperature.
    """
    left_out: dict[str, None] = {}
    for name in ("temperature", "top_p", "top_k"):
        value = getattr(sampling, name)
        beside_thinking = name == "top_p" or (name == "temperature" and value is not None and value >= HOTTEST)
        if value is None or (rules.takes_sampling and (not thinks or beside_thinking)):
            continue
        message = f"this model takes no {name}{' beside thinking' if rules.takes_sampling else ''}"
        warnings.append(CallWarning("unsupported_option", f"sampling.{name}", message, value))
        left_out[name] = None
    return replace(sampling, **left_out) if left_out else sampling


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
