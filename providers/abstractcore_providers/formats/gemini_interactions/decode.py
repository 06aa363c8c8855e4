"""Decodes an `Interaction` object to a reply."""

from __future__ import annotations

from abstractcore.schema import ModelReply, WireResponse, accumulate

from ...common.reading import as_object
from ...common.response_bodies import fitting_reply, no_reply, read_body
from .errors import RIGHT_ADDRESS, error_in_body
from .stream_decoder import InteractionDecoder
from .vocabulary import is_status

_MARKS = frozenset({"steps", "usage", "previous_interaction_id"})
"""Fields that only interactions have."""


def decode(response: WireResponse, provider: str) -> ModelReply:
    """Returns the reply; raises `ServerError` for a body without one, or the error in it despite its status."""
    data = as_object(read_body(response, RIGHT_ADDRESS))
    if not isinstance(data.get("steps"), list) and not is_status(data.get("status")):
        raise error_in_body(data) or no_reply(response, data, "status", _MARKS, RIGHT_ADDRESS)
    return fitting_reply(response, lambda: accumulate(InteractionDecoder(provider).whole(data, response.body)))
