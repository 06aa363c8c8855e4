"""`Plan`: what a call would send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import overload

from .call_warnings import CallWarning
from .calls import ToolSearch
from .immutable import Immutable
from .media_decisions import MediaDecision


@dataclass(frozen=True, slots=True)
class CostRange(Immutable):
    """What a call may cost, in US dollars. `high` is None if nothing limits its output."""

    low: Decimal
    high: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Plan(Immutable, Sequence[MediaDecision]):
    """What a call would send: a sequence of the decisions for its files, with the warnings known without sending.

    `warnings` name what the model does not support, and unused options. What the provider's wire format cannot
    say is known when the request is written: those warnings are in the response only. `tool_search` is where deferred
    tools are searched: "hosted" (by the provider) or "client" (in this program); None if no tool is deferred.

    `estimated_input_tokens` is about how many tokens the first request has: messages, tools, answer type and files.
    `estimated_cost` is what this request may cost: at least the input at the price of cached tokens, at most an input
    half as long again with the longest output. It has no fees of hosted tools, no conversions of files by other models,
    and no further requests of a tool loop; None if the prices of the model are unknown.
    """

    media: tuple[MediaDecision, ...] = ()
    warnings: tuple[CallWarning, ...] = ()
    tool_search: ToolSearch | None = None
    estimated_input_tokens: int | None = None
    estimated_cost: CostRange | None = None

    def __len__(self) -> int:
        return len(self.media)

    @overload
    def __getitem__(self, index: int) -> MediaDecision: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[MediaDecision, ...]: ...

    def __getitem__(self, index: int | slice) -> MediaDecision | tuple[MediaDecision, ...]:
        return self.media[index]
