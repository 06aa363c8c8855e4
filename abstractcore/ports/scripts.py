"""Scripted replies as data: their parts in timed pieces."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from ..errors import AbstractCoreError, InvalidInputError
from ..schema import (
    FinishReason,
    JSONValue,
    ModelCall,
    ModelReply,
    Part,
    ReasoningPart,
    SchemaError,
    TextPart,
    ToolCall,
    Usage,
)
from ..schema.json_values import check_items

_WORD = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a reply, or a slice of one, given `delay` seconds after the piece before it."""

    part: Part
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One reply of a scripted model, made with `text`, `tool_call` or `chunks`, or by adding replies with `+`.

    `ScriptedReply.text("Let me look.") + ScriptedReply.tool_call("weather", {"city": "Ulm"})` is one reply. A stream
    gives its pieces one by one; `generate` returns when all their delays have passed. Delays are in seconds, on the
    clock of the LLM's services. Without `usage`, each word counts as a token. `then` is an error: a stream raises it
    after the last piece, and `generate` raises it instead of returning. Raises `InvalidInputError` for values that
    cannot be in a reply.
    """

    pieces: tuple[Piece, ...] = ()
    usage: Usage | None = None
    finish_reason: FinishReason | None = None
    then: AbstractCoreError | None = None

    def __post_init__(self) -> None:
        if self.then is not None and not isinstance(self.then, AbstractCoreError):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected an AbstractCoreError, got {type(self.then).__name__}", path="then")
        with _refusing():
            object.__setattr__(self, "pieces", check_items(self.pieces, Piece, "pieces"))
        for index, piece in enumerate(self.pieces):
            _check_delay(piece.delay)
            with _refusing(f"pieces[{index}]"):
                if not ModelReply((piece.part,)).parts:
                    raise SchemaError("is empty")
        with _refusing():
            self.whole()

    @classmethod
    def text(
        cls,
        text: str,
        *,
        delay: float = 0.0,
        usage: Usage | None = None,
        reasoning: str | None = None,
        finish_reason: FinishReason | None = None,
    ) -> ScriptedReply:
        """Returns a reply of `reasoning`, if given, and `text`, streamed word by word after `delay`."""
        with _refusing():
            parts: list[Part] = [TextPart(word) for word in _WORD.findall(_text(text, "text"))]
            if reasoning is not None:
                parts.insert(0, ReasoningPart(_text(reasoning, "reasoning")))
        return cls(tuple(Piece(part, 0.0 if i else delay) for i, part in enumerate(parts)), usage, finish_reason)

    @classmethod
    def tool_call(
        cls,
        name: str,
        arguments: Mapping[str, JSONValue] | str | None = None,
        *,
        id: str | None = None,
        delay: float = 0.0,
        usage: Usage | None = None,
    ) -> ScriptedReply:
        """Returns a reply that calls the tool `name`. `arguments` given as text are used unchanged, valid JSON or not.

        The default `id` is `call_{turn}_{index}`: the number of assistant turns before, and the index in the reply.
        """
        with _refusing():
            if isinstance(arguments, str):
                call = ToolCall(id or "", name, arguments)
            else:
                call = ToolCall.of(id or "", name, arguments or {})
        return cls((Piece(call, delay),), usage)

    @classmethod
    def chunks(
        cls,
        texts: Sequence[str],
        *,
        delay: float = 0.0,
        then: AbstractCoreError | None = None,
        usage: Usage | None = None,
        finish_reason: FinishReason | None = None,
    ) -> ScriptedReply:
        """Returns a text streamed in exactly these pieces, with `delay` before each; `then` is raised at the end.

        `texts` are the pieces.
        """
        if isinstance(texts, str) or not isinstance(texts, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a list of texts, got {type(texts).__name__}", path="texts")
        pieces: list[Piece] = []
        for index, text in enumerate(texts):
            with _refusing(f"texts[{index}]"):
                pieces.append(Piece(TextPart(text), delay))
        return cls(tuple(pieces), usage, finish_reason, then)

    def __add__(self, other: ScriptedReply) -> ScriptedReply:
        """Returns this reply continued with `other`."""
        if self.then is not None:
            raise InvalidInputError("a reply that ends in an error cannot be continued", path="then")
        usage = self.usage + other.usage if self.usage and other.usage else self.usage or other.usage
        return ScriptedReply(
            (*self.pieces, *other.pieces), usage, other.finish_reason or self.finish_reason, other.then
        )

    def whole(self) -> ModelReply:
        """Returns all pieces as one `ModelReply`."""
        parts = tuple(piece.part for piece in self.pieces)
        calls_tools = any(isinstance(part, ToolCall) for part in parts)
        reason: FinishReason = self.finish_reason or ("tool_calls" if calls_tools else "stop")
        return ModelReply(parts, reason, usage=self.usage or Usage())


def _text(text: object, path: str) -> str:
    if not isinstance(text, str):
        raise InvalidInputError(f"expected text, got {type(text).__name__}", path=path)
    return text


def _check_delay(delay: object) -> None:
    if isinstance(delay, bool) or not isinstance(delay, int | float) or not 0 <= delay < math.inf:
        raise InvalidInputError(f"expected seconds, got {delay!r}", path="delay")


@contextmanager
def _refusing(path: str = "") -> Generator[None]:
    """Raises `InvalidInputError` at `path` in place of `SchemaError`."""
    try:
        yield
    except SchemaError as error:
        raise InvalidInputError(error.message, path=error.at(path).path if path else error.path) from None


ScriptedAnswer: TypeAlias = str | ScriptedReply | ModelReply | AbstractCoreError
"""A text, a reply in timed pieces, a complete `ModelReply` returned unchanged, or an error to raise."""

ScriptFunction: TypeAlias = Callable[[ModelCall], ScriptedAnswer | Awaitable[ScriptedAnswer]]
"""A function, or coroutine function, that takes the call and returns its answer."""

Script: TypeAlias = Sequence[ScriptedAnswer | ScriptFunction] | ScriptFunction
"""One answer (or function) for each call in turn, or one function that answers all calls."""
