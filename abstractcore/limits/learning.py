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


class LearntRate:
    """The limits of one model for one key. A refusal (429) halves them, and they grow back by tenths.

    Those that no header states are what was let in before the first refusal; they go on growing. Refusals of requests
    that left before the last one halve nothing again. Times may go back.
    """

    __slots__ = ("_cut_at", "_factor", "_grown_at", "_is_stated", "_numbers", "_requests", "_tokens")

    def __init__(self) -> None:
        self._requests: int | None = None
        self._tokens: int | None = None
        self._is_stated = False
        self._factor = 1.0
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
            self._requests, self._is_stated = found.requests, True
        if found.tokens is not None:
            self._tokens = found.tokens
        self._set()

    def refused(self, begun: float, now: float, requests: int) -> None:
        """Halves the limits after a refusal of a request that left at `begun`, one of so many in a minute."""
        if now < self._cut_at:  # the clock went back
            self._cut_at = self._grown_at = now
        if begun < self._cut_at:
            return
        if self._requests is None:
            self._requests, self._factor = max(1, requests), 1.0
        self._factor = max(_LEAST, self._factor / 2)
        self._cut_at = self._grown_at = now
        self._set()

    def numbers(self, now: float) -> FixedNumbers:
        """Returns the limits of now; those that are not known are None."""
        steps = (now - self._grown_at) // _STEP_SECONDS if self._factor < 1 or not self._is_stated else 0
        if steps > 0 and self._requests is not None:
            self._grown_at += steps * _STEP_SECONDS
            self._factor += steps * _STEP
            if self._is_stated:
                self._factor = min(1.0, self._factor)
            self._set()
        elif steps < 0:
            self._grown_at = now
        return self._numbers

    def _set(self) -> None:
        self._numbers = FixedNumbers(self._part(self._requests, self._factor), self._part(self._tokens, self._factor))

    def _part(self, number: int | None, factor: float) -> int | None:
        return None if number is None else max(1, min(_MOST_NUMBER, int(number * factor)))
