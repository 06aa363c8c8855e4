"""`ToolPatterns`: which tools of a server are offered, and under which names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol, TypeVar

from ..schema import CallWarning
from ..schema.base_error import shown


class HasName(Protocol):
    """Something with a name, such as the definition of a tool."""

    @property
    def name(self) -> str:
        """The name."""
        ...


T = TypeVar("T", bound=HasName)


@dataclass(frozen=True, slots=True)
class ToolPatterns:
    """Patterns of names, in which `*` is any text and `?` one character. `only` is None for all tools."""

    only: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    prefix: str = ""

    def chosen(self, tools: Iterable[T], server: str) -> tuple[list[T], list[CallWarning]]:
        """Returns the tools that are offered, in their order, and a warning for each pattern that matches nothing."""
        given = list(tools)
        kept = [tool for tool in given if self._includes(tool.name)]
        names = [tool.name for tool in given]
        patterns = [("only", each) for each in self.only or ()] + [("without", each) for each in self.without]
        return kept, [_unmatched(server, how, each, names) for how, each in patterns if not matches_any(names, each)]

    def _includes(self, name: str) -> bool:
        included = self.only is None or any(fnmatchcase(name, pattern) for pattern in self.only)
        return included and not any(fnmatchcase(name, pattern) for pattern in self.without)


def matches_any(names: Iterable[str], pattern: str) -> bool:
    """Returns whether the pattern matches one of the names."""
    return any(fnmatchcase(name, pattern) for name in names)


def _unmatched(server: str, how: str, pattern: str, names: Sequence[str]) -> CallWarning:
    some = ", ".join(names[:20]) or "none"
    message = f"{how}({shown(pattern)}) matches no tool of the server {server}. Its tools are: {some}"
    return CallWarning("no_tool_matches", f"tools.{server}", message)
