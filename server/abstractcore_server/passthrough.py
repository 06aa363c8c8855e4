"""`Relay`: the bytes of one call of a model. Where client and provider speak one API and nothing has to change, both
get what the other has sent, byte for byte: the provider's cache of prompts and its signatures depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, cast

import jiter

from abstractcore.concurrency import is_large, off_loop
from abstractcore.ports import CHAT, Answer, Attempt, AttemptNext, Body, Transpiler
from abstractcore.schema import ModelCall

from .json_changes import changed_paths
from .json_texts import with_text
from .sent_calls import SentCall

SSE_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
"""What may stand after an event of a stream of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
_MODEL = "model"
_current: ContextVar[Relay | None] = ContextVar("abstractcore_server_relay", default=None)


@dataclass(frozen=True, slots=True)
class AsRead:
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
        read: AsRead | None = None,
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
        return _HeardBody(body, self.calls[-1].hear)

    @property
    def received(self) -> bytes:
        """The provider's last answer, as far as it has arrived."""
        return self.calls[-1].received() if self.calls else b""

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
        arrived = self._rest + self.calls[-1].received(self._next)
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
        """Makes an attempt with the relay's body, and lets the relay hear the answer."""
        relay = _current.get()
        if relay is None or attempt.operation.name != relay.operation:
            return await next(attempt)
        large = is_large(attempt.request.body)
        body = await off_loop(attempt.context.runtime, large, relay.body_for, attempt)
        request = replace(attempt.request, body=body)
        return await next(replace(attempt, request=request, listen=relay.listen))


class _HeardBody:
    """The body of an answer, of which each chunk is kept."""

    def __init__(self, body: Body, hear: Callable[[bytes], None]) -> None:
        self._body = body
        self._hear = hear
        self.status = body.status
        self.headers = body.headers
        self.close = body.close
        self.abort = body.abort

    async def read(self) -> bytes:
        """Returns the next chunk."""
        chunk = await self._body.read()
        self._hear(chunk)
        return chunk
