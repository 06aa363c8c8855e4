"""Assistant messages: in a request's history, and in a reply.

Blocks of text and reasoning keep their order. In a request, text with tool calls is their plan (`tool_plan`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from abstractcore.schema import CallWarning, Citation, Part, ReasoningPart, TextPart, ToolCall

from ...common.call_options import name_options_left_out, reasoning_left_out, with_options
from ...common.conversations import append_block, in_order
from ...common.function_tools import write_function_call
from ...common.reading import Object
from .blocks import text_block
from .citations import citations_to_theirs, fitting
from .vocabulary import PROVIDER, WARNINGS

_ORDER: dict[type[Part], int] = {TextPart: 0, ReasoningPart: 0, ToolCall: 1}
"""Tool calls come after the content."""
_ORDER_WITH_PLAN: dict[type[Part], int] = {ReasoningPart: 0, TextPart: 1, ToolCall: 2}
"""The plan comes between the content, which is reasoning, and the calls."""


def write_answer(
    parts: Sequence[Part], path: str, warnings: list[CallWarning], *, planned: bool = False, origin: str | None = None
) -> Object:
    """Returns the fields of a message, empty if nothing can be sent; with `planned`, text with tool calls is their
    plan.

    With `origin`, only that model's reasoning is sent.
    """
    kept = [(i, part) for i, part in enumerate(parts) if _is_kept(part, f"{path}[{i}]", origin, warnings)]
    calls = any(type(part) is ToolCall for _, part in kept)
    if calls and len(kept) > 1:
        kept = in_order(kept, _ORDER_WITH_PLAN if planned else _ORDER, path, warnings)
    answer = _Answer(planned and calls, warnings)
    for index, part in kept:
        answer.add(part, f"{path}[{index}]")
    return answer.body()


def _is_kept(part: Part, path: str, origin: str | None, warnings: list[CallWarning]) -> bool:
    if isinstance(part, TextPart | ToolCall):
        return True
    if isinstance(part, ReasoningPart) and part.text:
        if origin is None or part.origin == origin:
            return True
        warnings.append(reasoning_left_out(path))
    else:
        warnings.append(WARNINGS.part(part, path))
    return False


class _Answer:
    """Collects the blocks, the plan, the calls and the citations of one message."""

    def __init__(self, planned: bool, warnings: list[CallWarning]) -> None:
        self._planned = planned
        self._warnings = warnings
        self._blocks: list[Object] = []
        self._plan = ""
        self._calls: list[Object] = []
        self._cited: dict[int | None, list[Citation]] = {}
        """Citations by the block that they refer to; None is the plan."""

    def add(self, part: Part, path: str) -> None:
        """Adds a part that can be sent."""
        if isinstance(part, TextPart):
            self._text(part, path)
        elif isinstance(part, ToolCall):
            WARNINGS.fields(part, path, ("signature", "cache"), self._warnings)
            call = write_function_call(part.id, part.name, part.arguments_text)
            self._calls.append(with_options(call, part, path, PROVIDER, (), self._warnings))
        elif isinstance(part, ReasoningPart):
            WARNINGS.fields(part, path, ("signature", "redacted_data"), self._warnings)
            append_block(self._blocks, {"type": "thinking", "thinking": part.text})

    def body(self) -> Object:
        """The message's fields, without empty ones."""
        citations = [
            citation
            for index, cited in self._cited.items()
            for citation in citations_to_theirs(self._text_at(index), cited, index)
        ]
        fields: Object = {
            "content": self._blocks,
            "tool_plan": self._plan,
            "tool_calls": self._calls,
            "citations": citations,
        }
        return {name: value for name, value in fields.items() if value}

    def _text(self, part: TextPart, path: str) -> None:
        index = None
        if self._planned:
            WARNINGS.fields(part, path, ("cache",), self._warnings)
            name_options_left_out(part, path, PROVIDER, "a plan of tool calls is plain text", self._warnings)
            self._plan += part.text
        else:
            append_block(self._blocks, text_block(part, path, ("cache",), self._warnings))
            index = len(self._blocks) - 1
        if part.citations:
            offset = len(self._text_at(index)) - len(part.text)
            cited = fitting(part.citations, path, self._warnings)
            self._cited.setdefault(index, []).extend(item.spanning(len(part.text), offset) for item in cited)

    def _text_at(self, index: int | None) -> str:
        text: Any = self._plan if index is None else self._blocks[index]["text"]
        return text
