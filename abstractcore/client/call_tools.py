"""`CallTools`: the tools of one call, complete once its servers have been asked for theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..engine import InTime
from ..ports import Runtime
from ..registry import Registry
from ..schema import CallWarning

if TYPE_CHECKING:
    from ..tools.toolset import ToolSet


class CallTools:
    """The tools of one call. `check` raises for a set that does not fit the call: as soon as it is complete."""

    def __init__(self, tools: object, registry: Registry, deps: object, check: Callable[[ToolSet], object]) -> None:
        self.given = _tool_set(tools, registry)
        self._deps = deps
        self._check = check
        if self.given is not None and not self.given.servers:
            check(self.given)

    async def complete(self, runtime: Runtime, timeout: float | None) -> tuple[ToolSet | None, tuple[CallWarning, ...]]:
        """Returns all tools, and warnings of their servers, which have `timeout` seconds; raises `ToolServerError`."""
        if self.given is None or not self.given.servers:
            return self.given, ()
        async with InTime(runtime, timeout):
            found, warnings = await self.given.complete(runtime, self._deps)
        self._check(found)
        return found, warnings


def _tool_set(tools: object, registry: Registry) -> ToolSet | None:
    """Returns the tools of a call; what makes tools of functions is imported by a call that has some."""
    if tools is None:
        return None
    from ..tools import tool_set

    return tool_set(tools, registry)
