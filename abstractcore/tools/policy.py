"""`ToolPolicy`: the limits of a tool loop, and who approves its calls.

`ApprovalRules`: an approver that is an ordered list of rules. Approval: what an approver may answer to a tool call
before it runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal, TypeAlias, cast, get_args

from ..concurrency.functions import is_async
from ..errors import InvalidInputError
from ..ports import Journal
from ..schema import (
    EMPTY,
    JSONObject,
    JSONValue,
    PendingCall,
    SchemaError,
    ToolEvent,
    ToolLabel,
    canonical_json,
    check_labels,
    freeze_object,
)
from ..schema.base_error import shown
from ..schema.json_values import check_text
from .names import checks_option_names


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
    """What whoever answers should know."""

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


OnLimit = Literal["stop", "answer"]
_NOTHING: Any = EMPTY


@checks_option_names
@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """How tool calls are run. Raises `InvalidInputError` for an invalid value, `UnknownOptionError` for another name.

    A round is one reply of the model. `max_uses` limits the calls of single tools, by name. `timeout` is in seconds for
    each call of a tool that has none of its own; None means no limit but that of the whole call. The text of a result
    longer than `max_result` characters is shortened in the middle; the model can read the rest with `read_result`.
    `approve` decides about each call before it runs; without an answer in `approve_timeout` seconds it is denied.
    At `max_rounds` or `max_calls`, the loop stops, or with `on_limit="answer"` asks the model once more for an answer
    without tools. The loop stops if the same call fails `max_failures` times. `on_event` is called
    with each event as it happens, from the thread in which it happens. `journal` notes each call before and after it
    runs: the path of a file, or a `Journal`. `loop_id` is the id of a new loop in its journal, traces and idempotency
    keys, which no other loop may have; default: a random one. `content_labels` are those of the messages and files of
    the call, beside those of what tools return.
    """

    max_rounds: int = 16
    max_calls: int = 64
    max_uses: Mapping[str, int] = field(default=_NOTHING)
    timeout: float | None = 60.0
    max_result: int = 50_000
    approve: Approver | None = None
    approve_timeout: float | None = None
    journal: Journal | str | PathLike[str] | None = None
    on_limit: OnLimit = "stop"
    max_failures: int = 3
    on_event: Callable[[ToolEvent], object] | None = None
    content_labels: tuple[ToolLabel, ...] = ()
    loop_id: str | None = None

    def __post_init__(self) -> None:
        if self.loop_id is not None and (not isinstance(self.loop_id, str) or not self.loop_id.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _wrong("loop_id", "text that is not empty", self.loop_id)
        for name, least in (("max_rounds", 1), ("max_calls", 0), ("max_result", 200), ("max_failures", 1)):
            _check_whole(getattr(self, name), least, name)
        if not isinstance(self.max_uses, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _wrong("max_uses", "a mapping of tool names to numbers", self.max_uses)
        for name, most in self.max_uses.items():
            if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise _wrong("max_uses", "names of tools", name)
            _check_whole(most, 0, f"max_uses[{name!r}]")
        for name in ("timeout", "approve_timeout"):
            timeout: Any = getattr(self, name)
            is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
            if timeout is not None and not (is_number and timeout > 0):
                raise _wrong(name, "seconds above 0, or None", timeout)
        if self.on_limit not in get_args(OnLimit):
            raise _wrong("on_limit", '"stop" or "answer"', self.on_limit)
        if self.journal is not None and not isinstance(self.journal, Journal | str | PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _wrong("journal", "a path or a Journal", self.journal)
        try:
            labels = check_labels(self.content_labels, "run_tools.content_labels")
        except SchemaError as error:
            raise InvalidInputError(error.message, path=error.path, hint=error.hint) from None
        object.__setattr__(self, "content_labels", labels)
        if self.approve is not None and not callable(self.approve):
            hint = "For rules: approve=ApprovalRules([...])."
            raise _wrong("approve", "a function", self.approve, hint)
        if self.on_event is not None and not callable(self.on_event):
            raise _wrong("on_event", "a function", self.on_event)
        if self.on_event is not None and is_async(self.on_event):
            raise _wrong("on_event", "a function that is not async", self.on_event)


def read_policy(value: object) -> ToolPolicy | None:
    """Returns the policy of `run_tools`; None for False, which means that calls are given back."""
    if isinstance(value, ToolPolicy):
        return value
    if value is None or value is False:
        return None
    if value is True:
        return _DEFAULT
    hint = "For limits: run_tools=ToolPolicy(max_rounds=4)."
    raise InvalidInputError(f"expected True, False or a ToolPolicy, got {shown(value)}", path="run_tools", hint=hint)


def _check_whole(value: object, least: int, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise _wrong(name, f"a whole number of at least {least}", value)


def _wrong(name: str, expected: str, value: object, hint: str | None = None) -> InvalidInputError:
    return InvalidInputError(f"expected {expected}, got {shown(value)}", path=f"run_tools.{name}", hint=hint)


_DEFAULT = ToolPolicy()


RuleAction: TypeAlias = Literal["allow", "deny", "suspend", "ask"]
"""What a rule does with a call: it runs; it does not; it waits; the function `ask` decides."""
_FIELDS = ("tool", "action", "arguments", "reason")
_LONGEST_PATTERN = 1000


@checks_option_names
@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """What happens to calls of the tools whose name matches `tool`, with arguments that match `arguments`.

    In patterns `*` is any text; all other characters are themselves. A pattern for an argument is matched with its
    text, or with the JSON of a value that is not text; a missing argument does not match. `reason` is for the model if
    the call is denied, else a note. Raises `InvalidInputError` for values of other types.
    """

    tool: str
    action: RuleAction
    """What is done with the calls: "allow", "ask" or "deny"."""
    arguments: Mapping[str, str] = field(default=_NOTHING)
    reason: str = ""

    def __post_init__(self) -> None:
        arguments: object = self.arguments
        if not isinstance(arguments, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a mapping, got {shown(arguments)}", path="arguments")
        patterns = cast("Mapping[object, object]", arguments)
        for path, pattern in (("tool", self.tool), *((f"arguments.{name}", each) for name, each in patterns.items())):
            if not isinstance(pattern, str) or len(pattern) > _LONGEST_PATTERN:
                what = f"expected a text of at most {_LONGEST_PATTERN} characters, got {shown(pattern)}"
                raise InvalidInputError(what, path=path)
        _check_action(self.action, "action")
        if not isinstance(self.reason, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected text, got {shown(self.reason)}", path="reason")

    def matches(self, pending: PendingCall) -> bool:
        """Returns whether the rule is for this call. `pending` is the call that waits for approval."""
        if not _matches(self.tool, pending.call.name):
            return False
        given = pending.call.arguments or {}
        return all(name in given and _matches(each, _text(given[name])) for name, each in self.arguments.items())

    def to_data(self) -> dict[str, Any]:
        """Returns the rule as JSON data."""
        return {"tool": self.tool, "action": self.action, "arguments": dict(self.arguments), "reason": self.reason}


@checks_option_names
class ApprovalRules:
    """An approver: the first rule that matches a call decides, then `allow_read_only`, then `default`.

    Rules may be given as JSON data, as `to_data` returns it. Only an answer of `ask` or from elsewhere allows a call
    that would send private data (reason "data_flow") or may have run before ("interrupted"): a rule that allows it asks
    instead, or suspends where there is no `ask`. Raises `InvalidInputError` with the path of an invalid rule. Of the
    `rules`, the first one that matches decides.
    """

    def __init__(
        self,
        rules: Sequence[ApprovalRule | Mapping[str, Any]],
        *,
        default: RuleAction = "suspend",
        allow_read_only: bool = True,
        ask: Approver | None = None,
    ) -> None:
        if not isinstance(rules, list | tuple):
            raise InvalidInputError(f"expected a list, got {shown(rules)}", path="rules")
        items = cast("Sequence[object]", rules)
        self.rules = tuple(_rule(each, f"rules[{index}]") for index, each in enumerate(items))
        _check_action(default, "default")
        self.default: RuleAction = default
        if not isinstance(allow_read_only, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected True or False, got {shown(allow_read_only)}", path="allow_read_only")
        self.allow_read_only = allow_read_only
        if ask is not None and not callable(ask):
            raise InvalidInputError(f"expected a function, got {shown(ask)}", path="ask")
        self._ask = ask
        if ask is None and "ask" in (default, *(rule.action for rule in self.rules)):
            raise InvalidInputError("is required by the action 'ask'", path="ask", hint="Pass ask=function.")

    def __call__(self, pending: PendingCall) -> Decision | bool | Awaitable[Decision | bool]:
        """Returns the decision about a call."""
        action, reason = self._action(pending)
        if action == "allow" and pending.reason != "approval":
            action = "suspend" if self._ask is None else "ask"
        if action == "ask" and self._ask is not None:
            return self._ask(pending)
        if action == "deny":
            return Deny(reason)
        return Allow() if action == "allow" else Suspend(reason or None)

    def to_data(self) -> list[dict[str, Any]]:
        """Returns the rules as JSON data, without the function `ask`."""
        return [rule.to_data() for rule in self.rules]

    def _action(self, pending: PendingCall) -> tuple[RuleAction, str]:
        for rule in self.rules:
            if rule.matches(pending):
                return rule.action, rule.reason
        if self.allow_read_only and pending.tool is not None and pending.tool.read_only:
            return "allow", ""
        return self.default, ""


def _rule(given: object, path: str) -> ApprovalRule:
    if isinstance(given, ApprovalRule):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"expected an ApprovalRule, got {shown(given)}", path=path)
    data = dict(cast("Mapping[Any, Any]", given))
    unknown = [name for name in data if name not in _FIELDS]
    missing = [name for name in ("tool", "action") if name not in data]
    if unknown or missing:
        what = f"no such field: {shown(unknown[0])}" if unknown else f"`{missing[0]}` is required"
        raise InvalidInputError(what, path=path, hint=f"Fields are {', '.join(_FIELDS)}.")
    try:
        return ApprovalRule(**data)
    except InvalidInputError as error:
        raise InvalidInputError(error.message.removeprefix(f"{error.path}: "), path=f"{path}.{error.path}") from None


def _check_action(action: object, path: str) -> None:
    if action not in get_args(RuleAction):
        raise InvalidInputError(f"{shown(action)} is not one of {', '.join(get_args(RuleAction))}", path=path)


def _text(value: JSONValue) -> str:
    return value if isinstance(value, str) else canonical_json(value)


def _matches(pattern: str, text: str) -> bool:
    """Returns whether `text` matches a pattern in which `*` is any text. Each piece is searched for once, in order."""
    first, *others = pattern.split("*")
    if not others:
        return text == pattern
    *inner, last = others
    if not text.startswith(first):
        return False
    place, end = len(first), len(text) - len(last)
    for piece in inner:
        found = text.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return place <= end and text.endswith(last)
