"""Losses of strict calls: warnings that are errors there."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UnsupportedOptionError
from ..schema import CallWarning, ModelCall

_NO_LOSSES = frozenset(
    {
        *("unknown_model", "retired_model", "media_type_mismatch", "no_effect", "cache_too_short"),
        *("schema_normalized", "schema_narrowed", "tools_as_prompt", "calls_not_constrained"),
        *("schema_as_tool", "tool_name_changed", "property_names_changed", "schema_name_changed"),
    }
)


def without_sampling_warnings(warnings: Sequence[CallWarning]) -> tuple[CallWarning, ...]:
    """Returns the warnings that apply to an operation without sampling."""
    return tuple(warning for warning in warnings if not warning.path.startswith("sampling."))


def refuse_losses(warnings: Sequence[CallWarning], call: ModelCall) -> None:
    """Raises `UnsupportedOptionError` for warnings of losses in a strict call; others, as of file names, pass."""
    losses = "; ".join(str(warning) for warning in warnings if warning.code not in _NO_LOSSES)
    if losses:
        raise UnsupportedOptionError(
            losses,
            hint="Leave the option out, or call without strict=True.",
            provider=call.provider or None,
            model=call.model,
        )
