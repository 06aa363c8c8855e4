"""The laws of a transpiler, as functions that raise `LawBrokenError`.

The changes in warnings: the value at the path of every warning is removed (`sent` is None) or replaced by `sent`; a
part with a warning of code "reordered" moves to position `sent`. The result is in canonical form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isqrt
from typing import Any, Literal, TypeAlias, cast

from ..errors import (
    AbstractCoreError,
    InvalidInputError,
    ProviderError,
    UnsupportedContentError,
    UnsupportedOptionError,
)
from ..ports import Transpiler
from ..schema import (
    EMPTY,
    CallWarning,
    Delta,
    Encoded,
    Message,
    ModelCall,
    ModelReply,
    Parsed,
    SchemaError,
    ToolCall,
    ToolResult,
    WireResponse,
    accumulate,
    canonical_json,
    deltas_of,
    from_data,
)
from .changes import Data, FalseWarningError, changed_as_warned, differences, full_data

Law: TypeAlias = Literal["call_losses", "encode_again", "reply_losses", "render_again", "stream", "errors"]
"""The names of the laws."""
LAWS: Mapping[Law, str] = {
    "call_losses": "a call with the changes in its warnings equals the parsed request",
    "encode_again": "the parsed request is encoded as the same request, without a warning",
    "reply_losses": "a reply with the changes in its warnings equals the decoded response",
    "render_again": "the decoded response is rendered as the same body, without a warning",
    "stream": "a stream accumulates to the reply in the body, wherever its bytes are split",
    "errors": "an error keeps its class and does not ask for an earlier retry",
}
"""What each law demands, by its name."""
_REFUSALS = (InvalidInputError, UnsupportedContentError, UnsupportedOptionError)


class LawBrokenError(AbstractCoreError, AssertionError):
    """A transpiler breaks `law`; the message shows both values in full."""

    _longest_message = 10_000_000

    def __init__(self, law: Law, message: str) -> None:
        super().__init__(f"{law} ({LAWS[law]}): {message}")
        self.law = law


def check_call_losses(transpiler: Transpiler, call: ModelCall) -> None:
    """Checks that every change of `call` has a warning, and every warning a change. A refused call has no changes.

    Fields that are never sent (`strict`, `media_policy`, `media_history`, `tags`, `parent_id`, `trace_context`, a
    tool's flags) are ignored, as are the ids of tool calls, as long as results match their calls.
    """
    encoded = _encode(transpiler, call)
    if encoded is None:
        return
    parsed = _parse("call_losses", transpiler, encoded)
    data = cast(Data, full_data(_as_sent(call)))
    _expect(
        "call_losses",
        (*encoded.warnings, *parsed.warnings),
        data,
        _as_sent(parsed.call),
        lambda changed: _as_sent(_call_of(changed)),
    )


def check_encode_again(transpiler: Transpiler, call: ModelCall) -> None:
    """Checks that the parsed request is encoded as the same request, without warnings. Raises `LawBrokenError`."""
    encoded = _encode(transpiler, call)
    if encoded is None:
        return
    parsed = _parse("encode_again", transpiler, encoded)
    again = _encode(transpiler, parsed.call)
    if again is None:
        raise LawBrokenError("encode_again", "the call that was read is refused")
    _no_warnings("encode_again", again.warnings)
    if again.request != encoded.request:
        raise LawBrokenError("encode_again", f"{encoded.request.body!r} became {again.request.body!r}")


def check_reply_losses(transpiler: Transpiler, reply: ModelReply) -> None:
    """Checks a reply as `check_call_losses` checks a call; `raw_finish_reason` and `warnings` are ignored."""
    rendered = transpiler.render(reply)
    data = cast(Data, full_data(_as_rendered(reply)))
    decoded = _as_rendered(_decode(transpiler, rendered.body))
    _expect("reply_losses", rendered.warnings, data, decoded, lambda changed: _as_rendered(_reply_of(changed)))


def check_render_again(transpiler: Transpiler, reply: ModelReply) -> None:
    """Checks a reply as `check_encode_again` checks a call. Raises `LawBrokenError`."""
    body = transpiler.render(reply).body
    again = transpiler.render(_decode(transpiler, body))
    _no_warnings("render_again", again.warnings)
    if again.body != body:
        raise LawBrokenError("render_again", f"{body!r} became {again.body!r}")


def check_stream(transpiler: Transpiler, reply: ModelReply, deltas: Sequence[Delta] | None = None) -> None:
    """Checks that the stream of `reply` (or `deltas`) accumulates to the decoded body, at every split of its bytes.

    Raises `LawBrokenError`.
    """
    body = _decode(transpiler, transpiler.render(reply).body)
    renderer = transpiler.renderer()
    stream = b"".join(renderer.feed(delta) for delta in deltas or deltas_of(reply)) + renderer.finish()
    frames = _frames(transpiler, [stream])
    _same("stream", replace(body, warnings=()), accumulate(_deltas(transpiler, frames)))
    if _frames(transpiler, [stream[i : i + 1] for i in range(len(stream))]) != frames:
        raise LawBrokenError("stream", "its frames differ when every byte arrives alone")
    _check_splits(transpiler, stream, frames)


def check_errors(transpiler: Transpiler, error: ProviderError) -> None:
    """Checks that `error` is decoded as the same class, with the same `retry_after`, or up to one second more.

    Raises `LawBrokenError`.
    """
    again = transpiler.error(transpiler.render_error(error))
    if type(again) is not type(error):
        raise LawBrokenError("errors", f"{type(error).__name__} became {type(again).__name__}")
    expected, found = error.retry_after, again.retry_after
    if (expected is None) != (found is None) or not -0.001 < (found or 0.0) - (expected or 0.0) < 1:
        raise LawBrokenError("errors", f"retry_after {expected} became {found}")


def _encode(transpiler: Transpiler, call: ModelCall) -> Encoded | None:
    try:
        return transpiler.encode(call)
    except _REFUSALS:
        return None


def _parse(law: Law, transpiler: Transpiler, encoded: Encoded) -> Parsed:
    try:
        return transpiler.parse(encoded.request)
    except InvalidInputError as error:
        raise LawBrokenError(law, f"its own request cannot be read: {error}") from error


def _decode(transpiler: Transpiler, body: bytes) -> ModelReply:
    return transpiler.decode(WireResponse(200, {"content-type": "application/json"}, body))


def _frames(transpiler: Transpiler, pieces: Sequence[bytes]) -> list[Any]:
    framer = transpiler.framer()
    return [frame for piece in pieces for frame in framer.feed(piece)] + list(framer.finish())


def _check_splits(transpiler: Transpiler, stream: bytes, frames: Sequence[Any]) -> None:
    """Checks a split at every byte. Each run splits the stream at several, which takes much less time than one each."""
    length = isqrt(len(stream))
    for first in range(length):
        offsets = range(first, len(stream), length)
        if _frames(transpiler, _split(stream, offsets)) != frames:
            alone = [each for each in offsets if _frames(transpiler, _split(stream, [each])) != frames]
            where = f"byte {alone[0]}" if alone else f"bytes {', '.join(map(str, offsets))}"
            raise LawBrokenError("stream", f"its frames differ when it is split at {where}")


def _split(stream: bytes, offsets: Sequence[int]) -> list[bytes]:
    return [stream[start:end] for start, end in pairwise((0, *offsets, len(stream)))]


def _deltas(transpiler: Transpiler, frames: Sequence[Any]) -> list[Delta]:
    """Returns the deltas of `frames` as the engine reads them: until the decoder reports that the reply is complete."""
    decoder = transpiler.decoder()
    deltas: list[Delta] = []
    for frame in frames:
        deltas += decoder.feed(frame)
        if decoder.complete:
            break
    return deltas + decoder.finish()


def _expect(
    law: Law,
    warnings: Sequence[CallWarning],
    data: Data,
    found: ModelCall | ModelReply,
    parse: Callable[[Data], ModelCall | ModelReply],
) -> None:
    try:
        expected = parse(changed_as_warned(data, warnings))
    except FalseWarningError as error:
        raise LawBrokenError(law, f"a false warning: {error}") from None
    except SchemaError as error:
        raise LawBrokenError(law, f"with the changes in its warnings, it is invalid: {error}") from error
    _same(law, expected, found)


def _same(law: Law, expected: ModelCall | ModelReply, found: ModelCall | ModelReply) -> None:
    left, right = canonical_json(expected), canonical_json(found)
    if left != right:
        lines = differences(json.loads(left), json.loads(right))
        raise LawBrokenError(law, "a difference without a warning: " + "; ".join(lines))


def _no_warnings(law: Law, warnings: Sequence[CallWarning]) -> None:
    if warnings:
        raise LawBrokenError(law, f"a second loss: {'; '.join(map(str, warnings))}")


def _call_of(data: Data) -> ModelCall:
    """Returns the call without messages that have become empty."""
    messages = cast("list[Data]", data["messages"])
    return from_data(ModelCall, {**data, "messages": [message for message in messages if message.get("parts")]})


def _reply_of(data: Data) -> ModelReply:
    return from_data(ModelReply, data)


def _as_sent(call: ModelCall) -> ModelCall:
    searched = any(tool.kind == "tool_search" for tool in call.hosted_tools)
    tools = (
        replace(tool, read_only=False, idempotent=False, destructive=False, defer=tool.defer and searched, labels=())
        for tool in call.tools
    )
    return call.with_(
        messages=_with_numbered_ids(call.messages),
        tools=tuple(tools),
        strict=False,
        media_policy=EMPTY,
        media_history=EMPTY,
        file_store="auto",
        tags=EMPTY,
        parent_id=None,
        trace_context=EMPTY,
        tool_format=None,
        rescue=True,
        output_mode=None,
        tool_search=None,
    )


def _with_numbered_ids(messages: Sequence[Message]) -> tuple[Message, ...]:
    numbered: list[Message] = []
    ids: dict[str, str] = {}
    for turn, message in enumerate(messages):
        if message.role == "assistant":
            ids = {call.id: f"call_{turn}_{index}" for index, call in enumerate(message.tool_calls)}
        parts = tuple(
            replace(part, id=ids[part.id])
            if isinstance(part, ToolCall)
            else replace(part, call_id=ids[part.call_id])
            if isinstance(part, ToolResult)
            else part
            for part in message.parts
        )
        numbered.append(replace(message, parts=parts))
    return tuple(numbered)


def _as_rendered(reply: ModelReply) -> ModelReply:
    count = 0
    parts = list(reply.parts)
    for index, part in enumerate(parts):
        if isinstance(part, ToolCall):
            parts[index] = replace(part, id=f"call_{count}")
            count += 1
    return replace(reply, parts=tuple(parts), raw_finish_reason=None, warnings=())
