"""The inputs for both trees, as JSON: generated calls, replies and streams, published examples, and mutations of them.

Inputs are generated once, by the tree of this module, so that a changed strategy does not affect the comparison.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from hypothesis import strategies as st

from abstractcore import errors
from abstractcore.errors import AbstractCoreError
from abstractcore.framing import AwsEventStreamMessage, ServerSentEvent
from abstractcore.ports import MessageReader, Transpiler
from abstractcore.schema import Delta, WireRequest, WireResponse, deltas_of, to_data, to_json
from abstractcore.testing import strategies
from abstractcore.testing.strategies import PROVIDER_ERRORS
from tests.differential.generated import Target, connections, formats, generate, sessions, texts_of_errors
from tests.differential.worker import written_bytes
from tests.providers.damage import JUNK, distinct_paths, paths_in, value_at, with_value
from tests.providers.findings import REFUSALS
from tests.providers.formats.test_fuzz import payload_of, streamed, with_payload
from tests.providers.operations import operations_of
from tests.providers.published import JSON_TYPE, Fixture, fixtures, frames_of, request_of, response_of, stream_of

SIZES = (0, 1, 7, 64)
"""Chunk sizes of streams, in bytes; 0 for a single chunk."""
NOT_JSON = (b"", b"{", b"x", b"[DONE]", b"[]", b'{"a": NaN}', b"\xff")
_MOVED_FRAMES = 6
STATUSES = (400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529)
WAITS = ({}, {"retry-after": "7"}, {"retry-after-ms": "1500"}, {"retry-after": "Wed, 21 Oct 2026 07:28:05 GMT"})
Input = dict[str, Any]
Given = tuple[str, dict[str, Any]]
"""An operation and its arguments."""


def inputs(names: Sequence[str], examples: int, words: Sequence[str]) -> Iterator[Input]:
    """The inputs of the formats of these names (of all, if there are none): `examples` of each kind for the vendor's
    own dialect, a tenth for each session; and a connection to each provider with each of `words` for a model.
    """
    for target in chain(formats(), sessions()):
        if not names or target.format in names:
            count = max(examples // 10, 2) if target.model else examples
            said = () if target.model else [*words, *texts_of_errors()]
            for operation, given in chain(_of_target(target, count), _of_error_texts(target, said)):
                yield {**target.data, "operation": operation, "with": given}
    yield from (each for each in connections(words) if not names or each["format"] in names)


def _of_target(target: Target, examples: int) -> Iterator[Given]:
    printed = [fixture for fixture in fixtures() if fixture.format == target.format]
    yield from _of_calls(target, examples)
    yield from _of_requests(target, printed, examples)
    yield from _of_replies(target, printed, examples)
    yield from _of_streams(target, printed, examples)
    yield from _of_errors(target, printed)
    if "cached_contents.read" in operations_of(target.transpiler):
        yield from _of_kept_content(Damage(target.junk))


class Damage:
    """JSON with junk in every place that is unlike earlier ones, `times` over, with each kind of junk in turn."""

    def __init__(self, times: int) -> None:
        self._times = times
        self._seen: set[Any] = set()

    def of(self, *values: Any) -> Iterator[bytes]:
        for value in values:
            for trail in distinct_paths(value, self._seen) if self._times else ():
                for index in range(self._times):
                    junk = JUNK[(len(self._seen) + index * 5) % len(JUNK)]
                    yield json.dumps(with_value(value, trail, junk)).encode()


def _of_calls(target: Target, examples: int) -> Iterator[Given]:
    for call in target.calls(examples):
        data = to_data(call)
        yield "encode", {"call": data}
        if "count_tokens" in operations_of(target.transpiler):
            yield "encode_count", {"call": data}
        if "cached_contents.read" in operations_of(target.transpiler):
            yield "encode_keeping", {"call": data, "seconds": 90, "title": "a title"}


def _of_requests(target: Target, printed: Sequence[Fixture], examples: int) -> Iterator[Given]:
    requests = [request_of(fixture) for fixture in printed if fixture.kind == "request"]
    for call in target.calls(examples):
        try:
            requests.append(target.transpiler.encode(call).request)
        except REFUSALS:
            continue
    by_url: dict[str, list[Any]] = {}
    for request in requests:
        by_url.setdefault(request.url, []).append(json.loads(request.body))
        yield "parse", _request(request)
    damage = Damage(target.junk)
    for url, bodies in by_url.items():
        for body in damage.of(*bodies):
            yield "parse", _request(WireRequest(url, {}, body))
    if isinstance(target.transpiler, MessageReader):
        values = [value for bodies in by_url.values() for body in bodies for value in body.get("messages", ())]
        for value in chain(values, map(json.loads, Damage(target.junk).of(*values))):
            yield "read_message", {"value": value, "path": "messages[3]", "of_model": "m"}


def _of_replies(target: Target, printed: Sequence[Fixture], examples: int) -> Iterator[Given]:
    bodies = [json.dumps(fixture.read()).encode() for fixture in printed if fixture.kind == "reply"]
    for reply in target.replies(examples):
        yield "render", {"reply": to_data(reply)}
        bodies.append(target.transpiler.render(reply).body)
    odd = Damage(target.junk).of(*map(json.loads, bodies))
    for body in chain(bodies, odd, generate(st.binary(max_size=30), examples // 10)):
        yield "decode", _response(WireResponse(200, JSON_TYPE, body))
    if "count_tokens" in operations_of(target.transpiler):
        count = dict.fromkeys(("input_tokens", "inputTokens", "totalTokens"), 5)
        for body in chain([json.dumps(count).encode()], Damage(target.junk).of(count)):
            yield "decode_count", _response(WireResponse(200, JSON_TYPE, body))


def _of_streams(target: Target, printed: Sequence[Fixture], examples: int) -> Iterator[Given]:
    streams = [stream_of(target.transpiler, fixture.read()) for fixture in printed if fixture.kind == "stream"]
    generated: list[Any] = generate(strategies.streams(strategies.replies(target.provider)), examples)
    for index, deltas in enumerate([*map(deltas_of, target.shown()), *(deltas for _, deltas in generated)]):
        yield from _of_deltas(deltas, PROVIDER_ERRORS[index % len(PROVIDER_ERRORS)], index % (len(deltas) + 1))
        streams.append(streamed(target.transpiler, deltas))
    yield "stream", {"body": "", "size": 0}
    damage = Damage(target.junk)
    for stream in streams:
        for size in SIZES:
            yield "stream", {"body": written_bytes(stream), "size": size}
        if target.junk:
            for body in _odd_streams(target.transpiler, stream, damage):
                yield "stream", {"body": written_bytes(body), "size": 0}


def _of_deltas(deltas: Sequence[Delta], kind: type[AbstractCoreError], until: int) -> Iterator[Given]:
    data = [json.loads(to_json(delta)) for delta in deltas]
    yield "render_stream", {"deltas": data}
    yield "render_stream", {"deltas": data[:until], "error": {"type": kind.__name__, "message": "no", "fields": {}}}


def _odd_streams(transpiler: Transpiler, stream: bytes, damage: Damage) -> Iterator[bytes]:
    """The stream truncated; with junk in one place of a frame or as the whole frame; with a frame missing, repeated or
    swapped with the next.
    """
    yield from (stream[: len(stream) // 3], stream[:-3])
    frames = frames_of(transpiler, [stream])
    for index, frame in enumerate(frames):
        if payload_of(frame).startswith(b"{"):
            for payload in damage.of(json.loads(payload_of(frame))):
                yield _bytes_of([*frames[:index], with_payload(frame, payload), *frames[index + 1 :]])
    for index in range(min(len(frames), _MOVED_FRAMES)):
        before, here, after = frames[:index], frames[index : index + 1], frames[index + 1 :]
        for payload in NOT_JSON:
            yield _bytes_of([*before, with_payload(frames[index], payload), *after])
        yield from map(_bytes_of, ([*before, *after], [*before, *here, *here, *after], [*before, *after[:1], *here]))


def _bytes_of(frames: Iterable[Any]) -> bytes:
    return b"".join(map(_bytes_of_frame, frames))


def _bytes_of_frame(frame: Any) -> bytes:
    if isinstance(frame, ServerSentEvent):
        name = f"event: {frame.event}\n".encode() if frame.event else b""
        return name + b"".join(b"data: " + line + b"\n" for line in frame.data.split(b"\n")) + b"\n"
    return frame.encode() if isinstance(frame, AwsEventStreamMessage) else frame + b"\n"


def _of_errors(target: Target, printed: Sequence[Fixture]) -> Iterator[Given]:
    errors_read = [fixture.read() for fixture in printed if fixture.kind == "error"]
    responses = [response_of(each["body"], each["status"], each.get("headers", {})) for each in errors_read]
    for error in _error_inputs():
        yield "render_error", {"error": error}
        made_again = getattr(errors, error["type"])(error["message"], **error["fields"])
        responses.append(target.transpiler.render_error(made_again))
    for response in responses:
        yield "error", _response(response)
    for body in dict.fromkeys(response.body for response in responses):
        for status in STATUSES:
            yield "error", _response(WireResponse(status, WAITS[status % len(WAITS)], body))
        yield "decode", _response(WireResponse(200, JSON_TYPE, body))
        yield "stream", {"body": written_bytes(body), "size": 0}
    damage = Damage(target.junk)
    for response in responses:
        for body in damage.of(*([json.loads(response.body)] if response.body[:1] == b"{" else [])):
            yield "error", _response(WireResponse(response.status, response.headers, body))
            yield "decode", _response(WireResponse(200, JSON_TYPE, body))


def _of_error_texts(target: Target, texts: Sequence[str]) -> Iterator[Given]:
    """Errors whose codes, types and messages are these texts in turn, with a status that fits each."""
    response = target.transpiler.render_error(errors.ServerError("no"))
    body = json.loads(response.body)
    places = [trail for trail in paths_in(body) if isinstance(value_at(body, trail), str)]
    for index, text in enumerate(texts):
        for trail in places:
            odd = json.dumps(with_value(body, trail, text)).encode()
            for status in (STATUSES[index % len(STATUSES)], 400):
                yield "error", _response(WireResponse(status, response.headers, odd))
            yield "decode", _response(WireResponse(200, JSON_TYPE, odd))
        for name in response.headers:
            yield "error", _response(WireResponse(400, {**response.headers, name: text}, response.body))


def _error_inputs() -> Iterator[dict[str, Any]]:
    """An error of every class that is made of a message, with every field that its constructor accepts."""
    fields = {"retry_after": 1.5, "status": 418, "code": "a_code", "request_id": "r-1", "path": "messages[0].parts[0]"}
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, AbstractCoreError):
            taken = inspect.signature(kind).parameters
            if "message" not in taken:
                continue
            held = {key: value for key, value in fields.items() if key in taken}
            for given in ({}, held, {key: value for key, value in held.items() if key != "status"}):
                yield {"type": name, "message": "Näh: a 'message'", "fields": given}


def _of_kept_content(damage: Damage) -> Iterator[Given]:
    for name in ("cachedContents/x", "projects/p/locations/l/cachedContents/y z", "", "?"):
        yield "encode_kept", {"name": name, "seconds": 7}
    kept = {
        "name": "cachedContents/x",
        "model": "models/m",
        "usageMetadata": {"totalTokenCount": 9},
        "expireTime": "2026-11-22T14:00:00Z",
    }
    for body in chain([json.dumps(kept).encode(), b"{}", b"x"], damage.of(kept)):
        yield "decode_kept", _response(WireResponse(200, JSON_TYPE, body))


def _request(request: WireRequest) -> dict[str, Any]:
    body = written_bytes(request.body)
    return {"request": {"url": request.url, "headers": dict(request.headers), "body": body}}


def _response(response: WireResponse) -> dict[str, Any]:
    body, headers = written_bytes(response.body), dict[str, Any](response.headers)
    return {"response": {"status": response.status, "headers": headers, "body": body}}
