"""Why a reply ended: vendors' words and ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from abstractcore.schema import FinishReason, Part, ToolCall


@dataclass(frozen=True, slots=True)
class FinishReasons:
    """A vendor's words and ours, both ways. `to_theirs` may leave out reasons for which nothing is written."""

    to_ours: Mapping[str, FinishReason]
    to_theirs: Mapping[FinishReason, str]

    def read(self, raw: str | None, *, calls: bool) -> FinishReason:
        """Our word for `raw`.

        For an unknown word it is "tool_calls" if the reply `calls` tools. For any other, and for none, it is "unknown";
        so are known words that leave it open, as that for a call which the model wrote wrongly.
        """
        return self.to_ours.get(raw or "", "tool_calls" if calls and raw else "unknown")


def calls_tools(parts: Iterable[Part]) -> bool:
    """Whether a reply of these parts asks for results of tools."""
    return any(isinstance(part, ToolCall) for part in parts)
