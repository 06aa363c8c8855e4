"""`ScriptedPlayback`: the answer to one call of a scripted model: a reply, and the timed chunks of its stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from abstractcore.errors import AbstractCoreError
from abstractcore.ports import ScriptedReply
from abstractcore.schema import (
    Delta,
    ModelCall,
    ModelReply,
    Part,
    PartDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningPart,
    ReplyEnd,
    TextDelta,
    TextEnd,
    TextPart,
    ToolCall,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
    deltas_of,
)

Cut: TypeAlias = tuple[float, str]
"""The delay before a chunk, in seconds, and its text or reasoning; empty for any other part."""

_ENDS = (TextEnd, ReasoningEnd, ToolCallEnd, UsageDelta, ReplyEnd)


@dataclass(frozen=True, slots=True)
class ScriptedPlayback:
    """A reply to a call, its chunks, and the error that interrupts it, if any."""

    reply: ModelReply
    cuts: Sequence[Cut]
    then: AbstractCoreError | None = None

    @classmethod
    def of(cls, answer: ScriptedReply | ModelReply, call: ModelCall) -> ScriptedPlayback:
        """Returns a `ModelReply` unchanged, word by word; a `ScriptedReply` in its chunks, with missing ids and usage
        set."""
        if isinstance(answer, ModelReply):
            return cls(answer, [cut for part in answer.parts for cut in _words(part)])
        whole = answer.whole()
        reply = replace(
            whole,
            parts=_with_ids(whole.parts, call),
            usage=answer.usage or _counted(whole, call),
            model=call.model,
            provider="scripted",
        )
        return cls(reply, [(piece.delay, _text(piece.part)) for piece in answer.pieces], answer.then)

    @property
    def seconds(self) -> float:
        """The total duration."""
        return sum(delay for delay, _ in self.cuts)

    def deltas(self) -> list[tuple[float, Delta]]:
        """Returns the stream, each delta with the delay before it."""
        timed: list[tuple[float, Delta]] = []
        cuts = iter(self.cuts)
        for delta in deltas_of(self.reply):
            timed += _cut(delta, cuts)
        if self.then is not None:
            while isinstance(timed[-1][1], _ENDS):
                timed.pop()
        for sequence, (_, delta) in enumerate(timed):
            delta.sequence = sequence
        return timed


def _cut(delta: Delta, cuts: Iterator[Cut]) -> Iterator[tuple[float, Delta]]:
    if isinstance(delta, TextDelta | ReasoningDelta):
        left = len(delta.text)
        while True:
            delay, text = next(cuts)
            yield delay, type(delta)(0, delta.block, text)
            left -= len(text)
            if left <= 0:
                return
    elif isinstance(delta, ToolCallStart | PartDelta):
        delay, _ = next(cuts)
        yield delay, delta
    else:
        yield 0.0, delta


def _text(part: Part) -> str:
    return part.text if isinstance(part, TextPart | ReasoningPart) else ""


def _words(part: Part) -> list[Cut]:
    """Returns the cuts of a part without delay: the words of a text."""
    words = ScriptedReply.text(part.text).pieces if isinstance(part, TextPart) else ()
    return [(0.0, _text(word.part)) for word in words] or [(0.0, _text(part))]


def _with_ids(parts: Sequence[Part], call: ModelCall) -> tuple[Part, ...]:
    """Returns `parts` with ids for tool calls without one."""
    turn = sum(message.role == "assistant" for message in call.messages)
    calls = [part for part in parts if isinstance(part, ToolCall)]
    ids = {id(part): f"call_{turn}_{index}" for index, part in enumerate(calls) if not part.id}
    return tuple(
        replace(part, id=ids[id(part)]) if isinstance(part, ToolCall) and not part.id else part for part in parts
    )


def _counted(reply: ModelReply, call: ModelCall) -> Usage:
    """Returns token counts: the numbers of words."""
    words = sum(len(message.text.split()) for message in call.messages)
    return Usage(words, len(reply.text.split()))
