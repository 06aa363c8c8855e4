"""`POST /v2/chat` (https://docs.cohere.com/reference/chat)."""

from __future__ import annotations

from .base import ClientDialect


class CohereDialect(ClientDialect):
    """Cohere's chat."""

    name = "cohere"
    format = "cohere_chat"
    vendors = ("cohere",)
    needed_fields = frozenset({"documents"})
    model_paths = ()
    reply_fields = frozenset({"error", "finish_reason", "id", "logprobs", "message", "usage"})
