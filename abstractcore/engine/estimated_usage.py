"""Estimates the tokens of requests whose responses have not reported them. Imported with the first of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, cast

from ..files.parts import media_parts
from ..files.token_estimates import audio_tokens, estimated_tokens
from ..ports import Attempt, ModelProfile
from ..ports.middleware import call_in
from ..schema import (
    Delta,
    ModelReply,
    OperationInput,
    ReasoningDelta,
    ReasoningPart,
    TextDelta,
    TextPart,
    ToolCall,
    ToolCallDelta,
    Usage,
    text_tokens,
)
from ..schema.codec import json_of

_TOKENS_A_SECOND: Final = 50
"""What a model has written of a reply of which nothing arrived, about: providers charge for it."""


def usage_without_response(attempt: Attempt, profile: ModelProfile, seconds: float) -> Usage:
    """Returns about what a request has used that left, and of which nothing came back in so many seconds."""
    call = call_in(attempt.encoded or attempt.context.input)
    if call is None or not attempt.operation.is_chat:
        return _usage(attempt, profile, 0)
    limits = (call.sampling.max_output_tokens, profile.max_output_tokens)
    written = math.ceil(max(0.0, seconds) * _TOKENS_A_SECOND)
    return _usage(attempt, profile, min(each for each in (written, *limits) if each is not None))


def usage_of_deltas(attempt: Attempt, profile: ModelProfile, deltas: Sequence[Delta]) -> Usage:
    """Returns about what a request has used whose response has streamed these deltas so far."""
    texts = [delta.text for delta in deltas if isinstance(delta, TextDelta | ReasoningDelta)]
    texts += [delta.arguments_text for delta in deltas if isinstance(delta, ToolCallDelta)]
    return _usage(attempt, profile, text_tokens("".join(texts)))


def usage_of_reply(attempt: Attempt, profile: ModelProfile, reply: ModelReply) -> Usage:
    """Returns about what a request has used that was answered with a reply."""
    texts = [part.text for part in reply.parts if isinstance(part, TextPart | ReasoningPart)]
    texts += [part.arguments_text for part in reply.parts if isinstance(part, ToolCall)]
    return _usage(attempt, profile, text_tokens("".join(texts)))


def _usage(attempt: Attempt, profile: ModelProfile, output: int) -> Usage:
    """Returns the usage of a request, of which the input is estimated as a plan does; none for files without a call,
    such as recordings to transcribe.
    """
    given = attempt.encoded or attempt.context.input
    call = call_in(given)
    if call is None:
        given = cast("OperationInput", given)
        return Usage() if given.files else Usage(text_tokens(json_of(given.for_record()).decode()), output)
    sent = {path: part.type for path, part in media_parts(call)}
    # A conversion may have put other parts in the place of a file.
    decisions = [each for each in attempt.context.decisions if sent.get(each.part_path) == each.kind]
    audio = audio_tokens(call, profile, decisions)
    return Usage(int(estimated_tokens(call, profile, decisions)), output, input_audio=audio or None)
