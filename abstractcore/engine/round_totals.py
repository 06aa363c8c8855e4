"""`RoundTotals`: what the rounds of a loop have used, decided and cost together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..schema import (
    AttemptRecord,
    CallWarning,
    GenerateResponse,
    MediaDecision,
    ToolLoop,
)
from ..schema.costs import Cost, defer_cost, total_cost
from ..schema.reprs import with_valid


class RoundTotals:
    """Sums of the responses of several rounds, after those of `loop`, if it is continued. `warnings` come first."""

    def __init__(self, loop: ToolLoop | None, warnings: Sequence[CallWarning] = ()) -> None:
        self._before = loop
        self._warnings = warnings
        self._responses: list[GenerateResponse[Any]] = []
        self._broken: list[Callable[[], Cost]] = []
        self.tool_charges: Cost | None = None
        """What the tool runs have cost that have a declared price."""

    def add(self, response: GenerateResponse[Any]) -> None:
        """Adds the response of one round."""
        self._responses.append(response)

    def add_broken(self, find_cost: Callable[[], Cost]) -> None:
        """Adds what a round without a response has cost."""
        self._broken.append(find_cost)

    @property
    def attempts(self) -> tuple[AttemptRecord, ...]:
        """The attempts of all rounds, those of `loop` left out."""
        return tuple(attempt for each in self._responses for attempt in each.attempts)

    def with_cost(self, loop: ToolLoop) -> ToolLoop:
        """Returns the loop with the cost of all rounds, which is computed when it is read."""
        costed = with_valid(loop)
        defer_cost(costed, self.cost)
        return costed

    def cost(self) -> Cost:
        """Returns the sum of the costs; unknown if that of a round is unknown."""
        broken = (find_cost() for find_cost in self._broken)
        rounds = (self._before, *self._responses, *broken, self.tool_charges)
        return total_cost([each for each in rounds if each is not None])

    def response(
        self, loop: ToolLoop, output: Any, seconds: float, further: Sequence[CallWarning] = (), *, with_state: bool
    ) -> GenerateResponse[Any]:
        """Returns the response for all rounds: the last reply, with all steps, tokens and costs, and `further` warnings
        of the loop itself.
        """
        reply = loop.replies[-1]
        warnings: list[CallWarning] = [*self._warnings]
        media: list[MediaDecision] = []
        for each in self._responses:
            warnings += (warning for warning in each.warnings if warning not in warnings)
            media += _further(each.media, media)
        response: GenerateResponse[Any] = GenerateResponse(
            reply=reply,
            output=output,
            steps=loop.replies,
            tool_steps=loop.steps,
            output_attempts=loop.output_attempts,
            loop=loop if with_state else None,
            attempts=self.attempts,
            usage=loop.usage,
            warnings=(*warnings, *further),
            media=tuple(media),
            provider=loop.call.provider,
            model=reply.model or loop.call.model,
            cost=None,
            trace_id=loop.id,
            seconds=seconds,
        )
        defer_cost(response, self.cost)
        return response


def _further(decisions: Sequence[MediaDecision], known: Sequence[MediaDecision]) -> list[MediaDecision]:
    """Returns the decisions of a round for files that earlier rounds did not send. Paths may differ between rounds, and
    only the round that converted a file has the usage.
    """
    left = [_of_file(decision) for decision in known]
    further: list[MediaDecision] = []
    for decision in decisions:
        file = _of_file(decision)
        if file in left:
            left.remove(file)
        else:
            further.append(decision)
    return further


def _of_file(decision: MediaDecision) -> MediaDecision:
    return replace(decision, part_path="", usage=None)
