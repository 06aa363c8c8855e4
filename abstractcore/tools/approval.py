"""Approval: what an approver may answer to a tool call before it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from ..errors import InvalidInputError
from ..schema import JSONObject, PendingCall, freeze_object
from ..schema.base_error import shown
from ..schema.json_values import check_text
from .option_names import checks_option_names


@checks_option_names
@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run."""


@checks_option_names
@dataclass(frozen=True, slots=True)
class Deny:
    """The call must not run; the model is given the reason."""

    reason: str = ""

    def __post_init__(self) -> None:
        check_text(self.reason, "reason")


@checks_option_names
@dataclass(frozen=True, slots=True)
class Edit:
    """The call may run with other arguments, which are validated before."""

    arguments: JSONObject

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", freeze_object(self.arguments, "arguments"))


@checks_option_names
@dataclass(frozen=True, slots=True)
class Suspend:
    """The loop ends, and its state waits for an answer from elsewhere: `llm.resume`."""

    note: str | None = None

    def __post_init__(self) -> None:
        if self.note is not None:
            check_text(self.note, "note")


@dataclass(frozen=True, slots=True)
class Respond:
    """Answers to what the tool has asked (`pending.input`), in the order of its questions; None declines one."""

    answers: tuple[JSONObject | None, ...]

    def __init__(self, *answers: JSONObject | None) -> None:
        object.__setattr__(self, "answers", answers)


Decision: TypeAlias = Allow | Deny | Edit | Suspend | Respond
Approver: TypeAlias = Callable[[PendingCall], Decision | bool | Awaitable[Decision | bool]]
"""A function, or coroutine function, that decides about a tool call; True allows it, False denies it."""


def read_decision(value: object) -> Decision:
    """Returns the decision that an approver returned; raises `InvalidInputError` for anything else."""
    if value is True:
        return Allow()
    if value is False:
        return Deny()
    if isinstance(value, Allow | Deny | Edit | Suspend | Respond):
        return value
    raise InvalidInputError(
        f"the approver returned {shown(value)}: expected True or Allow(), False or Deny(reason), Edit(arguments), "
        "Respond(answers) or Suspend()",
        path="run_tools.approve",
    )
