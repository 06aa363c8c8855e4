"""Finish reasons: the vendors' values and ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from abstractcore.schema import FinishReason, Part, ToolCall


@dataclass(frozen=True, slots=True)
class FinishReasons:
    """A vendor's finish reasons and ours, both ways. `to_theirs` may omit reasons that are not written."""

    to_ours: Mapping[str, FinishReason]
    to_theirs: Mapping[FinishReason, str]

    def read(self, raw: str | None, *, calls: bool) -> FinishReason:
        """Returns our value for `raw`.

        An unknown value is "tool_calls" if the reply `calls` tools. Any other unknown or missing value is "unknown"; so
        are known values that do not determine the reason.
        """
        return self.to_ours.get(raw or "", "tool_calls" if calls and raw else "unknown")


def calls_tools(parts: Iterable[Part]) -> bool:
    """Whether a reply with these parts needs tool results."""
    return any(isinstance(part, ToolCall) for part in parts)
