"""Leaves out the kinds of output that a model does not produce."""

from __future__ import annotations

from ...ports import ModelProfile
from ...schema import CallWarning, Modality, ModelCall
from .changes import change_warning


def lower_modalities(call: ModelCall, profile: ModelProfile) -> tuple[tuple[Modality, ...], list[CallWarning]]:
    """Returns the modalities without those that the model is known not to produce, and a warning.

    Text alone is not asked for: it is what every model writes.
    """
    asked, produces = call.modalities, profile.produces
    if not asked or produces is None:
        return asked, []
    missing = [each for each in asked if each != "text" and each not in produces]
    if not missing:
        return asked, []
    kept: tuple[Modality, ...] = tuple(each for each in asked if each not in missing)
    if set(kept) == {"text"}:
        kept = ()
    reason = f"{call.model} produces no {' and '.join(missing)}"
    return kept, [change_warning("unsupported_option", "modalities", reason, [*asked], [*kept] if kept else None)]
