"""The reply and the usage of an incomplete stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from .accumulation import accumulate
from .base_error import SchemaError
from .deltas import Delta, UsageDelta
from .replies import ModelReply
from .usage import Usage


def usage_so_far(deltas: Sequence[Delta]) -> Usage:
    """Returns the tokens of the last `UsageDelta`, whose counts are totals."""
    return next((delta.usage for delta in reversed(deltas) if isinstance(delta, UsageDelta)), Usage())


def partial_reply(deltas: Sequence[Delta]) -> ModelReply:
    """Returns the reply so far. A lone surrogate is replaced by a question mark.

    The reply is empty if the stream of a middleware yielded values that are not deltas.
    """
    try:
        return accumulate(deltas)
    except SchemaError:
        try:
            return accumulate(map(_in_unicode, deltas))
        except (SchemaError, TypeError):
            return ModelReply()


def _in_unicode(delta: Delta) -> Delta:
    values = {field.name: getattr(delta, field.name) for field in fields(delta)}
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    return replace(delta, **{name: text.encode("utf-8", "replace").decode() for name, text in texts.items()})
