"""The context size of a request.

By default, Ollama uses a context of 4,096 tokens on machines with little memory, and truncates a longer prompt from its
start, with a successful response. Two measures prevent this. Every request has `truncate: false` and `shift: false`,
with which servers since 0.12.6 reject what does not fit. And a request that may not fit sets a context size that is
large enough: then older servers truncate nothing, and newer ones reject nothing.

The size is an upper estimate: two bytes of text a token, 2,048 tokens an image, and room for the answer. It is a power
of two, since the server reloads a model when it changes; a small call keeps the server's own setting, which is often
larger. A server lowers the number to the model's maximum.
"""

from __future__ import annotations

from ...common.reading import Object

LEAST_CONTEXT = 4096
"""The context size that every server has (docs.ollama.com/context-length)."""

_BYTES_A_TOKEN = 2
_TOKENS_AN_IMAGE = 2048
_TOKENS_OF_AN_ANSWER = 1024


def context_for(body: Object, size: int, answer_tokens: int | None) -> int | None:
    """Returns the context size for a body of `size` bytes, in tokens; None if the server's own setting is enough."""
    images = [image for message in body["messages"] for image in message.get("images", ())]
    texts = size - sum(map(len, images))
    tokens = texts // _BYTES_A_TOKEN + len(images) * _TOKENS_AN_IMAGE + (answer_tokens or _TOKENS_OF_AN_ANSWER)
    return None if tokens <= LEAST_CONTEXT else 1 << (tokens - 1).bit_length()
