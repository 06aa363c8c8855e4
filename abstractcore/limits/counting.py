"""`CallCounts`: the calls of one name in this process that count in a minute. It waits for nothing."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

WINDOW_SECONDS: Final = 60.0
"""How long a call counts."""
_SHORTEST_WAIT: Final = 0.001
"""More than what is lost when times are added."""

LimitName: TypeAlias = Literal["requests", "tokens", "calls at once", "pause", "turn"]
"""What a call waits for: a limit; the time that the provider asked for; calls of other processes that came earlier."""


class Numbers(Protocol):
    """The numbers of limits: calls and tokens in any 60 seconds, and calls at once. None is without limit."""

    @property
    def requests_per_minute(self) -> int | None:
        """Calls that begin in any 60 seconds."""
        ...

    @property
    def tokens_per_minute(self) -> int | None:
        """Tokens of the calls that begin in any 60 seconds, of input and output together."""
        ...

    @property
    def parallel(self) -> int | None:
        """Calls that run at once."""
        ...


class FixedNumbers(NamedTuple):
    """Numbers as a value."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    parallel: int | None = None


@dataclass(frozen=True, slots=True)
class LimitReached:
    """Why a call was not let in: `limit` is reached, and may have room in `retry_after` seconds."""

    limit: LimitName
    most: int
    retry_after: float

    def __str__(self) -> str:
        if self.limit == "pause":
            return "the pause that the provider asked for"
        if self.limit == "turn":
            return "calls of other processes that came earlier"
        return (
            f"{self.most:,} {self.limit}" if self.limit == "calls at once" else f"{self.most:,} {self.limit} a minute"
        )


class CountedCall:
    """A call that was let in. Its tokens count from `begun` on: as reserved, once it is settled as used."""

    __slots__ = ("begun", "counts", "expires", "runs", "tokens")

    def __init__(self, begun: float, expires: float, tokens: int) -> None:
        self.begun = begun
        self.expires = expires
        self.tokens = tokens
        self.runs = True
        self.counts = True


class CallCounts:
    """What counts of the calls of one name. Times are in seconds on any clock, which may go back: what began later than
    now counts as begun now.

    A finalizer that ends a call may run within any of these methods, in the same thread: they iterate over copies.
    """

    __slots__ = ("_calls", "_latest", "_running", "tokens")

    def __init__(self) -> None:
        self.tokens = 0
        self._calls: deque[CountedCall] = deque()
        self._running: dict[CountedCall, None] = {}
        self._latest = -math.inf

    @property
    def requests(self) -> int:
        """The calls that began in the last minute, by the time of the last use."""
        return len(self._calls)

    @property
    def running(self) -> int:
        """The calls that run."""
        return len(self._running)

    def begin(self, numbers: Numbers, tokens: int, now: float, expires: float) -> CountedCall | LimitReached:
        """Lets a call in that has about so many tokens and runs until `expires` at most, or returns why not.

        One that has more tokens than the limit is let in while no others count.
        """
        calls = self._calls
        if now < self._latest:
            self._go_back(now)
        self._latest = now
        since = now - WINDOW_SECONDS
        while calls and calls[0].begun <= since:
            self._forget(calls.popleft())
        most = numbers.parallel
        if most is not None and len(self._running) >= most and not self._expire(now, most):
            return LimitReached("calls at once", most, self._first_expiry(now))
        most = numbers.requests_per_minute
        if most is not None and len(calls) >= most:
            return LimitReached("requests", most, self._until(calls[len(calls) - most], now))
        most = numbers.tokens_per_minute
        if most is not None:
            tokens = min(tokens, most)
            if self.tokens + tokens > most:
                return LimitReached("tokens", most, self._until_room(self.tokens + tokens - most, now))
        call = CountedCall(now, expires, tokens)
        calls.append(call)
        self._running[call] = None
        self.tokens += tokens
        return call

    def settle(self, call: CountedCall, tokens: int) -> None:
        """Ends a call that used so many tokens. Has no effect on one that has ended."""
        if call.runs:
            self._end(call)
            if call.counts:
                self.tokens += tokens - call.tokens
                call.tokens = tokens

    def drop(self, call: CountedCall) -> None:
        """Ends a call that was not sent: it does not count."""
        if call.runs:
            self._end(call)
            if call.counts:
                self._calls.remove(call)
                self._forget(call)

    def end_running(self) -> None:
        """Ends the calls that run, which still count: they are those of the process that this one was forked from."""
        for call in [*self._running]:
            self._end(call)

    def _end(self, call: CountedCall) -> None:
        call.runs = False
        self._running.pop(call, None)

    def _forget(self, call: CountedCall) -> None:
        call.counts = False
        self.tokens -= call.tokens

    def _expire(self, now: float, most: int) -> bool:
        """Lets calls that never ended run no more; returns whether less than `most` run then."""
        for call in [each for each in self._running if each.expires <= now]:
            self._running.pop(call, None)
        return len(self._running) < most

    def _first_expiry(self, now: float) -> float:
        return max(_SHORTEST_WAIT, min(call.expires for call in [*self._running]) - now)

    def _until(self, call: CountedCall, now: float) -> float:
        return max(_SHORTEST_WAIT, call.begun + WINDOW_SECONDS - now)

    def _until_room(self, tokens: int, now: float) -> float:
        """Returns the seconds until the calls that began first, with so many tokens, no longer count."""
        last = self._calls[-1]
        for call in [*self._calls]:
            tokens -= call.tokens
            if tokens <= 0:
                last = call
                break
        return self._until(last, now)

    def _go_back(self, now: float) -> None:
        for call in [*self._calls]:
            call.begun = min(call.begun, now)
