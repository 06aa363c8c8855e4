"""Runs a decoder for one value, in a process of its own where there is one."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from abstractcore.schema import MediaPart

from .content import source_of

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext

_SECONDS = 30.0


def first_value(
    context: MediaContext | None, function: Callable[[MediaPart], Generator[Any, Any, None]], part: MediaPart
) -> Any:
    """Returns the first value that a generator function yields for a file; raises what `MediaContext.isolated` does."""
    values = function(part) if context is None else context.isolated(source_of(part), _SECONDS, function, part)
    with closing(values):
        return next(values)
