"""The warning of a tool loop that stopped at a limit: without it, an empty answer would be the only sign."""

from __future__ import annotations

from ..schema import CallWarning, ToolLoop
from ..schema.base_error import one_line
from .loop import failed_repeatedly
from .policy import ToolPolicy

LIMIT_REACHED = "tool_limit_reached"


def limit_warning(loop: ToolLoop, policy: ToolPolicy) -> CallWarning | None:
    """Returns the warning that names the limit at which `loop` stopped, and what to do; None if it did not stop."""
    if loop.status == "max_rounds":
        number = policy.max_rounds
        return _to_raise("max_rounds", number, f"the model has replied {_times(number)} and has not answered")
    if loop.status == "max_calls":
        number = policy.max_calls
        return _to_raise("max_calls", number, f"tools were called {_times(number)}, and the model has not answered")
    if loop.status != "repeated_failure":
        return None
    number = policy.max_failures
    names = ", ".join(dict.fromkeys(one_line(call.name) for call in failed_repeatedly(loop, policy)))
    message = (
        f"the same call of {names} failed {_times(number)}, and the model has not answered: response.tool_steps has "
        "its results. Correct the tool or its description, or raise the limit with ToolPolicy(max_failures=...)"
    )
    return CallWarning(LIMIT_REACHED, "run_tools.max_failures", message, number)


def _to_raise(name: str, limit: int, what: str) -> CallWarning:
    message = (
        f"{what}. Raise the limit with ToolPolicy({name}=...), also to continue with llm.resume(response.loop, ...), "
        'or have the model answer with ToolPolicy(on_limit="answer")'
    )
    return CallWarning(LIMIT_REACHED, f"run_tools.{name}", message, limit)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
