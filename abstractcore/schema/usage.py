"""Token counts. A count that was not reported is None, never zero."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .base_error import SchemaError
from .immutable import Immutable
from .json_values import check_number


@dataclass(frozen=True, slots=True)
class Usage(Immutable):
    """Token counts. `input` includes tokens read from and written to a cache, `output` includes reasoning."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    cache_written: int | None = None
    reasoning: int | None = None
    input_audio: int | None = None
    output_audio: int | None = None

    def __post_init__(self) -> None:
        for name in _COUNTS:
            count = getattr(self, name)
            if count is not None:
                if type(count) is not int:
                    raise SchemaError(f"expected an integer, got {type(count).__name__}", name)
                check_number(count, name)

    @property
    def total(self) -> int | None:
        """The sum of input and output; None unless both were reported."""
        return None if self.input is None or self.output is None else self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _add(self.input, other.input),
            _add(self.output, other.output),
            _add(self.cached, other.cached),
            _add(self.cache_written, other.cache_written),
            _add(self.reasoning, other.reasoning),
            _add(self.input_audio, other.input_audio),
            _add(self.output_audio, other.output_audio),
        )


_COUNTS = tuple(field.name for field in fields(Usage))


def _add(left: int | None, right: int | None) -> int | None:
    if left is None:
        return right
    return left if right is None else left + right
