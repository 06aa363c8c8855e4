"""Warnings of options that are left out or changed, and those that are losses: errors in strict calls."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import UnsupportedOptionError
from ...ports import AnyInput
from ...schema import CallWarning, JSONValue
from ...schema.base_error import shown

_NO_LOSSES = frozenset(
    {
        *("unknown_model", "retired_model", "media_type_mismatch", "no_effect", "cache_too_short"),
        *("schema_normalized", "schema_narrowed", "tools_as_prompt", "calls_not_constrained"),
        *("schema_as_tool", "tool_name_changed", "property_names_changed", "schema_name_changed"),
    }
)


def change_warning(code: str, path: str, reason: str, requested: JSONValue, sent: JSONValue = None) -> CallWarning:
    """Returns the warning that the value at `path` is left out (`sent` is None), changed, or set if it was not
    requested (None). `reason` is a sentence about the model.
    """
    name = path.rpartition(".")[2]
    asked = shown([*requested] if isinstance(requested, tuple) else requested)
    if sent is None:
        what = f"{name}={asked} is left out"
    elif requested is None:
        what = f"{name} is set to {shown(sent)}"
    else:
        what = f"{name}={asked} becomes {shown(sent)}"
    return CallWarning(code, path, f"{what}: {reason}", requested, sent)


def without_sampling_warnings(warnings: Sequence[CallWarning]) -> tuple[CallWarning, ...]:
    """Returns the warnings that apply to an operation without sampling."""
    return tuple(warning for warning in warnings if not warning.path.startswith("sampling."))


def refuse_losses(warnings: Sequence[CallWarning], given: AnyInput) -> None:
    """Raises `UnsupportedOptionError` for warnings of losses in a strict input; others, as of file names, pass."""
    losses = "; ".join(str(warning) for warning in warnings if warning.code not in _NO_LOSSES)
    if losses:
        raise UnsupportedOptionError(
            losses,
            hint="Leave the option out, or call without strict=True.",
            provider=given.provider or None,
            model=given.model,
        )
