"""`Plan`: what a call would send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from .call_warnings import CallWarning
from .calls import ToolSearch
from .immutable import Immutable
from .media_decisions import MediaDecision


@dataclass(frozen=True, slots=True)
class Plan(Immutable, Sequence[MediaDecision]):
    """What a call would send: a sequence of the decisions for its files, with the warnings known without sending.

    `warnings` name what the model does not support, and unused options. What the provider's wire format cannot
    say is known when the request is written: those warnings are in the response only. `tool_search` is where deferred
    tools are searched: "hosted" (by the provider) or "client" (in this program); None if no tool is deferred.
    """

    media: tuple[MediaDecision, ...] = ()
    warnings: tuple[CallWarning, ...] = ()
    tool_search: ToolSearch | None = None

    def __len__(self) -> int:
        return len(self.media)

    @overload
    def __getitem__(self, index: int) -> MediaDecision: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[MediaDecision, ...]: ...

    def __getitem__(self, index: int | slice) -> MediaDecision | tuple[MediaDecision, ...]:
        return self.media[index]
