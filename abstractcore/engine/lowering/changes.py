"""Warnings of options that are left out or changed; each names the value that was requested and what is sent."""

from __future__ import annotations

from ...schema import CallWarning, JSONValue
from ...schema.quoting import shown


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
