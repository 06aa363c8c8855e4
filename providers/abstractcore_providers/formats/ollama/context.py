"""How large a context to ask for.

Ollama gives a model 4,096 tokens of context where its machine has little memory and nothing else is configured, and
cuts a longer prompt from its beginning, with a successful answer. Against that stand two things. Every request says
`truncate: false` and `shift: false`: servers since 0.12.6 then refuse what does not fit. And a request that may not
fit asks for a context that it fits in: older servers cut nothing then, and newer ones have nothing to refuse.

The size is guessed from above: two bytes of text a token, 2,048 tokens an image, and room for the answer. It is a power
of two, since a model is loaded again when it changes; a small call leaves the server's own setting alone, which is
often larger. A server lowers the number to what the model was trained with.
"""

from __future__ import annotations

from ...common.json_reading import Object

LEAST_CONTEXT = 4096
"""Tokens that every server gives (docs.ollama.com/context-length)."""

_BYTES_A_TOKEN = 2
_TOKENS_AN_IMAGE = 2048
_TOKENS_OF_AN_ANSWER = 1024


def context_for(body: Object, size: int, answer_tokens: int | None) -> int | None:
    """The tokens of context to ask for with a body of `size` bytes; None if the server's own setting is enough."""
    images = [image for message in body["messages"] for image in message.get("images", ())]
    texts = size - sum(map(len, images))
    tokens = texts // _BYTES_A_TOKEN + len(images) * _TOKENS_AN_IMAGE + (answer_tokens or _TOKENS_OF_AN_ANSWER)
    return None if tokens <= LEAST_CONTEXT else 1 << (tokens - 1).bit_length()
