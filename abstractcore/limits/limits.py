"""`Limits`: how many calls may begin in a minute, how many tokens they may have, and how many may run at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ..copying import NotCopied
from ..errors import InvalidInputError
from ..lazy_modules import LazyModule
from ..schema.base_error import shown

if TYPE_CHECKING:
    from .. import database
    from . import queues
else:
    database = LazyModule("abstractcore.database")
    queues = LazyModule("abstractcore.limits.queues")

_MOST: Final = 2**31 - 1
_LONGEST_NAME: Final = 90
_FIELDS: Final = ("requests_per_minute", "tokens_per_minute", "parallel", "name", "store")
_HINT: Final = 'For example: limits=Limits(requests_per_minute=60), or limits="learn".'


@dataclass(frozen=True, slots=True)
class LimitsState:
    """What counts of limits in this process: `requests` and `tokens` of calls that began in the last minute, calls that
    are `running`, and calls that are `waiting`.

    The limits of now are those given, or those learned so far.
    """

    requests: int
    tokens: int
    running: int
    waiting: int
    requests_per_minute: int | None
    tokens_per_minute: int | None
    parallel: int | None


class Limits(NotCopied):
    """Limits on the requests of LLMs: `create_llm(limits=Limits(requests_per_minute=60))`. Calls wait until they fit.

    In any 60 seconds, no more than `requests_per_minute` requests begin, with `tokens_per_minute` tokens of input and
    output together; no more than `parallel` run at once. Calls wait in the order in which they began, those of a higher
    `priority` first, within their `timeout`: `LimitExceededError` says what was waited for. Tokens are estimated before
    a request, and counted as reported after it.

    All LLMs that are given the same object share the limits, and all limits of one `name` in this process. With a
    `store` (a path, a URL as in "sqlite:///limits.db" or "postgresql://...", or an open `Database`) all processes that
    name it share those of one `name`, which it requires. A process that is killed leaves nothing behind.

    Without numbers, limits are learned for each model and key: from the headers of responses, and from refusals.

    Raises `InvalidInputError` for an invalid argument.
    """

    _holds = "the calls that wait in this process"
    _instead = "Give both processes Limits with the same name and store='sqlite:///limits.db'."

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        parallel: int | None = None,
        *,
        name: str | None = None,
        store: database.Database | str | Path | None = None,
    ) -> None:
        self.requests_per_minute = _number(requests_per_minute, "requests_per_minute")
        self.tokens_per_minute = _number(tokens_per_minute, "tokens_per_minute")
        self.parallel = _number(parallel, "parallel")
        self.name = _check_name(name)
        self.store = _check_store(store, self.name, learns=self.learns)
        self._learns = self.learns
        self._queues: dict[str, queues.CallQueue] = {}

    @property
    def learns(self) -> bool:
        """Whether the limits are learned, since none are given."""
        return (self.requests_per_minute, self.tokens_per_minute, self.parallel) == (None, None, None)

    def known_queue(self, account: str) -> queues.CallQueue | None:
        """Returns the queue of a model and key, if it is open."""
        return self._queues.get(account if self._learns else "")

    def queue(self, account: str) -> queues.CallQueue:
        """Returns where the calls of a model and key wait: of learned limits each `account` has its own. Opens a store,
        and waits for it.

        Raises the errors of `abstractcore.database` for a store that cannot be opened.
        """
        key = account if self.learns else ""
        found = self._queues.get(key)
        if found is None:
            found = self._queues.setdefault(key, queues.queue_of(self, key))
        return found

    def state(self) -> LimitsState:
        """Returns what counts now in this process; of learned limits, of all models together. What a database counts
        for other processes is not in it.
        """
        if not self.learns:
            self.queue("")
        queues = [*self._queues.values()]
        states = [queue.state(self) for queue in queues]
        numbers = states[0] if len(states) == 1 else self
        return LimitsState(
            sum(state.requests for state in states),
            sum(state.tokens for state in states),
            sum(state.running for state in states),
            sum(state.waiting for state in states),
            numbers.requests_per_minute,
            numbers.tokens_per_minute,
            numbers.parallel,
        )

    def __repr__(self) -> str:
        given = {field: getattr(self, field) for field in _FIELDS[:-1]}
        shown_fields = ", ".join(f"{field}={value!r}" for field, value in given.items() if value is not None)
        return f"Limits({shown_fields}{', store=...' if self.store is not None else ''})"


def checked_limits(given: object) -> Limits:
    """Returns the value of the option `limits`; raises `InvalidInputError` for another one."""
    if isinstance(given, Limits):
        return given
    if isinstance(given, str) and given == "learn":
        return Limits()
    if not isinstance(given, Mapping):
        found = shown(given) if isinstance(given, str) else type(given).__name__
        raise InvalidInputError(f"expected Limits, a mapping or 'learn', got {found}", path="limits", hint=_HINT)
    fields = cast("Mapping[str, Any]", given)
    for name in fields:
        if not isinstance(name, str) or name not in _FIELDS:  # pyright: ignore[reportUnnecessaryIsInstance]
            problem = f"unknown field {shown(name)}: expected {', '.join(_FIELDS)}"
            raise InvalidInputError(problem, path="limits", hint=_HINT)
    try:
        return Limits(**fields)
    except InvalidInputError as error:
        message = error.message.removeprefix(f"{error.path}: ")
        raise InvalidInputError(message, path=f"limits.{error.path}", hint=error.hint) from None


def _number(given: object, path: str) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or not 0 < given <= _MOST:
        raise InvalidInputError(
            f"expected a whole number from 1 to {_MOST:,}, got {shown(given)}",
            path=path,
            hint="A limit of 0 would let no call begin." if isinstance(given, int) and given == 0 else None,
        )
    return given


def _check_name(given: object) -> str | None:
    if given is None or (isinstance(given, str) and 0 < len(given) <= _LONGEST_NAME and given.isprintable()):
        return given
    raise InvalidInputError(f"expected a text of up to {_LONGEST_NAME} characters, got {shown(given)}", path="name")


def _check_store(given: object, name: str | None, *, learns: bool) -> database.Database | str | Path | None:
    if given is None:
        return None
    if not isinstance(given, str | Path) and not hasattr(given, "migrate"):
        problem = f"expected a path or a URL, got {type(given).__name__}"
        raise InvalidInputError(problem, path="store", hint="For example: store='sqlite:///limits.db'.")
    if learns:
        problem = "has no effect without a number: what is learned is kept in this process"
        raise InvalidInputError(problem, path="store", hint="For example: requests_per_minute=60.")
    if name is None:
        problem = "processes share the limits of one name: give them one"
        raise InvalidInputError(problem, path="name", hint="For example: name='openai'.")
    return cast("database.Database | str | Path", given)
