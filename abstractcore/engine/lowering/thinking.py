"""Lowers `thinking` to a level or a budget that the model supports."""

from __future__ import annotations

from dataclasses import replace

from ...ports import Thinking
from ...schema import CallWarning, Sampling, ThinkingLevel

_BUDGETS: dict[ThinkingLevel, int] = {
    "minimal": 1024,
    "low": 1024,
    "medium": 8192,
    "high": 24_576,
    "xhigh": 32_768,
    "max": 65_536,
}
"""Tokens for a level; up to "high" as Google maps OpenAI's (ai.google.dev/gemini-api/docs/openai, "Thinking")."""

Asked = ThinkingLevel | int | None


def lower_thinking(asked: Asked, takes: Thinking | None) -> tuple[Asked, list[CallWarning]]:
    """Returns the value to send for the requested one, and a warning if it differs.

    A level becomes a budget within the model's bounds, without a warning: that is what a level means there. If two
    levels are equally near, it is the higher one.
    """
    if asked is None or takes is None:
        return asked, []
    if asked in ("off", 0):
        return _off(takes)
    if takes.budget is not None:
        return _budget(asked, takes.budget)
    if takes.levels:
        return _level(asked, takes.levels)
    return None, [_warning("thinking_left_out", asked, None, "this model does not support thinking")]


def room_to_think(recommended: Sampling, thinking: Asked, takes: Thinking | None) -> Sampling:
    """Returns the recommended sampling with a token limit above the thinking budget, which is part of the output.

    The limit is at most one token above the highest budget, the maximum output of such a model.
    """
    limit = recommended.max_output_tokens
    if limit is None or not isinstance(thinking, int) or takes is None or takes.budget is None:
        return recommended
    return replace(recommended, max_output_tokens=min(limit + thinking, takes.budget[1] + 1))


def _off(takes: Thinking) -> tuple[Asked, list[CallWarning]]:
    if takes.budget is None and not takes.levels:
        return None, []
    if takes.can_be_off:
        return "off", []
    least: Asked = takes.budget[0] if takes.budget is not None else takes.levels[0]
    return least, [_warning("thinking_changed", "off", least, "thinking cannot be turned off for this model")]


def _budget(asked: ThinkingLevel | int, bounds: tuple[int, int]) -> tuple[Asked, list[CallWarning]]:
    lowest, highest = bounds
    tokens = min(max(_tokens(asked), lowest), highest)
    if isinstance(asked, int) and tokens != asked:
        message = f"this model's thinking budget is {lowest:,} to {highest:,} tokens"
        return tokens, [_warning("thinking_changed", asked, tokens, message)]
    return tokens, []


def _level(asked: ThinkingLevel | int, levels: tuple[ThinkingLevel, ...]) -> tuple[Asked, list[CallWarning]]:
    if asked in levels:
        return asked, []
    tokens = _tokens(asked)
    nearest = min(reversed(levels), key=lambda level: abs(_tokens(level) - tokens))
    message = f"this model supports the thinking levels {', '.join(levels)}"
    return nearest, [_warning("thinking_changed", asked, nearest, message)]


def _tokens(asked: ThinkingLevel | int) -> int:
    return asked if isinstance(asked, int) else _BUDGETS.get(asked, 0)


def _warning(code: str, asked: Asked, sent: Asked, message: str) -> CallWarning:
    return CallWarning(code, "thinking", message, asked, sent)
