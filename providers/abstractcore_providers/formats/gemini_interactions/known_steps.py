"""The types of steps that the schema models; others are opaque parts."""

from __future__ import annotations

from typing import Any

from ...common.reading import as_object, text_of
from .hosted import CALLS, RESULTS
from .thoughts import THOUGHT, is_plain

CALL_FIELDS = frozenset({"type", "id", "name", "arguments"})
RESULT_FIELDS = frozenset({"type", "call_id", "name", "result", "is_error"})
INPUT_FIELDS = frozenset({"type", "content"})
"""The fields of steps that the schema models."""
_MODELLED = frozenset({"user_input", "function_call", "function_result", *CALLS, *RESULTS})


def opaque_kind(step: Any) -> str | None:
    """Returns the type of a step that the schema does not model, such as an output's error; None for any other."""
    data = as_object(step)
    kind = text_of(data, "type")
    if not kind or kind in _MODELLED:
        return None
    if kind == "model_output":
        return kind if "content" not in data and len(data) > 1 else None
    return None if kind == THOUGHT and is_plain(data) else kind
