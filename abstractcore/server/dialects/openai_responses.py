"""`POST /v1/responses` (https://platform.openai.com/docs/api-reference/responses)."""

from __future__ import annotations

from dataclasses import replace

from ...errors import AbstractCoreError
from ...ports import StreamRenderer, Transpiler
from ...schema import Delta, ModelReply
from .base import Asked, Dialect, Stamp, StampedRenderer

_NO_TIME = b'"created_at":0,'


class OpenAIResponsesDialect(Dialect):
    """OpenAI's responses, without state: what is kept of them is not here."""

    name = "openai_responses"
    format = "openai_responses"
    vendors = ("openai-responses", "openai")
    id_prefix = "resp_"
    needed_fields = frozenset({"background", "conversation", "previous_response_id", "prompt"})

    def stamped(self, reply: ModelReply, stamp: Stamp) -> ModelReply:
        """Returns a reply with an id and a time."""
        reply = super().stamped(reply, stamp)
        if "created_at" in reply.provider_metadata:
            return reply
        return replace(reply, provider_metadata={**reply.provider_metadata, "created_at": int(stamp.time)})

    def renderer(self, transpiler: Transpiler, asked: Asked, stamp: Stamp, choice: int = 0) -> StreamRenderer:
        """Returns what writes the events."""
        return TimedRenderer(transpiler.renderer(), self.new_id(stamp), int(stamp.time))

    def heartbeat(self, asked: Asked, stamp: Stamp, *, begun: bool) -> bytes:
        """Returns an event that clients do not know, and ignore: the timer of some does not count comments.

        Before the first event it is a comment, since clients expect `response.created` first.
        """
        return b'event: keepalive\ndata: {"type":"keepalive"}\n\n' if begun else b": ping\n"


class TimedRenderer(StampedRenderer):
    """Writes events whose response has a time."""

    def __init__(self, inner: StreamRenderer, id: str, created: int) -> None:
        super().__init__(inner, id)
        self._created = b'"created_at":%d,' % created

    def feed(self, delta: Delta) -> bytes:
        """Returns the events of a delta."""
        return super().feed(delta).replace(_NO_TIME, self._created)

    def finish(self) -> bytes:
        """Returns the event with the whole response."""
        return super().finish().replace(_NO_TIME, self._created)

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as an event."""
        return super().error(error)
