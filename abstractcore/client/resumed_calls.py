"""`ResumedCall`: the continuation of a tool loop, before its tool servers are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..engine import Prepare, Prepared
from ..errors import InvalidInputError
from ..outputs import OutputType
from ..ports import Runtime
from ..registry import Registry
from ..schema import CallWarning, MediaProgress, ToolAnswer, ToolLoop
from ..tools.toolset import ToolSet
from .call_tools import CallTools, check_run_tools
from .loop_inputs import changed_tools, check_runnable

if TYPE_CHECKING:
    from ..verification.quoted_output import QuotedOutput


@dataclass(frozen=True, slots=True)
class ResumedCall:
    """A loop, the answers to its pending calls, and the tools that are given anew.

    `first` prepares the call of the loop, `timeout` is in seconds. `changed` are warnings of what differs from the
    first call.
    """

    loop: ToolLoop
    first: Prepare
    tools: CallTools
    timeout: float | None
    changed: tuple[CallWarning, ...]
    on_media_progress: Callable[[MediaProgress], object] | None

    async def prepare(self, runtime: Runtime) -> Prepared:
        """Returns the call of the loop with the tools of now; raises `ToolServerError`."""
        first = await self.first(runtime)
        found, served_warnings = await self.tools.complete(runtime, self.timeout)
        changed = (*served_warnings, *changed_tools(self.loop, found.specs), *self.changed)
        return replace(
            first,
            warnings=(*changed, *first.warnings),
            tools=found.tools,
            on_media_progress=self.on_media_progress,
        )


def resumed_tools(
    tools: object,
    run_tools: object,
    deps: object,
    loop: ToolLoop,
    answers: Mapping[str, ToolAnswer],
    registry: Registry,
) -> CallTools:
    """Returns the tools of a continuation; raises `InvalidInputError` if a call that may run is of none of them."""

    def check(found: ToolSet) -> None:
        check_run_tools(run_tools, found)
        check_runnable(answers, loop, found.tools)

    return CallTools(() if tools is None else tools, registry, deps, check)


def quoted_of_loop(loop: ToolLoop, output: OutputType | None) -> QuotedOutput | None:
    """Returns the type of the answer with quotes, of a loop that was begun with evidence.

    Raises `InvalidInputError` for an answer type of a loop that was begun without one.
    """
    if output is not None and loop.call.output is None:
        hint = "Pass response_model to the call of generate that begins the loop."
        raise InvalidInputError("the loop was begun without response_model", path="response_model", hint=hint)
    if output is None or loop.call.output == output.schema:
        return None
    from ..verification.quoted_output import resumed_quoted_output

    return resumed_quoted_output(output, loop.call)
