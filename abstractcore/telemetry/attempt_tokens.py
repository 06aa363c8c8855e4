"""About how many tokens an attempt has, before it is sent.

What a model has reported corrects its later estimates: the ratio of its input tokens to the estimated ones, and its
usual output.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, TypeAlias, cast

from ..files.token_estimates import estimated_tokens
from ..ports import Attempt, BilledResponse, CallContext, ModelProfile
from ..ports.middleware import call_in
from ..schema import ModelCall, content_size, size_of
from ..schema.token_counts import text_tokens
from .costs import MARGIN

_FIRST_OUTPUT: Final = 256
"""The output of a model that has not answered yet in this process, in tokens."""
_LEAST_OUTPUT: Final = 1
_WEIGHT: Final = 0.125
MOST_KNOWN: Final = 4096
"""Models and operations whose usual sizes are kept."""


@dataclass(slots=True)
class Usual:
    """What the answers of a model to one operation were like. A larger value counts at once, smaller ones slowly: an
    estimate is rather too high.
    """

    input_ratio: float | None = None
    output: float | None = None


UsualSizes: TypeAlias = "dict[tuple[str, str, str], Usual]"
"""What is usual, by provider, model and operation. Changes by two threads at once may lose one."""


def towards(known: float | None, observed: float) -> float:
    """Returns what is usual after another observation."""
    return observed if known is None else max(observed, known + _WEIGHT * (observed - known))


class AttemptTokens:
    """The estimates of the tokens of one attempt."""

    def __init__(self, attempt: Attempt, profile: ModelProfile, usual: UsualSizes) -> None:
        context = attempt.context
        self.context = context
        self.profile = profile
        self.given = context.input if attempt.encoded is None else attempt.encoded
        self.call = call_in(self.given)
        self.output_limit = _output_limit(self.call, profile, context)
        self.key = (context.input.provider, context.input.model, context.operation.name)
        found = usual.get(self.key)
        if found is None:
            if len(usual) >= MOST_KNOWN:
                usual.clear()
            found = usual.setdefault(self.key, Usual())
        self.usual = found
        self._input = _input_tokens(self.given, self.call, profile, context)

    @property
    def now(self) -> float:
        """The time by the clock of the call, in seconds since the epoch."""
        context = self.context
        return context.started_at + context.runtime.now() - context.monotonic_start

    def expected_input(self) -> int:
        """Returns the tokens of the input, rather too many."""
        ratio = self.usual.input_ratio
        return math.ceil(self._input * (MARGIN if ratio is None else ratio) - 1e-6)

    def expected_output(self) -> int:
        """Returns the most tokens that the call allows, or those that are usual."""
        return self.output_limit or self._usual_output()

    def learn(self, response: BilledResponse) -> None:
        """Corrects later estimates by what a response reports."""
        usual, usage = self.usual, response.usage
        if usage.input and self._input:
            # A short input may have half of its estimate, from which nothing follows for a long one.
            usual.input_ratio = towards(usual.input_ratio, max(1 / MARGIN, usage.input / self._input))
        if usage.output is not None and response.complete:
            usual.output = towards(usual.output, usage.output)

    def _usual_output(self) -> int:
        if self.context.operation.is_chat:
            known = self.usual.output
            tokens = _FIRST_OUTPUT if known is None else max(_LEAST_OUTPUT, math.ceil(known - 1e-6))
            most = self.profile.max_output_tokens
            return tokens if most is None else min(tokens, most)
        return math.ceil(self.usual.output or 0)


_MOST_TEXT: Final = 256 * 1024


def is_long(attempt: Attempt) -> bool:
    """Whether estimating an attempt takes longer than an event loop should wait: its characters are counted."""
    given = attempt.context.input if attempt.encoded is None else attempt.encoded
    call = call_in(given)
    return (size_of(given) if call is None else content_size(call)) > _MOST_TEXT


def texts_of(given: object) -> Iterator[str]:
    """Yields the texts of the input of an operation, such as those to embed or to speak."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for each in cast("Mapping[object, object]", given).values():
            yield from texts_of(each)
    elif isinstance(given, list | tuple):
        for each in cast("Sequence[object]", given):
            yield from texts_of(each)
    elif is_dataclass(given) and not isinstance(given, type):
        for field in fields(given):
            if field.name not in _NOT_SENT:
                yield from texts_of(getattr(given, field.name))


_NOT_SENT: Final = frozenset({"model", "provider", "tags", "parent_id", "trace_context"})


def _output_limit(call: ModelCall | None, profile: ModelProfile, context: CallContext) -> int | None:
    """Returns the most tokens of output that the call allows, None if it sets no limit."""
    if call is None or not context.operation.is_chat or call.sampling.max_output_tokens is None:
        return None
    limit = call.sampling.max_output_tokens
    return limit if profile.max_output_tokens is None else min(limit, profile.max_output_tokens)


def _input_tokens(given: Any, call: ModelCall | None, profile: ModelProfile, context: CallContext) -> int:
    if call is not None:
        return int(estimated_tokens(call, profile, context.decisions))
    return sum(map(text_tokens, texts_of(given)))
