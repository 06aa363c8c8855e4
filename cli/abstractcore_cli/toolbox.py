"""`Toolbox`: the tools of a command, with the approval of their calls.

Asks the user on the terminal whether tool calls may run.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import abstractcore
from abstractcore.schema import visible_json

from .screen import announce, ask_line

if TYPE_CHECKING:
    from abstractcore.registry import Registry
    from abstractcore.tools import ToolInput

Response: TypeAlias = abstractcore.GenerateResponse[Any]
_UNASKED = "its calls need an approval, and there is no terminal to ask on"


@dataclass(frozen=True, slots=True)
class ToolArguments:
    """The options of `--tool`, `--yes` and `--max-rounds`."""

    names: tuple[str, ...] = ()
    yes: bool = False
    max_rounds: int | None = None


class Toolbox:
    """The tools of a command: `tools` and `run_tools` are for calls of an LLM, `specs` describe the tools.

    Those that are read-only, and the kernel's `own`, run without asking.

    A call of another tool suspends the loop, so that the user is asked in the main thread and no time limit runs.
    """

    def __init__(
        self,
        tools: Sequence[ToolInput] = (),
        policy: abstractcore.ToolPolicy | None = None,
        specs: Sequence[abstractcore.ToolSpec] = (),
        own: Iterable[str] = (),
    ) -> None:
        self.tools = tools
        self.specs = specs
        self._allowed = {*own, *(spec.name for spec in specs if spec.read_only)}
        self.run_tools: abstractcore.ToolPolicy | bool = policy or False
        if policy is not None and policy.approve is None:
            self.run_tools = replace(policy, approve=self._decide)

    def answers(self, waiting: Iterable[abstractcore.PendingCall]) -> list[abstractcore.ToolAnswer]:
        """Returns the answers to calls that wait: the user is asked about each, but for those that run without."""
        return [each.allow() if self._runs_unasked(each) else asked(each, self._allowed) for each in waiting]

    def asks_about(self, name: str) -> bool:
        """Returns whether the user is asked before a tool runs."""
        has_approver = isinstance(self.run_tools, abstractcore.ToolPolicy) and self.run_tools.approve is not _allow_all
        return has_approver and name not in self._allowed

    def _runs_unasked(self, pending: abstractcore.PendingCall) -> bool:
        return pending.call.name in self._allowed and pending.reason != "data_flow"

    def _decide(
        self, pending: abstractcore.PendingCall
    ) -> abstractcore.Allow | abstractcore.Deny | abstractcore.Suspend:
        """Decides about a call before it runs. Without a terminal, a call that needs an approval is denied."""

        if self._runs_unasked(pending):
            return abstractcore.Allow()
        return abstractcore.Suspend() if can_ask() else abstractcore.Deny(_UNASKED)


def toolbox(
    choices: ToolArguments,
    registry: Registry,
    on_event: Callable[[abstractcore.ToolEvent], object] | None = None,
) -> Toolbox:
    """Returns the tools of `choices`; raises `InvalidInputError` for invalid ones, and if nobody could be asked."""
    if not choices.names:
        _check_unused(choices)
        return Toolbox()
    from abstractcore.sessions import RECALL
    from abstractcore.tools import READ_RESULT, SEARCH_TOOLS, tool_set

    from .tool_modules import load_tools

    tools = load_tools(choices.names, registry)
    specs = [spec for spec in tool_set(tools, registry).specs if isinstance(spec, abstractcore.ToolSpec)]
    _check_approval(specs, choices)
    own = {SEARCH_TOOLS.name, READ_RESULT.name, RECALL} - {spec.name for spec in specs}
    policy = abstractcore.ToolPolicy(approve=_allow_all if choices.yes else None, on_limit="answer", on_event=on_event)
    if choices.max_rounds is not None:
        policy = replace(policy, max_rounds=choices.max_rounds)
    return Toolbox(tools, policy, specs, own)


def _check_unused(choices: ToolArguments) -> None:
    if choices.yes or choices.max_rounds is not None:
        option = "--yes" if choices.yes else "--max-rounds"
        raise abstractcore.InvalidInputError(
            "no tool is given that it could apply to", path=option, hint="Add --tool MODULE:FUNCTION."
        )


def _check_approval(specs: Sequence[abstractcore.ToolSpec], choices: ToolArguments) -> None:

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


_LONGEST_SHOWN = 4000
_TAIL = 1000
_QUESTION = "Run it? [y]es, [n]o, [a]lways, [e]dit: "
_HELP = (
    "y runs it; n does not, and n REASON tells the model why; a runs this tool without asking; e edits the arguments"
)


def can_ask() -> bool:
    """Returns whether there is a person to ask: stdin and stderr are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def asked(pending: abstractcore.PendingCall, always: set[str]) -> abstractcore.ToolAnswer:
    """Shows a call, and returns the user's answer; "always" adds the tool to `always`. The end of input means no."""
    call = pending.call
    plain = call.arguments_text if call.arguments_json is None else json.loads(call.arguments_json)
    arguments = visible_json(json.dumps(plain, ensure_ascii=False))
    announce(f"The model calls {pending.call.name} with {_limit(arguments)}")
    if pending.reason == "data_flow":
        announce("It would send data out after the model has read private data and text from elsewhere.")
    _forget_typed_ahead()
    while (answer := ask_line(_QUESTION)) is not None:
        word, _, rest = answer.strip().partition(" ")
        match word.lower():
            case "y" | "yes":
                return pending.allow()
            case "n" | "no":
                return pending.deny(rest.strip() or "the user does not allow it")
            case "a" | "always":
                always.add(pending.call.name)
                return pending.allow()
            case "e" | "edit":
                if (changed := _edit(arguments)) is not None:
                    return pending.edit(changed)
            case _:
                announce(_HELP)
    return pending.deny("the user does not allow it")


def _limit(text: str) -> str:
    """Returns the beginning and the end of a long text, with what is left out."""
    if len(text) <= _LONGEST_SHOWN:
        return text
    head = _LONGEST_SHOWN - _TAIL
    return f"{text[:head]}\n[{len(text) - _LONGEST_SHOWN:,} characters are not shown]\n{text[-_TAIL:]}"


def _edit(arguments: str) -> dict[str, Any] | None:
    """Asks for other arguments as JSON, beginning with these; None if the user gives none."""
    with _prefill(arguments):
        text = ask_line("Arguments: ")
    if not (text and text.strip()):
        return None
    try:
        changed: object = json.loads(text)
    except ValueError as error:
        announce(f"Not JSON: {error}")
        return None
    if not isinstance(changed, dict):
        announce('Arguments are a JSON object, as in {"city": "Oslo"}')
        return None
    return changed  # pyright: ignore[reportUnknownVariableType]


@contextlib.contextmanager
def _prefill(text: str) -> Generator[None]:
    """In its body, a line that is asked for begins with `text`, where there is readline."""
    try:
        readline: Any = importlib.import_module("readline")
    except ImportError:
        yield
        return
    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        yield
    finally:
        readline.set_startup_hook()


def _forget_typed_ahead() -> None:
    """Drops what was typed before the call was shown: it cannot be an answer."""
    with contextlib.suppress(ImportError, OSError):
        termios: Any = importlib.import_module("termios")
        with contextlib.suppress(termios.error):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
