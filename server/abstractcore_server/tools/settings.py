"""`MCPSettings`: an MCP server of the configuration, and who may use its tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple, cast, get_args

from abstractcore.schema import EMPTY
from abstractcore.scrubbing import is_sensitive

ApprovalRule = Literal["never", "always", "deny"]
"""What happens to a call of a tool: it runs, it waits until the client approves it, or there is no such tool."""
_NOTHING: Any = EMPTY


class Problem(NamedTuple):
    """What is wrong with a server: the value at `names` in its table."""

    message: str
    names: tuple[str, ...] = ()
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class MCPSettings:
    """The table `[mcp.NAME]`: an MCP server that is started or connected here when its tools are first used.

    In the texts of `args`, `env`, `url` and `headers`, `${NAME}` is a variable of the environment.
    """

    command: str | None = None
    """The program of a server over standard input and output."""
    args: tuple[str, ...] = ()
    """The arguments of the program."""
    env: Mapping[str, Any] = field(default=_NOTHING, repr=False)
    """Variables for the program; of this process it gets `PATH`, `HOME` and a few more only."""
    cwd: str | None = None
    """The folder of the program."""
    url: str | None = field(default=None, repr=False)
    """The address of a server over HTTP."""
    headers: Mapping[str, Any] = field(default=_NOTHING, repr=False)
    """Headers of the requests to the address."""
    only: tuple[str, ...] = ()
    """Patterns of the names of its tools, as in "get_*": others are not offered; empty for all."""
    without: tuple[str, ...] = ()
    """Patterns of the names of tools that are not offered."""
    approval: ApprovalRule | Mapping[str, Any] = "always"
    """The rule for all tools, or rules by patterns of their names, of which the first that matches holds."""
    models: tuple[str, ...] = ()
    """Patterns of the models that may use it; empty for all."""
    keys: tuple[str, ...] = ()
    """Patterns of the names of the keys that may use it; empty for all."""
    attached: tuple[str, ...] = ()
    """Patterns of the models that get its tools in every API, without being asked for: those with the rule "never"."""
    required: bool = True
    """Whether a request fails that would have its tools while it cannot be reached."""
    connect_seconds: float = field(default=30.0, metadata={"least": 0.001})
    """How long it may take to connect, and to list its tools."""

    def rule(self, tool: str) -> ApprovalRule:
        """Returns the rule for a tool, by its name."""
        if isinstance(self.approval, str):
            return self.approval
        for pattern, rule in self.approval.items():
            if fnmatchcase(tool, pattern):
                return cast("ApprovalRule", rule)
        return "always"

    def is_for(self, key: str | None, models: Sequence[str]) -> bool:
        """Whether a client with a key, None without keys, may use it with a model, which has several names."""
        return matches(models, self.models or ("*",)) and (not self.keys or matches((key or "",), self.keys))

    def problem(self) -> Problem | None:
        """Returns what is wrong, if anything."""
        if (self.command is None) == (self.url is None):
            return Problem(
                "expected either command or url", hint='For example: command = "uvx", args = ["mcp-server-time"].'
            )
        wrong = ("args", "env", "cwd") if self.command is None else ("headers",)
        for name in wrong:
            if getattr(self, name):
                return Problem(f"it is for servers with {'url' if name == 'headers' else 'command'} only", (name,))
        for name in ("env", "headers"):
            for key, value in getattr(self, name).items():
                if not isinstance(value, str):
                    return Problem("expected a string", (name, key))
                if is_sensitive(key) and "${" not in value:
                    hint = f'Name a variable of the environment: {key} = "${{NAME}}".'
                    return Problem("secrets are not allowed in this file", (name, key), hint)
        if not isinstance(self.approval, str):
            for pattern, rule in self.approval.items():
                if rule not in get_args(ApprovalRule):
                    return Problem("expected 'never', 'always' or 'deny'", ("approval", pattern))
        return None


def matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether one of the names matches one of the patterns, in which `*` is any text."""
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
