"""`InvalidAnswerError`: what is wrong with an answer, as lines with a path and the value that was given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import AbstractCoreError
from ..schema.quoting import one_line, shortened, shown

if TYPE_CHECKING:
    from pydantic import ValidationError

_MOST_PROBLEMS = 20
_LONGEST_PROBLEM = 300
_LONGEST_PATH = 200
_WHOLE = "the answer"
_NOTHING: Any = object()


class Problem(NamedTuple):
    """One problem of an answer. `got` is the value that is not valid, empty if there is none."""

    path: str
    message: str
    got: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}{f', got {self.got}' if self.got else ''}"


class InvalidAnswerError(AbstractCoreError):
    """Raised inside this package for an answer that does not match its type."""

    def __init__(self, problems: Iterable[Problem], *, is_no_json: bool = False) -> None:
        super().__init__("the answer does not match its type")
        self.problems = _bounded(problems)
        self.is_no_json = is_no_json


def problem(location: Sequence[int | str], message: str, value: object = _NOTHING) -> Problem:
    """Returns a problem at `location`, with the value found there if it is given."""
    path = one_line(".".join(map(str, location)), _LONGEST_PATH) or _WHOLE
    return Problem(path, shortened(message, _LONGEST_PROBLEM), "" if value is _NOTHING else shown(value))


def pydantic_problems(error: ValidationError, skipped: int = 0) -> Iterable[Problem]:
    """Yields the problems that pydantic found; `skipped` steps at the beginning of each path are left out."""
    for each in error.errors(include_url=False, include_context=False):
        value = _NOTHING if each["type"] in ("missing", "json_invalid") else each["input"]
        yield problem(each["loc"][skipped:], each["msg"], value)


def _bounded(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Returns the first problems, and how many more there are."""
    given = iter(problems)
    kept = tuple(islice(given, _MOST_PROBLEMS))
    more = sum(1 for _ in given)
    return (*kept, Problem("...", f"and {more:,} more problems")) if more else kept
