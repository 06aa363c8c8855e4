"""Restores the call's own names in replies, whole and streamed, where the request had others in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..ports import Answer, CallContext, OperationResult
from ..schema import (
    CallWarning,
    Delta,
    ModelReply,
    SentNames,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from ..schema.property_names import PropertyNameReplacer
from .delta_reading import ReadStream, read_reply


def restore_names(answer: Answer, names: SentNames, context: CallContext) -> Answer:
    """Returns the answer to a request with `names`, with the call's own names."""
    if isinstance(answer, ModelReply):
        return read_reply(answer, NameRestorer(names))
    if isinstance(answer, OperationResult):
        return answer
    return ReadStream(answer, NameRestorer(names), context)


class NameRestorer:
    """Restores the names in the deltas of one reply: of the tools that it calls, and of the properties of arguments and
    of the typed answer. Deltas are counted anew.
    """

    def __init__(self, names: SentNames) -> None:
        self._names = names
        self._texts: dict[int, PropertyNameReplacer] = {}
        self._arguments: dict[int, PropertyNameReplacer] = {}
        self._sequence = 0
        self.warnings: list[CallWarning] = []

    def feed(self, deltas: list[Delta]) -> list[Delta]:
        """Returns the deltas that are certain so far."""
        out: list[Delta] = []
        for delta in deltas:
            if isinstance(delta, ToolCallStart):
                _begin(self._arguments, delta.block, self._names.arguments.get(delta.name))
                self._add(out, replace(delta, name=self._names.tools.get(delta.name, delta.name)))
            elif isinstance(delta, TextStart):
                _begin(self._texts, delta.block, self._names.output)
                self._add(out, replace(delta))
            elif isinstance(delta, ToolCallDelta) and delta.block in self._arguments:
                self._put_arguments(delta.block, self._arguments[delta.block].feed(delta.arguments_text), out)
            elif isinstance(delta, TextDelta) and delta.block in self._texts:
                self._put_text(delta.block, self._texts[delta.block].feed(delta.text), out)
            else:
                if isinstance(delta, ToolCallEnd | TextEnd):
                    self._put_rest(delta.block, out)
                self._add(out, replace(delta))
        return out

    def finish(self) -> list[Delta]:
        """Returns what blocks without an end hold back."""
        out: list[Delta] = []
        for block in (*self._texts, *self._arguments):
            self._put_rest(block, out)
        return out

    def _put_rest(self, block: int, out: list[Delta]) -> None:
        if block in self._texts:
            self._put_text(block, self._texts[block].finish(), out)
        elif block in self._arguments:
            self._put_arguments(block, self._arguments[block].finish(), out)

    def _put_text(self, block: int, text: str, out: list[Delta]) -> None:
        if text:
            self._add(out, TextDelta(0, block, text))

    def _put_arguments(self, block: int, text: str, out: list[Delta]) -> None:
        if text:
            self._add(out, ToolCallDelta(0, block, text))

    def _add(self, out: list[Delta], delta: Delta) -> None:
        delta.sequence = self._sequence
        self._sequence += 1
        out.append(delta)


def _begin(replacers: dict[int, PropertyNameReplacer], block: int, names: Mapping[str, str] | None) -> None:
    """Begins a block, unless it goes on after its end."""
    if names and block not in replacers:
        replacers[block] = PropertyNameReplacer(names)
