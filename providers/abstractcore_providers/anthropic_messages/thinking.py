"""How much a model is asked to think: a budget of tokens, or how hard it may try."""

from __future__ import annotations

from abstractcore.schema import CallWarning, ThinkingLevel

from ..json_reading import Object, as_object, count_of

LEAST_BUDGET = 1024
_EFFORTS: tuple[ThinkingLevel, ...] = ("low", "medium", "high")
Thinking = ThinkingLevel | int | None


def thinking_to_send(asked: Thinking, max_tokens: int | None, warnings: list[CallWarning]) -> Thinking:
    """What the format has words for: at least 1,024 tokens and fewer than `max_tokens`, or one of three levels."""
    sent = asked
    reason = "the budget is at least 1,024 tokens, and below the most tokens of the answer"
    if isinstance(asked, int):
        sent = _budget(asked, max_tokens)
    elif asked == "minimal":
        sent, reason = "low", "there is no smaller effort"
    if sent != asked:
        warnings.append(CallWarning("thinking_changed", "thinking", reason, asked, sent))
    return sent


def _budget(asked: int, max_tokens: int | None) -> Thinking:
    most = asked if max_tokens is None else max_tokens - 1
    if asked == 0 or (max_tokens is not None and most < LEAST_BUDGET):
        return "off"
    return max(LEAST_BUDGET, min(asked, most))


def thinking_to_theirs(thinking: Thinking, off: str) -> Object:
    """The fields of a request; `off` is the type of no thinking."""
    if thinking is None:
        return {}
    if thinking == "off":
        return {"thinking": {"type": off}}
    if isinstance(thinking, int):
        return {"thinking": {"type": "enabled", "budget_tokens": thinking}}
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": thinking}}


def thinking_to_ours(data: Object, off: str) -> Thinking:
    """What a request asks for; None if it does not, or in other words than ours."""
    asked = as_object(data.get("thinking"))
    effort = as_object(data.get("output_config")).get("effort")
    budget = count_of(asked, "budget_tokens")
    if asked == {"type": off}:
        return "off"
    if asked == {"type": "enabled", "budget_tokens": budget} and budget is not None and budget >= 0:
        return budget
    return next((level for level in _EFFORTS if level == effort), None) if asked == {"type": "adaptive"} else None
