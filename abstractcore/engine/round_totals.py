"""`RoundTotals`: what the rounds of a loop have used, decided and cost together."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from ..schema import AttemptRecord, CallWarning, CostSource, GenerateResponse, MediaDecision, ToolLoop

_WEAKEST_FIRST: tuple[CostSource, ...] = ("estimate", "computed", "vendor")


class RoundTotals:
    """Sums of the responses of several rounds. `cost` is that of earlier rounds in US dollars, None if unknown."""

    def __init__(self, cost: Decimal | None) -> None:
        self.cost = cost
        self._sources: set[CostSource] = set()
        self._reason: str | None = None if cost is not None else "the cost of an earlier round is unknown"
        self._price_rows: dict[str, None] = {}
        self._attempts: list[AttemptRecord] = []
        self._warnings: list[CallWarning] = []
        self._media: list[MediaDecision] = []

    def add(self, response: GenerateResponse[Any]) -> None:
        """Adds the response of one round."""
        self._attempts += response.attempts
        self._warnings += (each for each in response.warnings if each not in self._warnings)
        self._media += (each for each in response.media if each not in self._media)
        self._price_rows.update(dict.fromkeys(response.price_rows))
        if response.cost_source is not None:
            self._sources.add(response.cost_source)
        if response.cost is None:
            self._reason = self._reason or response.cost_reason
        self.cost = None if self.cost is None or response.cost is None else self.cost + response.cost

    def response(self, loop: ToolLoop, output: Any, seconds: float, *, with_state: bool) -> GenerateResponse[Any]:
        """Returns the response for all rounds: the last reply, with all steps, tokens and costs."""
        source: CostSource | None = next((each for each in _WEAKEST_FIRST if each in self._sources), None)
        reply = loop.replies[-1]
        return GenerateResponse(
            reply=reply,
            output=output,
            steps=loop.replies,
            tool_steps=loop.steps,
            output_attempts=loop.output_attempts,
            loop=loop if with_state else None,
            attempts=tuple(self._attempts),
            usage=loop.usage,
            warnings=tuple(self._warnings),
            media=tuple(self._media),
            provider=loop.call.provider,
            model=reply.model or loop.call.model,
            cost=self.cost,
            cost_source=None if self.cost is None else source,
            cost_reason=None if self.cost is not None else self._reason,
            price_rows=tuple(self._price_rows),
            trace_id=loop.id,
            seconds=seconds,
        )
