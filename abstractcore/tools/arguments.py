"""The arguments of a tool's calls: the interface of their validation, and the error with all their problems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from ..errors import InvalidInputError
from ..schema import JSONObject
from ..schema.base_error import one_line

CONTEXT: Final = object()
"""Stands for the tool's context among prepared arguments, until the tool is called."""


@dataclass(frozen=True, slots=True)
class PreparedArguments:
    """Validated arguments of a call, as the function takes them; `CONTEXT` stands for the tool's context."""

    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict[str, Any])


class ArgumentsError(InvalidInputError):
    """The arguments of a call are invalid. `problems` has a line for each problem, with its path; `text` has them all,
    for the model.
    """

    def __init__(self, tool: str, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        listed = "".join(f"\n- {problem}" for problem in self.problems)
        self.text = f"invalid arguments for {one_line(tool)}:{listed}"
        super().__init__(self.text)


class Arguments(Protocol):
    """The arguments that one tool takes."""

    @property
    def schema(self) -> JSONObject:
        """The JSON Schema of the arguments, an object."""
        ...

    def prepare(self, tool: str, arguments: JSONObject) -> PreparedArguments:
        """Returns validated arguments of a call of `tool`; raises `ArgumentsError`, and what validators raise."""
        ...


class AnyArguments:
    """Arguments of a tool that another library or server describes and validates."""

    def __init__(self, schema: JSONObject) -> None:
        self.schema = schema

    def prepare(self, tool: str, arguments: JSONObject) -> PreparedArguments:
        """Returns no arguments: what runs such a tool gets the call."""
        return PreparedArguments()
