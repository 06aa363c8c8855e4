"""Thought steps, and reasoning parts of the schema, converted both ways."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import CallWarning, OpaquePart, ReasoningPart

from ...common.google_files import is_base64
from ...common.reading import Object, as_object, objects_of, text_of
from .vocabulary import WARNINGS

THOUGHT = "thought"
_FIELDS = frozenset({"type", "signature", "summary"})


def read_thought(step: Object, provider: str, origin: str | None) -> ReasoningPart | OpaquePart:
    """Reads a thought; one with anything but text, such as images, is opaque, so that it is sent back unchanged."""
    if not is_plain(step):
        return OpaquePart(provider, THOUGHT, step)
    text = "".join(text_of(item, "text") or "" for item in objects_of(step, "summary"))
    return ReasoningPart(text, text_of(step, "signature"), origin=origin)


def is_plain(step: Object) -> bool:
    """Whether a thought is text and a signature."""
    if not step.keys() <= _FIELDS:
        return False
    summary: Any = step.get("summary")
    return summary is None or (isinstance(summary, list) and all(map(is_plain_text, summary)))  # pyright: ignore[reportUnknownArgumentType]


def is_plain_text(item: Any) -> bool:
    """Whether an item of a summary is text without further fields; its type may be missing in a stream."""
    data = as_object(item)
    return text_of(data, "text") is not None and data.get("type", "text") == "text" and data.keys() <= {"type", "text"}


def write_thought(part: ReasoningPart, path: str, warnings: list[CallWarning]) -> Object | None:
    """Returns the step; None, with a warning, if nothing of the part can be expressed."""
    signature = signature_of(part.signature)
    if not part.text and signature is None:
        warnings.append(WARNINGS.part(part, path))
        return None
    WARNINGS.fields(part, path, ("redacted_data",), warnings)
    if signature != part.signature:
        warnings.append(WARNINGS.field("signature", path))
    step: Object = {"type": THOUGHT}
    if signature is not None:
        step["signature"] = signature
    if part.text:
        step["summary"] = [{"type": "text", "text": part.text}]
    return step


def signature_of(signature: str | None) -> str | None:
    """Returns the signature if it is one of Google's, which are base64."""
    return signature if signature is not None and is_base64(signature) else None
