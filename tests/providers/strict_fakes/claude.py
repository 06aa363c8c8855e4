"""What Claude refuses at every provider, by a model's raw row. The messages are those of the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.providers.strict_fakes.fake import Row

BOUND = (
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
"""platform.claude.com/docs/en/build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation."""
_LEVELS = ("low", "medium", "high", "xhigh", "max")


def thinks(row: Row, thinking: Any) -> bool:
    """Whether the model thinks with this field `thinking`."""
    if thinking is None:
        return bool((row.get("thinking") or {}).get("on_by_default"))
    return thinking["type"] in ("adaptive", "enabled")


def thinking_refusals(row: Row, thinking: Any, effort: Any, limit: int | None) -> Iterator[str]:
    """Refusals of the fields `thinking` and `effort`."""
    takes, settings = row.get("thinking") or {}, row.get("settings") or {}
    levels = takes.get("levels", [])
    if effort is not None and effort not in levels:
        yield f"output_config.effort: this model does not support effort {effort!r}"
    if thinking is None:
        return
    kind = thinking["type"]
    if kind == "adaptive":
        if not levels:
            yield "adaptive thinking is not supported on this model"
    elif kind == "enabled":
        yield from _budget_refusals(takes.get("budget"), thinking["budget_tokens"], limit)
    elif kind != settings.get("off", "disabled") or not takes.get("can_be_off", True):
        yield f'"thinking.type.{kind}" is not supported for this model'
    else:
        most = settings.get("off_effort", "max")
        if effort is not None and _LEVELS.index(effort) > _LEVELS.index(most):
            yield f"effort {effort!r} needs thinking on this model"
        if len(thinking) > 1:
            yield f"thinking.{kind}.{[*thinking][1]}: Extra inputs are not permitted"
    if "block_binding" in thinking and not settings.get("block_binding"):
        yield f"thinking.{kind}.block_binding: Extra inputs are not permitted"


def _budget_refusals(bounds: Any, budget: int, limit: int | None) -> Iterator[str]:
    if bounds is None:
        yield '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"'
    elif not bounds[0] <= budget <= bounds[1]:
        yield f"thinking.enabled.budget_tokens: Input should be from {bounds[0]} to {bounds[1]}"
    if limit is not None and budget >= limit:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`"


def binding_refusal(row: Row, thinking: Any, has_thinking: bool) -> Iterator[str]:
    """The refusal of replayed thinking: every conversation of these tests has changed since."""
    if not has_thinking or not (row.get("settings") or {}).get("block_binding"):
        return
    if ((thinking or {}).get("block_binding") or {}).get("prefix_mismatch_behavior") != "drop_block":
        yield BOUND


def sampling_refusals(row: Row, options: Mapping[str, Any], thinking: Any) -> Iterator[str]:
    """Refusals of sampling options, by our names."""
    for name in sorted(refused_options(row, options, thinking)):
        yield f"`{name}` is not accepted by this model"
    for first, second in row.get("refused_together", ()):
        if first in options and second in options:
            yield f"`{first}` and `{second}` cannot both be specified for this model."


def refused_options(row: Row, options: Mapping[str, Any], thinking: Any) -> set[str]:
    """The options in `options` that the model refuses in this request, apart from pairs."""
    found = {name for name in row.get("refused", ()) if name in options}
    ranges = dict(row.get("ranges", {}))
    if thinks(row, thinking):
        found |= {name for name in row.get("refused_with_thinking", ()) if name in options}
        ranges |= row.get("ranges_with_thinking", {})
    if row.get("max_output_tokens") is not None:
        ranges["max_output_tokens"] = (1, row["max_output_tokens"])
    return found | {
        name for name, (low, high) in ranges.items() if name in options and not low <= options[name] <= high
    }


def forced_refusal(row: Row, thinking: Any) -> Iterator[str]:
    """The refusal of a tool choice that forces a call."""
    forced, kind = row.get("forced_tools", "always"), (thinking or {}).get("type")
    if forced == "never":
        yield "tool_choice: this model does not support forced tool use"
    budget = forced == "without_budget" and kind == "enabled"
    if budget or (forced == "without_thinking" and thinks(row, thinking)):
        yield "Thinking may not be enabled when tool_choice forces tool use."


def thinking_of(thinking: Any, effort: Any, off: str) -> Any:
    """The value in our words: "off", a budget, a level, or None."""
    if thinking is None:
        return None
    if thinking["type"] == off:
        return "off"
    return thinking.get("budget_tokens") or effort
