"""`LearntRate`: how many calls a provider takes, learned from the headers of its responses and from its refusals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from .counting import FixedNumbers

_STEP_SECONDS: Final = 10.0
"""How long without a refusal until the rate grows by a tenth."""
_STEP: Final = 0.1
_LEAST: Final = 1 / 64
_MOST_NUMBER: Final = 10**12


class NumbersInHeaders(NamedTuple):
    """Limits of a minute as a response states them; None for what it does not."""

    requests: int | None
    tokens: int | None


def numbers_in(headers: Mapping[str, str]) -> NumbersInHeaders:
    """Returns the limits in the headers of a response, whose names are in lower case.

    `x-ratelimit-limit-requests` and `-tokens` are OpenAI's, and those of many with its API: limits of a minute
    (https://platform.openai.com/docs/guides/rate-limits). Anthropic's begin with `anthropic-ratelimit-`, and may have
    input and output apart (https://docs.claude.com/en/api/rate-limits).
    """
    requests = _number(headers, "x-ratelimit-limit-requests") or _number(headers, "anthropic-ratelimit-requests-limit")
    tokens = _number(headers, "x-ratelimit-limit-tokens") or _number(headers, "anthropic-ratelimit-tokens-limit")
    if tokens is None:
        parts = [_number(headers, f"anthropic-ratelimit-{kind}-tokens-limit") for kind in ("input", "output")]
        given = [each for each in parts if each is not None]
        tokens = sum(given) if given else None
    return NumbersInHeaders(requests, tokens)


def _number(headers: Mapping[str, str], name: str) -> int | None:
    text = headers.get(name, "").strip()
    if not text.isascii() or not text.isdecimal() or len(text) > len(str(_MOST_NUMBER)):
        return None
    return int(text) or None


class _LearntNumber:
    """A limit of a minute: the number that headers state or that was let in, times a factor that refusals halve."""

    __slots__ = ("_factor", "_is_stated", "_number")

    def __init__(self) -> None:
        self._number: int | None = None
        self._is_stated = False
        self._factor = 1.0

    @property
    def is_known(self) -> bool:
        return self._number is not None

    @property
    def grows(self) -> bool:
        return self._number is not None and (self._factor < 1 or not self._is_stated)

    @property
    def value(self) -> int | None:
        return None if self._number is None else max(1, min(_MOST_NUMBER, int(self._number * self._factor)))

    def state(self, number: int) -> None:
        self._number, self._is_stated, self._factor = number, True, min(1.0, self._factor)

    def begin_at(self, number: int) -> None:
        self._number, self._factor = number, 1.0

    def halve(self) -> None:
        self._factor = max(_LEAST, self._factor / 2)

    def grow(self, steps: float) -> None:
        if self.grows:
            self._factor += steps * _STEP
            if self._is_stated:
                self._factor = min(1.0, self._factor)


class LearntRate:
    """The limits of one model for one key. A refusal (429) halves them, and they grow back by tenths.

    Those that no header states are what was let in before the first refusal; they go on growing. Refusals of requests
    that left before the last one halve nothing again. Times may go back.
    """

    __slots__ = ("_cut_at", "_grown_at", "_numbers", "_requests", "_tokens")

    def __init__(self) -> None:
        self._requests = _LearntNumber()
        self._tokens = _LearntNumber()
        self._cut_at = self._grown_at = -math.inf
        self._numbers = FixedNumbers()

    @property
    def known(self) -> FixedNumbers:
        """The limits as of the last call."""
        return self._numbers

    def read(self, headers: Mapping[str, str]) -> None:
        """Reads the headers of a response, if they state limits."""
        found = numbers_in(headers)
        if found == (None, None):
            return
        if found.requests is not None:
            self._requests.state(found.requests)
        if found.tokens is not None:
            self._tokens.state(found.tokens)
        self._set()

    def refused(self, begun: float, now: float, requests: int) -> None:
        """Halves the limits after a refusal of a request that left at `begun`, one of so many in a minute."""
        if now < self._cut_at:  # the clock went back
            self._cut_at = self._grown_at = now
        if begun < self._cut_at:
            return
        if not self._requests.is_known:
            self._requests.begin_at(max(1, requests))
        self._requests.halve()
        self._tokens.halve()
        self._cut_at = self._grown_at = now
        self._set()

    def numbers(self, now: float) -> FixedNumbers:
        """Returns the limits of now; those that are not known are None."""
        if not (self._requests.grows or self._tokens.grows):
            return self._numbers
        steps = (now - self._grown_at) // _STEP_SECONDS
        if steps > 0:
            self._grown_at += steps * _STEP_SECONDS
            self._requests.grow(steps)
            self._tokens.grow(steps)
            self._set()
        elif steps < 0:
            self._grown_at = now
        return self._numbers

    def _set(self) -> None:
        self._numbers = FixedNumbers(self._requests.value, self._tokens.value)
