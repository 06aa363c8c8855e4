"""Tools that suspend: the model calls them, its run waits, and what the run gets becomes their result.

They are specs without a function. Pure functions make a wait of a call, and an answer to the call of an item.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from abstractcore import PendingCall, ToolAnswer, from_json
from abstractcore.errors import InvalidInputError, SchemaError
from abstractcore.schema import ToolSpec

from ..json_documents import JSON, canonical, member
from ..programs import INTERRUPTED, Child, Item, Program, Wait, check_name, program_id

_LONGEST_SECONDS: Final = 100 * 366 * 86_400


def _spec(name: str, description: str, required: tuple[str, ...], **properties: JSON) -> ToolSpec:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
    }
    return ToolSpec(name, description, parameters)


ask_user: Final = _spec(
    "ask_user",
    "Asks the user a question, and returns the answer. It may take days.",
    ("question",),
    question={"type": "string", "description": "The question, which says all that the user must know."},
    choices={"type": "array", "items": {"type": "string"}, "description": "Answers to choose from, if there are any."},
)
"""A tool that asks a person: its call waits with the reason `input`, and is answered by any JSON or `.result(text)`."""
wait_until: Final = _spec(
    "wait_until",
    "Waits until a time, and returns the time that it is then. Give either argument.",
    (),
    time={"type": "string", "description": "The time in ISO 8601 with its offset, such as 2027-03-01T09:00:00+01:00."},
    seconds={"type": "number", "description": "How long to wait from now on."},
)
"""A tool that waits for a time: its call waits with the reason `until`."""


def wait_for_event(*keys: str) -> ToolSpec:
    """Returns a tool that waits for one of these events: its call waits with the reason `event`, and the event's
    payload is its result. Send one with `runtime.emit(key, payload)`, or `run.send(key, payload)`.

    Raises `InvalidInputError` without keys: an agent hears only what it is allowed to.
    """
    names = [check_name(key, f"keys[{index}]") for index, key in enumerate(keys)]
    if not names or INTERRUPTED in names:
        raise InvalidInputError(f"expected keys of events, other than {INTERRUPTED!r}", path="keys")
    description = "Waits for an event, and returns what it brings. It may take days."
    return _spec("wait_for_event", description, ("key",), key={"type": "string", "enum": names})


def delegate(*programs: Program | str) -> ToolSpec:
    """Returns a tool that gives a task to one of these agents, or other programs: a child of the run, whose output is
    the result. Its call waits with the reason `child`. They are given as such, or by `name@version`.

    Raises `InvalidInputError` without programs, and for an invalid one.
    """
    names = [each if isinstance(each, str) else program_id(each) for each in programs]
    if not names:
        raise InvalidInputError("expected the agents that may be given tasks", path="programs")
    for index, name in enumerate(names):
        if "@" not in check_name(name, f"programs[{index}]"):
            problem = f"expected a program, or its name and version, such as {name}@1, got {name!r}"
            raise InvalidInputError(problem, path=f"programs[{index}]")
    return _spec(
        "delegate",
        "Gives a task to another agent, and returns its answer.",
        ("agent", "task"),
        agent={"type": "string", "enum": names},
        task={"type": "string", "description": "The task, with all that is needed: the agent sees nothing else."},
    )


@dataclass(frozen=True, slots=True)
class Suspension:
    """A wait of a call, and the child that the call starts, if it does."""

    wait: Wait
    child: Child | None = None


def suspension(pending: PendingCall, key: str, now: float) -> Suspension:
    """Returns how a run waits for an answer to a call, by a wait with this key, but of an event with that of the event.

    Raises `InvalidInputError` if the arguments of a tool of this module do not fit: the text is for the model.
    """
    name = pending.call.name if pending.reason == "execution" else None
    arguments: JSON = pending.call.arguments or {}
    if name == "ask_user":
        _text(arguments, "question")
        return Suspension(Wait(key, "input"))
    if name == "wait_until":
        return Suspension(Wait(key, "until", _deadline(arguments, now)))
    if name == "wait_for_event":
        return Suspension(Wait(_choice(pending, "key"), "event"))
    if name == "delegate":
        child = Child(key, _choice(pending, "agent"), _text(arguments, "task"))
        return Suspension(Wait(key, "child"), child)
    return Suspension(Wait(key, pending.reason))


def answer_of(pending: PendingCall, reason: str, item: Item) -> ToolAnswer:
    """Returns the answer to a call that an item brings to its wait; raises `InvalidInputError` for one that does not
    fit.
    """
    if item.kind == "timeout":
        return pending.result(f"It is {_iso(item.at)} now.")
    if item.kind == "event":
        return pending.result("The event came." if item.payload is None else _as_text(item.payload))
    if item.kind == "child":
        return _of_child(pending, item)
    document = member(item.payload, "answer")
    if reason == "input" and pending.input is None and member(document, "type") != "tool_answer":
        return pending.result(_as_text(item.payload))
    try:
        answer = from_json(canonical(document, "answer").decode(), ToolAnswer)
    except SchemaError as error:
        problem = f"expected {{'answer': ...}} with the answer to a tool call: {error.message}"
        raise InvalidInputError(problem, path="payload") from None
    _check_fits(answer, pending)
    return answer


def _check_fits(answer: ToolAnswer, pending: PendingCall) -> None:
    """Raises `InvalidInputError` for an answer by which the loop could not go on."""
    if (answer.call_id, answer.digest) != (pending.call.id, pending.digest):
        raise InvalidInputError("it is the answer to another call", path="payload.answer.digest")
    if pending.reason == "execution" and answer.kind not in ("result", "deny"):
        raise InvalidInputError("the tool runs elsewhere: give its result", path="payload.answer.kind")
    if answer.input is not None and answer.input.request != pending.input:
        raise InvalidInputError("it answers other questions", path="payload.answer.input")


def _of_child(pending: PendingCall, item: Item) -> ToolAnswer:
    if item.error is None:
        return pending.result(_as_text(item.payload))
    problem = f"{member(item.error, 'type')}: {member(item.error, 'message')}"
    return pending.result(f"The task was not done. {problem}", is_error=True)


def _as_text(value: JSON) -> str:
    return value if isinstance(value, str) else canonical(value, "result").decode()


def _text(arguments: JSON, name: str) -> str:
    value = member(arguments, name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInputError("expected a text that is not empty", path=name)
    return value


def _choice(pending: PendingCall, name: str) -> str:
    """Returns an argument that is one of the choices of the spec; raises `InvalidInputError` for any other."""
    parameters: JSON = None if pending.tool is None else pending.tool.parameters
    choices: Sequence[str] = member(member(member(parameters, "properties"), name), "enum") or ()
    value = member(pending.call.arguments, name)
    if value not in choices:
        raise InvalidInputError(f"expected one of {', '.join(choices)}, got {value!r:.80}", path=name)
    return value


def _deadline(arguments: JSON, now: float) -> float:
    """Returns the time of `wait_until`, in seconds since the epoch."""
    time, seconds = member(arguments, "time"), member(arguments, "seconds")
    if (time is None) == (seconds is None):
        raise InvalidInputError("expected either `time` or `seconds`", path="time")
    if time is None:
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not is_number or not math.isfinite(seconds) or not 0 <= seconds <= _LONGEST_SECONDS:
            raise InvalidInputError(f"expected seconds, got {seconds!r:.80}", path="seconds")
        return now + seconds
    try:
        parsed = datetime.fromisoformat(time)
    except (TypeError, ValueError):
        raise InvalidInputError(f"expected a time in ISO 8601, got {time!r:.80}", path="time") from None
    if parsed.tzinfo is None:
        problem = f"expected a time with its offset, such as {time}Z, got {time!r:.80}. It is {_iso(now)} now"
        raise InvalidInputError(problem, path="time")
    return max(0.0, parsed.timestamp())


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
