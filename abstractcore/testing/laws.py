"""The laws of a transpiler, as functions that raise `LawBrokenError`.

A call or reply "changed as its warnings say" has, at the path of every warning, nothing (`sent` is None), or `sent`;
a part with a warning of code "reordered" has moved to position `sent`. It is then put in canonical form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
LAWS: Mapping[Law, str] = {
    "call_losses": "a call changed as its warnings say is the call that the other side reads",
    "encode_again": "the call that the other side reads is encoded as the same request, without a warning",
    "reply_losses": "a reply changed as its warnings say is the reply that the other side reads",
    "render_again": "the reply that the other side reads is rendered as the same body, without a warning",
    "stream": "a stream adds up to what the body says, wherever its bytes are split",
    "errors": "an error keeps its class and does not ask for an earlier retry",
}
_REFUSALS = (InvalidInputError, UnsupportedContentError, UnsupportedOptionError)
_MAX_SPLITS = 1000


class LawBrokenError(AbstractCoreError, AssertionError):
    """A transpiler breaks `law`; the message shows both sides whole."""

    _longest_message = 10_000_000

    def __init__(self, law: Law, message: str) -> None:
        super().__init__(f"{law} ({LAWS[law]}): {message}")
        self.law = law


def check_call_losses(transpiler: Transpiler, call: ModelCall) -> None:
    """Every loss of `call` is named, and every warning is a real loss. A call that is refused loses nothing.

    What is never sent (`strict`, `media_policy`, `tags`, `parent_id`, `trace_context`, a tool's flags) does not
    count, nor do the names of tool calls, as long as results follow their calls.
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
    """What the other side reads loses nothing when it is encoded again."""
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
    """As `check_call_losses`, for replies; `raw_finish_reason` and `warnings` do not count."""
    rendered = transpiler.render(reply)
    data = cast(Data, full_data(_as_rendered(reply)))
    decoded = _as_rendered(_decode(transpiler, rendered.body))
    _expect("reply_losses", rendered.warnings, data, decoded, lambda changed: _as_rendered(_reply_of(changed)))


def check_render_again(transpiler: Transpiler, reply: ModelReply) -> None:
    """As `check_encode_again`, for replies."""
    body = transpiler.render(reply).body
    again = transpiler.render(_decode(transpiler, body))
    _no_warnings("render_again", again.warnings)
    if again.body != body:
        raise LawBrokenError("render_again", f"{body!r} became {again.body!r}")


def check_stream(transpiler: Transpiler, reply: ModelReply, deltas: Sequence[Delta] | None = None) -> None:
    """`reply` streamed (as `deltas`, if given) adds up to what its body says, at every split of the bytes."""
    body = _decode(transpiler, transpiler.render(reply).body)
    renderer = transpiler.renderer()
    stream = b"".join(renderer.feed(delta) for delta in deltas or deltas_of(reply)) + renderer.finish()
    frames = _frames(transpiler, [stream])
    _same("stream", replace(body, warnings=()), accumulate(_deltas(transpiler, frames)))
    if _frames(transpiler, [stream[i : i + 1] for i in range(len(stream))]) != frames:
        raise LawBrokenError("stream", "its frames are others when every byte comes alone")
    step = max(1, len(stream) // _MAX_SPLITS)
    for place in range(0, len(stream), step):
        if _frames(transpiler, [stream[:place], stream[place:]]) != frames:
            raise LawBrokenError("stream", f"its frames are others when it is split at byte {place}")


def check_errors(transpiler: Transpiler, error: ProviderError) -> None:
    """`error` comes back as the same class, with the same wait to a millisecond, or up to a second more."""
    again = transpiler.error(transpiler.render_error(error))
    if type(again) is not type(error):
        raise LawBrokenError("errors", f"{type(error).__name__} became {type(again).__name__}")
    asked, told = error.retry_after, again.retry_after
    if (asked is None) != (told is None) or not -0.001 < (told or 0.0) - (asked or 0.0) < 1:
        raise LawBrokenError("errors", f"retry_after {asked} became {told}")


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


def _deltas(transpiler: Transpiler, frames: Sequence[Any]) -> list[Delta]:
    """What the engine makes of `frames`: it goes on until the decoder says that the reply is complete."""
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
    made: Callable[[Data], ModelCall | ModelReply],
) -> None:
    try:
        expected = made(changed_as_warned(data, warnings))
    except FalseWarningError as error:
        raise LawBrokenError(law, f"a false warning: {error}") from None
    except SchemaError as error:
        raise LawBrokenError(law, f"changed as its warnings say, it does not fit the schema: {error}") from error
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
    """The call, without messages of which nothing is left."""
    messages = cast("list[Data]", data["messages"])
    return from_data(ModelCall, {**data, "messages": [message for message in messages if message.get("parts")]})


def _reply_of(data: Data) -> ModelReply:
    return from_data(ModelReply, data)


def _as_sent(call: ModelCall) -> ModelCall:
    tools = (replace(tool, read_only=False, idempotent=False, destructive=False) for tool in call.tools)
    return call.with_(
        messages=_with_numbered_ids(call.messages),
        tools=tuple(tools),
        strict=False,
        media_policy=EMPTY,
        tags=EMPTY,
        parent_id=None,
        trace_context=EMPTY,
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
