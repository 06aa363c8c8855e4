"""What a scripted model answers: replies in timed pieces, as data."""

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
    """What of a reply comes at once, after `delay` seconds."""

    part: Part
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of a scripted model: `Reply.text`, `Reply.tool_call` or `Reply.chunks`, and any of them added together.

    `Reply.text("Let me look.") + Reply.tool_call("weather", {"city": "Ulm"})` is one reply. Streamed, it comes in these
    pieces; as a whole, when all their delays have passed. Delays are in seconds, on the clock of the LLM's services.
    Without `usage` the words are counted. `then` is raised behind the last piece, in place of a whole reply always.
    Raises `InvalidInputError` for what cannot be a reply.
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
    ) -> Reply:
        """A text, after `reasoning` if there is some. It begins after `delay`, and is streamed a word at a time."""
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
    ) -> Reply:
        """A call of the tool `name`. `arguments` as text are sent as they are, broken or not.

        Without `id` it is `call_{turn}_{index}`: the assistant's turns before, and the place in the reply.
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
    ) -> Reply:
        """A text that is streamed in exactly these pieces, with `delay` before each; `then` breaks it off."""
        if isinstance(texts, str) or not isinstance(texts, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a list of texts, got {type(texts).__name__}", path="texts")
        pieces: list[Piece] = []
        for index, text in enumerate(texts):
            with _refusing(f"texts[{index}]"):
                pieces.append(Piece(TextPart(text), delay))
        return cls(tuple(pieces), usage, finish_reason, then)

    def __add__(self, other: Reply) -> Reply:
        """This reply, going on with the other."""
        if self.then is not None:
            raise InvalidInputError("nothing comes behind a reply that breaks off", path="then")
        usage = self.usage + other.usage if self.usage and other.usage else self.usage or other.usage
        return Reply((*self.pieces, *other.pieces), usage, other.finish_reason or self.finish_reason, other.then)

    def whole(self) -> ModelReply:
        """All its pieces together."""
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
    """Tell the user, at `path`, of what does not fit the schema."""
    try:
        yield
    except SchemaError as error:
        raise InvalidInputError(error.message, path=error.at(path).path if path else error.path) from None


ScriptedAnswer: TypeAlias = "str | Reply | ModelReply | AbstractCoreError"
"""A reply's text, a reply in timed pieces, a whole reply exactly as it is, or an error to raise."""

ScriptFunction: TypeAlias = "Callable[[ModelCall], ScriptedAnswer | Awaitable[ScriptedAnswer]]"
"""A function that makes an answer of the call, or a coroutine function."""

Script: TypeAlias = "Sequence[ScriptedAnswer | ScriptFunction] | ScriptFunction"
"""What each call is answered with in turn, functions among it; or one function for all calls."""
