"""Operations that several wire formats have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import quote

from abstractcore.ports import Operation
from abstractcore.schema import (
    Encoded,
    ModelCall,
    ModelReply,
    Usage,
    WireRequest,
    WireResponse,
    to_data,
)
from abstractcore.schema.replies import CallIds

if TYPE_CHECKING:
    from abstractcore.schema import StoredReplyInput

COUNT_TOKENS = "count_tokens"
RETRIEVE_REPLY = "retrieve_reply"
CACHED_CONTENTS = "cached_contents"
"""The prefix of the names of operations on cached content: `cached_contents.create`."""


def count_tokens(
    encode: Callable[[ModelCall], Encoded], decode: Callable[[WireResponse], int]
) -> Operation[ModelCall, int]:
    """Returns the operation that counts the tokens of a call without answering it. Vendors do not charge for it."""
    return Operation(
        COUNT_TOKENS,
        ModelCall,
        encode,
        lambda response, call: decode(response),
        usage=lambda count: Usage(0, 0),
        to_record=lambda count: count,
        is_free=True,
    )


def retrieve_reply(
    path: str, query: str, decode: Callable[[WireResponse], ModelReply]
) -> Operation[StoredReplyInput, ModelReply]:
    """Returns the operation that reads a stored reply, at `path` with its id, such as one made in the background.

    Its usage is that of a finished reply, which the provider charges once, however often it is read.
    """
    from abstractcore.schema import StoredReplyInput  # few calls need it, and all import this module

    return Operation(
        RETRIEVE_REPLY,
        StoredReplyInput,
        lambda given: Encoded(WireRequest(f"{path}/{quote(given.id, safe='')}{query}", {}, b"", "GET")),
        lambda response, given: CallIds(given.messages).in_reply(decode(response)),
        usage=lambda reply: Usage() if reply.finish_reason == "paused" else reply.usage,
        to_record=to_data,
    )
