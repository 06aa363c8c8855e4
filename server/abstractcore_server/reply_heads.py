"""`ReplyHead`: the id, model and time of a reply, in the form of its client's API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from abstractcore.schema import CallWarning, Delta, ModelReply, ReplyEnd, ReplyStart

from .dialects.base import Dialect
from .json_texts import with_text, with_text_in_lines

MODEL_CHANGE = "model"
"""The path of a receipt for a reply whose model has the client's name."""
_WRITTEN_BY_FORMATS = frozenset({"logprobs"})
"""Metadata that replies of all vendors have in common: each wire format writes them in its own way."""


@dataclass(frozen=True, slots=True)
class ReplyHead:
    """The name of the model, the id and the fields of the replies to one request.

    `model` is the name that the client has sent: some clients keep reasoning only if it comes back. Without
    `own_format`, the reply is of another API than the client's: an id of that API is left out, and so is each field
    that the client's API has under the same name (`Dialect.reply_fields`), since it means something else there.
    `is_renamed` says that the vendor has another name for the model.
    """

    dialect: Dialect
    model: str
    own_format: bool
    is_renamed: bool

    def in_reply(self, reply: ModelReply) -> ModelReply:
        """Returns a reply with this head."""
        metadata = self._metadata(reply.provider_metadata)
        return replace(reply, id=self._id(reply.id), model=self._model(reply.model), provider_metadata=metadata)

    def in_delta(self, delta: Delta) -> Delta:
        """Returns a delta of a reply with this head."""
        if isinstance(delta, ReplyStart):
            return replace(delta, id=self._id(delta.id), model=self._model(delta.model))
        if isinstance(delta, ReplyEnd):
            return replace(delta, provider_metadata=self._metadata(delta.provider_metadata))
        return delta

    def in_body(self, body: bytes) -> bytes:
        """Returns the vendor's own reply with the client's name of the model, and all else byte for byte."""
        for path in self.dialect.model_paths if self.is_renamed else ():
            body = with_text(body, path, self.model) or body
        return body

    def in_events(self, events: bytes) -> bytes:
        """Returns whole events of the vendor's own stream, as `in_body` does."""
        return with_text_in_lines(events, self.dialect.model_paths, self.model) if self.is_renamed else events

    def left_out(self, reply: ModelReply) -> dict[str, Any]:
        """Returns the fields of a reply that its client does not get."""
        kept = self._metadata(reply.provider_metadata)
        return {name: value for name, value in reply.provider_metadata.items() if name not in kept}

    def warnings(self, reply: ModelReply) -> tuple[CallWarning, ...]:
        """Returns a warning for each field of a reply that its client does not get."""
        message = "the client's API has a field of this name, which means something else"
        names = self.left_out(reply)
        return tuple(CallWarning("metadata_left_out", f"provider_metadata.{name}", message) for name in names)

    def _model(self, received: str | None) -> str | None:
        return self.model if self.is_renamed or received is None else received

    def _id(self, received: str | None) -> str | None:
        is_kept = received is None or self.own_format or received.startswith(self.dialect.id_prefix)
        return received if is_kept else None

    def _metadata(self, received: Mapping[str, Any]) -> Mapping[str, Any]:
        taken = frozenset[str]() if self.own_format else self.dialect.reply_fields - _WRITTEN_BY_FORMATS
        return {name: value for name, value in received.items() if name not in taken}
