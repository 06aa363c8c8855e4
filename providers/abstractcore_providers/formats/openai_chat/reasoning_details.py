"""Reasoning as a list of objects that are sent back unchanged, in their order: OpenRouter's, and LiteLLM's for Claude.

Each is a reasoning part. What it has beside its text and its encrypted data is the part's signature: the vendor's own
if that is all, else the rest of the object as JSON.
"""

from __future__ import annotations

import json

from abstractcore.schema import ReasoningPart

from ...common.reading import Object, as_object, objects_of, read_json, text_of
from .dialect import BLOCKS, DETAILS, RECEIVED, ChatDialect

_TEXT, _SUMMARY, _ENCRYPTED = "reasoning.text", "reasoning.summary", "reasoning.encrypted"
_BLOCK = "thinking"
_BLOCKS = (_BLOCK, "redacted_thinking")
_TEXT_FIELDS = {_SUMMARY: "summary", _BLOCK: "thinking"}


def details_in(message: Object, dialect: ChatDialect) -> list[Object]:
    """Returns the objects in a message or a delta."""
    if not dialect.has_details:
        return []
    details = objects_of(message, DETAILS)
    return objects_of(message, BLOCKS) if not details and dialect.reasoning_field == RECEIVED else details


def is_block(part: ReasoningPart) -> bool:
    """Whether a part is an object of `BLOCKS`."""
    return (_unpacked(part.signature) or {}).get("type") in _BLOCKS


def read_detail(detail: Object, origin: str | None) -> ReasoningPart:
    """Returns the part for one object."""
    text, rest = text_and_rest(detail)
    return ReasoningPart(text, *signature_and_data(rest, text != ""), origin)


def text_and_rest(detail: Object) -> tuple[str, Object]:
    """Returns the text of an object, and everything else."""
    rest = dict(detail)
    return _taken(rest, _text_field(detail)), rest


def signature_and_data(rest: Object, has_text: bool) -> tuple[str | None, str | None]:
    """Returns the signature and the redacted data of a part, from an object's fields other than its text."""
    rest = dict(rest)
    if has_text:
        rest.pop(_text_field(rest), None)  # an empty one, of a chunk without text
    data = _taken(rest, "data")
    if rest == {"type": _ENCRYPTED if data and not has_text else _TEXT}:
        return None, data or None
    if rest.keys() == {"type", "signature"} and rest["type"] == _TEXT and text_of(rest, "signature"):
        bare = ReasoningPart("x" if has_text else "", rest["signature"], data or None)
        if _packed_detail(bare) is None:
            return bare.signature, bare.redacted_data
    return json.dumps(rest, ensure_ascii=False, separators=(",", ":"), sort_keys=True), data or None


def write_detail(part: ReasoningPart) -> Object:
    """Returns the object of `part`, or one that is read as the same part."""
    packed = _packed_detail(part)
    if packed is not None:
        return packed
    plain: Object = {"type": _ENCRYPTED if part.redacted_data and not part.text and not part.signature else _TEXT}
    if part.signature is not None:
        plain["signature"] = part.signature
    return _filled(plain, part)


def _packed_detail(part: ReasoningPart) -> Object | None:
    """Returns the object of which the signature is the rest; None if the signature is the vendor's own.

    It is the rest of an object only if that object is read as this part.
    """
    rest = _unpacked(part.signature)
    if rest is None:
        return None
    detail = _filled(rest, part)
    return detail if read_detail(detail, part.origin) == part else None


def _filled(detail: Object, part: ReasoningPart) -> Object:
    if part.text:
        detail[_text_field(detail)] = part.text
    if part.redacted_data is not None:
        detail["data"] = part.redacted_data
    return detail


def _text_field(detail: Object) -> str:
    return _TEXT_FIELDS.get(str(detail.get("type")), "text")


def _taken(rest: Object, name: str) -> str:
    return rest.pop(name) if text_of(rest, name) else ""


def _unpacked(signature: str | None) -> Object | None:
    if signature is None or not signature.startswith("{"):
        return None
    try:
        return as_object(read_json(signature.encode()))
    except ValueError:
        return None
