"""Operations that several wire formats have."""

from __future__ import annotations

from collections.abc import Callable

from abstractcore.ports import Operation
from abstractcore.schema import Encoded, ModelCall, Usage, WireResponse

COUNT_TOKENS = "count_tokens"
CACHED_CONTENTS = "cached_contents"
"""The prefix of the names of operations on cached content: `cached_contents.create`."""


def count_tokens(encode: Callable[[ModelCall], Encoded], decode: Callable[[WireResponse], int]) -> Operation[int]:
    """Returns the operation that counts the tokens of a call without answering it. Vendors do not charge for it."""
    return Operation(
        COUNT_TOKENS, encode, decode, usage=lambda count: Usage(0, 0), to_record=lambda count: count, is_free=True
    )
