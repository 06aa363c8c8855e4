"""Calls of tools with `isolate=True`, each in a process that is killed: by its time limit, on cancellation, at its end.

The child imports the function by its name. Arguments and results are JSON: nothing that the child sends is unpickled.
"""

from __future__ import annotations

import inspect
import json
import pickle
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidInputError, ToolError
from ..ports import ToolContext
from ..schema import ToolCall, ToolStep, from_json, to_json
from ..schema.base_error import one_line
from .results import ProcessEndedError

_MAIN = "__main__"
_CHILD = "abstractcore.tools.isolated"


@dataclass(frozen=True, slots=True)
class IsolatedRequest:
    """What the child is given. `main` names the program's main module, for functions and objects that it defines."""

    module: str
    name: str
    call: str
    trace_id: str
    round: int
    seconds_left: float | None
    deps: bytes
    main: dict[str, Any]


def check_has_name(function: Callable[..., Any]) -> None:
    """Raises `InvalidInputError` for a function that no module can hold: a local one, a lambda, a partial."""
    name = getattr(function, "__qualname__", "<")
    if not (inspect.isfunction(function) or inspect.ismethod(function)) or "<" in name:
        raise _refusal(function, "is not a function at the top of a module")


def check_importable(function: Callable[..., Any]) -> None:
    """Raises `InvalidInputError` unless the function's module and name lead to it or its tool."""
    module = sys.modules.get(function.__module__)
    if function.__module__ == _MAIN and not _main_module():
        raise _refusal(function, "is defined in a session without a file")
    found: Any = module
    for step in function.__qualname__.split("."):
        found = getattr(found, step, None)
    if function not in (found, getattr(found, "function", None)):
        raise _refusal(function, f"is not what {function.__module__}.{function.__qualname__} names")


def isolated_call(
    function: Callable[..., Any], call: ToolCall, context: ToolContext[Any], *, takes_context: bool
) -> Callable[[], Awaitable[ToolStep]]:
    """Returns an async function that runs the call in a process of its own, and returns its step.

    It raises `ProcessEndedError`, and `ToolError` for `deps` that cannot be pickled.
    """
    from ..concurrency.child_processes import run_in_child

    async def run() -> ToolStep:
        request = _request(function, call, context, takes_context)
        steps: list[ToolStep] = []

        def on_message(message: bytes) -> bool:
            kind, content = json.loads(message)
            if kind == "progress":
                context.progress(*content)
                return False
            steps.append(_step(content))
            return True

        code = await run_in_child(_CHILD, pickle.dumps(request), on_message, name=function.__name__)
        if not steps:
            raise ProcessEndedError(_reason(code))
        return steps[0]

    return run


def _request(
    function: Callable[..., Any], call: ToolCall, context: ToolContext[Any], takes_context: bool
) -> IsolatedRequest:
    if is_child_importing():
        raise ToolError(
            "an isolated tool was called while its own module was imported",
            hint="Put the calls of the program under: if __name__ == '__main__':",
        )
    deps = _pickle(context.deps) if takes_context else pickle.dumps(None)
    needs_main = function.__module__ == _MAIN or _MAIN.encode() in deps
    return IsolatedRequest(
        module=function.__module__,
        name=function.__qualname__,
        call=to_json(call),
        trace_id=context.trace_id,
        round=context.round,
        seconds_left=context.seconds_left,
        deps=deps,
        main=_main_module() if needs_main else {},
    )


def _pickle(deps: Any) -> bytes:
    try:
        return pickle.dumps(deps)
    except Exception as error:  # classes may refuse with any exception
        name = type(deps).__name__
        raise ToolError(
            f"deps of type {name} cannot be given to an isolated tool: {one_line(str(error))}",
            hint="Give objects that can be pickled, or tools that are not isolated.",
        ) from None


def _main_module() -> dict[str, Any]:
    """Returns how a child finds the program's main module, as `multiprocessing.spawn.prepare` takes it."""
    main = sys.modules[_MAIN]
    name = getattr(main.__spec__, "name", None)
    if name is not None:
        return {"init_main_from_name": name, "sys_argv": sys.argv}
    path = getattr(main, "__file__", None)
    return {} if path is None else {"init_main_from_path": path, "sys_argv": sys.argv}


def is_child_importing() -> bool:
    """Returns whether this is the process of an isolated tool that imports the tool's module."""
    child = sys.modules.get(_CHILD)
    return child is not None and child.is_importing


def _step(content: str) -> ToolStep:
    step = from_json(content)
    if not isinstance(step, ToolStep):
        raise ProcessEndedError(f"the tool's process sent a {type(step).__name__}")
    return step


def _reason(code: int) -> str:
    if code >= 0:
        return f"the tool's process ended with exit code {code} before it had a result"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    more = ": it may have needed too much memory" if name == "SIGKILL" else ""
    return f"the tool's process was ended by {name}{more}"


def _refusal(function: Callable[..., Any], reason: str) -> InvalidInputError:
    name = getattr(function, "__qualname__", None) or type(function).__name__
    return InvalidInputError(
        f"{name} cannot be isolated: it {reason}",
        path="isolate",
        hint="A process of its own imports the function by its name: define it at the top of a module.",
    )
