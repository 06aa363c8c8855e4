"""`Routing`: how a group of models shares its calls. `Member`: one of them, with options of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, cast, get_args

from ..errors import AbstractCoreError, InvalidInputError
from ..schema.base_error import shown
from ..scrubbing import credentials_of

OrderName: TypeAlias = Literal["first", "cheapest", "fastest", "least_busy", "spread"]
Order: TypeAlias = OrderName | Callable[..., Any]
FallBackName: TypeAlias = Literal["refusal", "invalid_input", "invalid_output"]
"""What a group does not fall back on unless `fall_back_on` names it: an answer, or an error, of a policy; an error in
the request; an answer that does not match `response_model`."""

ORDERS: tuple[str, ...] = get_args(OrderName)
FALL_BACK_NAMES: tuple[str, ...] = get_args(FallBackName)
LONGEST_COOLDOWN = 300.0


@dataclass(frozen=True, slots=True)
class Routing:
    """How a group of models shares its calls, for `create_llm([...], routing=Routing(...))`.

    `order` says who is asked first: "first" in the list, "cheapest" for the call, "fastest" of late, "least_busy", or
    each in turn with "spread"; or a function, sync or async, of the call and the members, which returns those to ask,
    in order. `fall_back_on` adds to the errors after which the next member is asked: classes of errors, "refusal",
    "invalid_input" and "invalid_output". A member that failed is left alone for `cooldown` seconds, for twice as long
    each further time, up to five minutes; or for as long as it asks for. With `sticky="session"` the calls of a
    session, and the rounds of a tool loop, stay with the member that answered the last one. A member that has not begun
    to answer after `member_timeout` seconds is left. After `hedge_after` seconds without an answer, or later than 95 %
    of the latest answers with "p95", the next member is asked too, and whoever answers first is taken.

    Raises `InvalidInputError` with the path of an invalid value.
    """

    order: Order = "first"
    fall_back_on: Iterable[type[AbstractCoreError] | FallBackName] | None = None
    cooldown: float = 30.0
    sticky: Literal["session"] | None = "session"
    member_timeout: float | None = None
    hedge_after: float | Literal["p95"] | None = None

    def __post_init__(self) -> None:
        if not (callable(self.order) or self.order in ORDERS):
            hint = f"Use {', '.join(map(repr, ORDERS))}, or a function."
            raise InvalidInputError(f"expected an order, got {shown(self.order)}", path="routing.order", hint=hint)
        if self.sticky not in ("session", None):
            raise InvalidInputError(f"expected 'session' or None, got {shown(self.sticky)}", path="routing.sticky")
        _check_seconds(self.cooldown, "routing.cooldown")
        if self.member_timeout is not None:
            _check_seconds(self.member_timeout, "routing.member_timeout")
        if self.hedge_after not in (None, "p95"):
            _check_seconds(self.hedge_after, "routing.hedge_after")
        object.__setattr__(self, "fall_back_on", _checked_causes(self.fall_back_on))

    @classmethod
    def of(cls, given: object) -> Routing:
        """Returns the routing of an option: a `Routing`, a mapping of its fields, or None for the defaults.

        Raises `InvalidInputError` with the path of what is wrong.
        """
        if given is None:
            return cls()
        if isinstance(given, Routing):
            return given
        if not isinstance(given, Mapping):
            raise InvalidInputError(f"expected a Routing, got {type(given).__name__}", path="routing")
        values, known = cast("Mapping[str, Any]", given), [each.name for each in fields(cls)]
        for name in values:
            if name not in known:
                raise InvalidInputError("no such field", path=f"routing.{name}", hint=f"It has: {', '.join(known)}.")
        return cls(**values)

    @property
    def named_classes(self) -> tuple[type[AbstractCoreError], ...]:
        """The classes of errors in `fall_back_on`."""
        return tuple(each for each in self.fall_back_on or () if not isinstance(each, str))

    @property
    def named(self) -> frozenset[str]:
        """The names in `fall_back_on`."""
        return frozenset(each for each in self.fall_back_on or () if isinstance(each, str))


def _checked_causes(given: object) -> tuple[Any, ...] | None:
    path = "routing.fall_back_on"
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(f"expected a list of errors, got {shown(given)}", path=path)
    causes = tuple(cast("Iterable[Any]", given))
    for index, each in enumerate(causes):
        if isinstance(each, type) and issubclass(each, AbstractCoreError):
            continue
        if each not in FALL_BACK_NAMES:
            hint = f"Use classes of errors of abstractcore, and {', '.join(map(repr, FALL_BACK_NAMES))}."
            raise InvalidInputError(
                f"expected an error, got {shown(cast(object, each))}", path=f"{path}[{index}]", hint=hint
            )
    return causes


def _check_seconds(given: object, path: str) -> None:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= sys.float_info.max:
        raise InvalidInputError(f"expected a number of seconds above 0, got {shown(given)}", path=path)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group of models that has a key, an address or other options of its own, as in
    `Member("openai/gpt-5.4", key=KEY)`: several keys or deployments of one model are several members.

    `options` are further ones of `create_llm`. Raises `InvalidInputError` for a value of a wrong type. `base_url` is
    the address of a deployment of its own.
    """

    model: str
    key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    def __init__(self, model: str, key: Any = None, base_url: str | None = None, **options: Any) -> None:
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "base_url", base_url)
        object.__setattr__(self, "options", options)
        if not isinstance(model, str) or not model:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected the name of a model, got {shown(model)}", path="member.model")
        for name in ("provider", "services"):
            if name in options:
                hint = 'Its name has the provider, as in "openai/gpt-5.4"; services are those of the group.'
                raise InvalidInputError("a member has no such option", path=f"member.{name}", hint=hint)

    @classmethod
    def of(cls, given: Mapping[str, Any], path: str) -> Member:
        """Returns the member that a mapping describes; raises `InvalidInputError`."""
        if "model" not in given or any(not isinstance(each, str) for each in cast("Mapping[object, Any]", given)):
            hint = 'For example {"model": "openai/gpt-5.4", "key": KEY}.'
            raise InvalidInputError("expected a mapping with the key 'model'", path=path, hint=hint)
        return cls(**given)

    def create_options(self) -> dict[str, Any]:
        """Returns its options of `create_llm`."""
        named = {"api_key": self.key, "base_url": self.base_url}
        return {**self.options, **{name: value for name, value in named.items() if value is not None}}

    def __copy__(self) -> Member:
        return self

    def __deepcopy__(self, memo: object) -> Member:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if any(credentials_of(self.create_options())):
            hint = "Leave the key out, and set the provider's environment variable."
            raise InvalidInputError("a Member with a credential is not pickled", path="key", hint=hint)
        return _member, (self.model, self.key, self.base_url, dict(self.options))


def _member(model: str, key: Any, base_url: str | None, options: Mapping[str, Any]) -> Member:
    return Member(model, key, base_url, **options)
