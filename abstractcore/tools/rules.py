"""`ApprovalRules`: an approver that is an ordered list of rules."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

from ..errors import InvalidInputError
from ..schema import EMPTY, JSONValue, PendingCall, canonical_json
from ..schema.base_error import shown
from .approval import Allow, Approver, Decision, Deny, Suspend
from .option_names import checks_option_names

RuleAction: TypeAlias = Literal["allow", "deny", "suspend", "ask"]
"""What a rule does with a call: it runs; it does not; it waits; the function `ask` decides."""
_NOTHING: Any = EMPTY
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
        """Returns whether the rule is for this call."""
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
    that would send private data (reason "data_flow") or may have run before ("interrupted"): a rule that allows it
    asks instead, or suspends where there is no `ask`. Raises `InvalidInputError` with the path of an invalid rule.
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
