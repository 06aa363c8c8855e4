"""How much a model is asked to think: a budget of tokens, or how hard it may try."""

from __future__ import annotations

from abstractcore.schema import ThinkingLevel

from ...common.json_reading import Object, as_object, count_of

_EFFORTS: tuple[ThinkingLevel, ...] = ("low", "medium", "high")
Thinking = ThinkingLevel | int | None


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
