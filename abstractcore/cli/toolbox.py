"""`Toolbox`: the tools of a command, with the approval of their calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import abstractcore

from ..client.prepared_requests import DEFAULT_TIMEOUT_SECONDS
from .screen import prints_to_stderr

if TYPE_CHECKING:
    from ..registry import Registry
    from ..tools import ToolInput

Response: TypeAlias = abstractcore.GenerateResponse[Any]
_UNASKED = "its calls need an approval, and there is no terminal to ask on"


@dataclass(frozen=True, slots=True)
class ToolArguments:
    """The options of `--tool`, `--yes` and `--max-rounds`."""

    names: tuple[str, ...] = ()
    yes: bool = False
    max_rounds: int | None = None


class Toolbox:
    """The tools of a command: `tools` and `run_tools` are for calls of an LLM.

    `allowed` names those that run without asking; `timeout` is in seconds.

    A call of another tool suspends the loop, so that the user is asked in the main thread and no time limit runs.
    """

    def __init__(
        self,
        tools: Sequence[ToolInput] = (),
        policy: abstractcore.ToolPolicy | None = None,
        allowed: Iterable[str] = (),
        timeout: float | None = None,
    ) -> None:
        self.tools = tools
        self._allowed = set(allowed)
        self._timeout = DEFAULT_TIMEOUT_SECONDS if timeout is None else timeout
        self.run_tools: abstractcore.ToolPolicy | bool = policy or False
        if policy is not None and policy.approve is None:
            self.run_tools = replace(policy, approve=self._decide)

    def resumed(self, llm: abstractcore.LLM, waiting: Response) -> Response:
        """Asks the user about the calls that wait, and continues."""
        answers = self._answers(waiting)
        with prints_to_stderr():
            return llm.resume(waiting, answers, tools=self.tools, run_tools=self.run_tools, timeout=self._timeout)

    def resumed_stream(self, llm: abstractcore.LLM, waiting: Response) -> abstractcore.Stream[Any]:
        """Asks the user about the calls that wait, and returns the stream of what follows."""
        answers, tools, policy = self._answers(waiting), self.tools, self.run_tools
        return llm.resume(waiting, answers, tools=tools, run_tools=policy, timeout=self._timeout, stream=True)

    def _answers(self, waiting: Response) -> list[abstractcore.ToolAnswer]:
        from .approval import asked

        return [each.allow() if self._runs_unasked(each) else asked(each, self._allowed) for each in waiting.pending]

    def _runs_unasked(self, pending: abstractcore.PendingCall) -> bool:
        return pending.call.name in self._allowed and pending.reason != "data_flow"

    def _decide(
        self, pending: abstractcore.PendingCall
    ) -> abstractcore.Allow | abstractcore.Deny | abstractcore.Suspend:
        """Decides about a call before it runs. Without a terminal, a call that needs an approval is denied."""
        from .approval import can_ask

        if self._runs_unasked(pending):
            return abstractcore.Allow()
        return abstractcore.Suspend() if can_ask() else abstractcore.Deny(_UNASKED)


def toolbox(
    choices: ToolArguments,
    registry: Registry,
    timeout: float | None,
    on_event: Callable[[abstractcore.ToolEvent], object] | None = None,
) -> Toolbox:
    """Returns the tools of `choices`; raises `InvalidInputError` for invalid ones, and if nobody could be asked."""
    if not choices.names:
        _check_unused(choices)
        return Toolbox()
    from ..tools.long_results import READ_RESULT
    from ..tools.loop import SEARCH_TOOLS
    from ..tools.toolset import tool_set
    from .tool_modules import load_tools

    tools = load_tools(choices.names, registry)
    specs = [spec for spec in tool_set(tools, registry).specs if isinstance(spec, abstractcore.ToolSpec)]
    _check_approval(specs, choices)
    given = {spec.name: spec for spec in (SEARCH_TOOLS, READ_RESULT, *specs)}
    policy = abstractcore.ToolPolicy(approve=_allow_all if choices.yes else None, on_limit="answer", on_event=on_event)
    if choices.max_rounds is not None:
        policy = replace(policy, max_rounds=choices.max_rounds)
    return Toolbox(tools, policy, [name for name, spec in given.items() if spec.read_only], timeout)


def _check_unused(choices: ToolArguments) -> None:
    if choices.yes or choices.max_rounds is not None:
        option = "--yes" if choices.yes else "--max-rounds"
        raise abstractcore.InvalidInputError(
            "no tool is given that it could apply to", path=option, hint="Add --tool MODULE:FUNCTION."
        )


def _check_approval(specs: Sequence[abstractcore.ToolSpec], choices: ToolArguments) -> None:
    from .approval import can_ask

    asked = [spec.name for spec in specs if not spec.read_only]
    if asked and not choices.yes and not can_ask():
        raise abstractcore.InvalidInputError(
            f"{asked[0]}: {_UNASKED}",
            path="--tool",
            hint="Add --yes to run all calls without asking, or declare the tool with @tool(read_only=True).",
        )


def _allow_all(pending: abstractcore.PendingCall) -> bool:
    return True


def is_final(response: Response) -> bool:
    """Returns whether the result of a tool is the answer."""
    return response.loop is not None and response.loop.status == "final"


def final_result(response: Response) -> str:
    """Returns the text of the result that ended the loop."""
    return next(step.result.as_text for step in reversed(response.tool_steps) if step.final)
