"""`TextPieces`: a text that arrives while it is spoken."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TypeAlias, cast

from ..errors import InvalidInputError
from ..ports import Runtime
from .checks import checked_text

TextSource: TypeAlias = str | Iterable[str] | AsyncIterable[str]
_END = object()


class TextPieces:
    """The pieces of a text that the user gave, for backends that take them one by one, or whole."""

    def __init__(self, source: TextSource) -> None:
        if isinstance(source, str):
            checked_text(source, "text")
        elif isinstance(source, bytes) or not isinstance(source, Iterable | AsyncIterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected text, or pieces of it, got {type(source).__name__}", path="text")
        self._source = source

    async def whole(self, runtime: Runtime) -> str:
        """Returns the text, when all of it has arrived."""
        if isinstance(self._source, str):
            return self._source
        return checked_text("".join([piece async for piece in self.pieces(runtime)]), "text")

    async def pieces(self, runtime: Runtime) -> AsyncIterator[str]:
        """Yields the pieces as they arrive. In sync calls it never suspends."""
        if isinstance(self._source, str):
            yield self._source
        elif isinstance(self._source, AsyncIterable):
            async for piece in self._source:
                yield _checked(piece)
        else:
            source = cast("Iterator[object]", iter(self._source))
            while (piece := await runtime.call(next, source, _END)) is not _END:
                yield _checked(piece)


def _checked(piece: object) -> str:
    if not isinstance(piece, str):
        raise InvalidInputError(f"expected pieces of text, got {type(piece).__name__}", path="text")
    return piece
