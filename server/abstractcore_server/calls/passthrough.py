"""The bytes of a call: whether they go through as they are, digests of them, and where JSON differs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

import jiter

from abstractcore.concurrency import is_large, off_loop
from abstractcore.ports import CHAT, Answer, Attempt, AttemptNext, Body, Transpiler
from abstractcore.schema import ModelCall

Path: TypeAlias = tuple[str, ...]
"""The keys of objects in one another: `("message", "model")`."""
_DATA = b"data:"
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def with_text(body: bytes, path: Path, text: str | None) -> bytes | None:
    """Returns a JSON object in UTF-8 with another text at `path`, and all else byte for byte; the object as it is if it
    has that text, or for None. Returns None if it has nothing there, and where readers may differ in what they read:
    for objects with a key that stands twice, of which some take the first value, others the last, and for other
    encodings.
    """
    try:
        found: Any = jiter.from_json(body, catch_duplicate_keys=True)
    except ValueError:
        return None
    if text is None:
        return body
    for name in path:
        if not isinstance(found, dict) or name not in found:
            return None
        found = cast("dict[str, Any]", found)[name]
    if found == text:
        return body
    written = body.decode("utf-8")
    start, end = 0, 0
    for name in path:
        start, end = _span_of(name, written, start)
    return f"{written[:start]}{json.dumps(text, ensure_ascii=False)}{written[end:]}".encode()


def with_text_in_lines(lines: bytes, paths: Sequence[Path], text: str) -> bytes:
    """Returns lines of JSON, or of server-sent events, with another text at those of `paths` that an object has."""
    return b"".join(_in_line(line, paths, text) for line in lines.splitlines(keepends=True))


def _in_line(line: bytes, paths: Sequence[Path], text: str) -> bytes:
    for path in paths:
        if f'"{path[-1]}"'.encode() in line:
            prefix = _DATA if line.startswith(_DATA) else b""
            changed = with_text(line[len(prefix) :], path, text)
            line = line if changed is None else prefix + changed
    return line


def _span_of(name: str, text: str, at: int) -> tuple[int, int]:
    """Returns where the value of a key stands, of the object at `at` that has it."""
    at = _after_space(text, _after_space(text, at) + 1)
    while True:
        key, at = _DECODER.raw_decode(text, at)
        start = _after_space(text, _after_space(text, at) + 1)
        _, end = _DECODER.raw_decode(text, start)
        if key == name:
            return start, end
        at = _after_space(text, _after_space(text, end) + 1)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def changed_paths(before: Any, after: Any) -> tuple[str, ...]:
    """Returns the paths of `after` that `before` has not, or has with another value, and those that only `before` has,
    as in "messages[0].content"; the empty path for values of different types. Numbers are compared by value.
    """
    return tuple(_changes(before, after, ""))


def _changes(before: Any, after: Any, path: str) -> list[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return _changed_members(cast("Mapping[str, Any]", before), cast("Mapping[str, Any]", after), path)
    if isinstance(before, list) and isinstance(after, list):
        return _changed_items(cast("list[Any]", before), cast("list[Any]", after), path)
    is_same = before == after and isinstance(before, bool) == isinstance(after, bool)
    return [] if is_same else [path]


def _changed_items(before: list[Any], after: list[Any], path: str) -> list[str]:
    if len(before) != len(after):
        return [path]
    pairs = enumerate(zip(before, after, strict=True))
    return [each for index, (old, new) in pairs for each in _changes(old, new, f"{path}[{index}]")]


def _changed_members(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> list[str]:
    found: list[str] = []
    for name in (*before, *(name for name in after if name not in before)):
        inner = f"{path}.{name}" if path else name
        if name in before and name in after:
            found += _changes(before[name], after[name], inner)
        else:
            found.append(inner)
    return found


def digest_of(data: bytes) -> str:
    """Returns the SHA-256 of bytes, as hex digits."""
    return hashlib.sha256(data).hexdigest()


class SentCall:
    """A request with the body `request`, and the paths of JSON, `changed`, in which it differs from the client's. One
    that `has_failed` has no whole answer.
    """

    def __init__(self, request: bytes, changed: tuple[str, ...]) -> None:
        self.request = request
        self.changed = changed
        self.has_failed = False
        self._received: list[bytes] = []
        self._digests: tuple[str, str] | None = None

    @property
    def chunks(self) -> int:
        """How many parts of the answer have arrived."""
        return len(self._received)

    @property
    def record(self) -> Callable[[bytes], None]:
        """Takes the next part of the answer."""
        return self._received.append

    def answer(self, since: int = 0) -> bytes:
        """Returns the answer, as far as it has arrived, without its first parts."""
        return b"".join(self._received[since:])

    def fail(self) -> None:
        """Forgets what has arrived: an error of a provider may repeat its key."""
        self.has_failed = True
        self._received = []

    def forget_bodies(self) -> None:
        """Keeps the digests alone."""
        self._digests = self.digests
        self.request, self._received = b"", []

    @property
    def digests(self) -> tuple[str, str]:
        """The SHA-256 of the request and of the answer."""
        return self._digests or (digest_of(self.request), digest_of(self.answer()))


SSE_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
"""What may stand after an event of a stream of server-sent events
(https://html.spec.whatwg.org/multipage/server-sent-events.html).
"""
_MODEL = "model"
_current: ContextVar[Relay | None] = ContextVar("abstractcore_server_relay", default=None)


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A call as the wire format of its provider has read it from a request."""

    call: ModelCall
    format: Transpiler

    def is_sent_by(self, attempt: Attempt) -> bool:
        """Whether an attempt has the request of this call: nothing was done to it that its provider would see."""
        if attempt.encoded is self.call:
            return True
        return attempt.request.body == self.format.encode(self.call).request.body


class Relay:
    """What a call of an operation sent and received.

    `request` is the body as the client sent it, `data` the same, parsed. `read` is the call as it was read; without it,
    nothing goes through. `event_ends` may stand after the events of a stream. `calls` are the requests that the
    provider got, those of all rounds of tools; of earlier rounds only the digests unless `keeps_bodies`. `is_untouched`
    is set once the client's own bytes were sent. With `is_guarded`, guards have checked the call: a request with texts
    that the call has not, and they were not shown, is not sent as it is.
    """

    def __init__(
        self,
        request: bytes,
        data: Mapping[str, Any],
        read: ReadCall | None = None,
        event_ends: Sequence[bytes] = SSE_ENDS,
        operation: str = CHAT,
        *,
        keeps_bodies: bool = False,
    ) -> None:
        self._request = request
        self._data = data
        self._read = read
        self._ends = event_ends
        self.operation = operation
        self.calls: list[SentCall] = []
        self.is_untouched = False
        self.is_guarded = False
        self._keeps_bodies = keeps_bodies
        self._next = 0
        self._rest = b""

    def of_attempt(self, attempt: Attempt) -> Relay:
        """Returns the relay of an attempt."""
        return self

    def body_for(self, attempt: Attempt) -> bytes:
        """Returns the body of an attempt.

        The client's own bytes are sent if nothing was done to the call, and the wire format adds no option: one that
        asks for the usage of a stream changes the answer.
        """
        encoded = attempt.request.body
        wanted = jiter.from_json(encoded)
        passed = None
        # On Vertex AI the model is in the URL, and a body that names it is refused.
        names_model = (_MODEL in self._data) == (_MODEL in wanted)
        if self._read is not None and self._read.is_sent_by(attempt) and not _adds_options(self._data, wanted):
            passed = with_text(self._request, (_MODEL,), wanted.get(_MODEL)) if names_model else None
        if self.is_guarded and not {*texts_in({**self._data, _MODEL: None})} <= {*texts_in(wanted)}:
            passed = None
        self.is_untouched = passed is not None
        if passed is None:
            self._add(attempt, SentCall(encoded, changed_paths(self._data, wanted)))
            return encoded
        self._add(attempt, SentCall(passed, () if passed is self._request else (_MODEL,)))
        return passed

    def _add(self, attempt: Attempt, sent: SentCall) -> None:
        """Adds a call. Of several attempts the last one counts; a first one after another is the next round."""
        if attempt.number > 1 and self.calls:
            self.calls.pop()
        elif self.calls and not self._keeps_bodies:
            self.calls[-1].forget_bodies()
        self.calls.append(sent)
        self._next = 0
        self._rest = b""

    def listen(self, body: Body) -> Body:
        """Returns the body of an answer, which is kept as it is read."""
        return _RecordedBody(body, self.calls[-1].record)

    @property
    def answer(self) -> bytes:
        """The provider's last answer, as far as it has arrived."""
        return self.calls[-1].answer() if self.calls else b""

    def fail(self) -> None:
        """Forgets the last answer: the call had no whole one."""
        if self.calls:
            self.calls[-1].fail()

    def take_events(self) -> bytes:
        """Returns the whole events that have arrived since the last time: between them, a heartbeat may be sent, and an
        error.
        """
        arrived = self.take_rest()
        end = max(arrived.rfind(each) + len(each) if each in arrived else 0 for each in self._ends)
        self._rest = arrived[end:]
        return arrived[:end]

    def take_rest(self) -> bytes:
        """Returns all that has arrived since the last time."""
        if not self.calls:
            return b""
        arrived = self._rest + self.calls[-1].answer(self._next)
        self._next = self.calls[-1].chunks
        self._rest = b""
        return arrived

    def begin(self) -> None:
        """Makes this the relay of the call that this task makes next."""
        _current.set(self)


def _adds_options(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether `after` has a field, or a field of an object in one, that `before` has not."""
    for name, value in after.items():
        given = before.get(name)
        if name not in before or (
            isinstance(value, dict) and isinstance(given, dict) and not value.keys() <= given.keys()
        ):
            return True
    return False


def texts_in(value: object, name: str = "") -> Iterator[str]:
    """Yields the texts in JSON data; types are no texts, since a text and a list of one part are the same call."""
    if isinstance(value, Mapping):
        for inner, item in cast("Mapping[str, object]", value).items():
            yield from texts_in(item, inner)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from texts_in(item)
    elif isinstance(value, str) and name != "type":
        yield value


class PassThrough:
    """Middleware of the server's models: gives each attempt to the relay of its task."""

    async def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Answer:
        """Makes an attempt with the relay's body, and lets the relay record the answer."""
        relay = _current.get()
        if relay is None or attempt.operation.name != relay.operation:
            return await next(attempt)
        relay = relay.of_attempt(attempt)
        large = is_large(attempt.request.body)
        body = await off_loop(attempt.context.runtime, large, relay.body_for, attempt)
        request = replace(attempt.request, body=body)
        return await next(replace(attempt, request=request, listen=relay.listen))


class _RecordedBody:
    """The body of an answer, of which each chunk is kept."""

    def __init__(self, body: Body, record: Callable[[bytes], None]) -> None:
        self._body = body
        self._record = record
        self.status = body.status
        self.headers = body.headers
        self.close = body.close
        self.abort = body.abort

    async def read(self) -> bytes:
        """Returns the next chunk."""
        chunk = await self._body.read()
        self._record(chunk)
        return chunk
