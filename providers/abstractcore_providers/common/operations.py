"""Operations that several wire formats have."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from abstractcore.errors import InvalidInputError
from abstractcore.ports import Operation
from abstractcore.schema import Encoded, ModelCall, ModelReply, Usage, WireRequest, WireResponse, to_data
from abstractcore.schema.quoting import shown

COUNT_TOKENS = "count_tokens"
RETRIEVE_REPLY = "retrieve_reply"
CACHED_CONTENTS = "cached_contents"
"""The prefix of the names of operations on cached content: `cached_contents.create`."""


def count_tokens(encode: Callable[[ModelCall], Encoded], decode: Callable[[WireResponse], int]) -> Operation[int]:
    """Returns the operation that counts the tokens of a call without answering it. Vendors do not charge for it."""
    return Operation(
        COUNT_TOKENS, encode, decode, usage=lambda count: Usage(0, 0), to_record=lambda count: count, is_free=True
    )


def retrieve_reply(
    id: object, path: str, query: str, decode: Callable[[WireResponse], ModelReply]
) -> Operation[ModelReply]:
    """Returns the operation that reads a stored reply, at `path` with its `id`, such as one made in the background.

    Its usage is that of a finished reply, which the provider charges once, however often it is read. Raises
    `InvalidInputError` for an id that is not a text.
    """
    if not isinstance(id, str) or not id:
        hint = "Pass the id of the reply: response.reply.id."
        raise InvalidInputError(f"expected the id of a reply, got {shown(id)}", path="arguments.id", hint=hint)
    request = WireRequest(f"{path}/{quote(id, safe='')}{query}", {}, b"", "GET")
    return Operation(
        RETRIEVE_REPLY,
        lambda call: Encoded(request),
        decode,
        usage=lambda reply: Usage() if reply.finish_reason == "paused" else reply.usage,
        to_record=to_data,
        has_input=False,
    )
