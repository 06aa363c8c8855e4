"""What a program is: a pure function from a state and an item to the next step.

It knows no database, no clock and no network. What it wants done is data: an effect, waits, items for others, children.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias, get_args, runtime_checkable

from abstractcore.errors import InvalidInputError

from .json_documents import JSON

ItemKind: TypeAlias = Literal["start", "result", "answer", "event", "timeout", "command", "child"]
"""Why a step is made: the run begins; an effect has ended; somebody answered a wait; an event came; a deadline passed;
a command, which only the engine gets; a child has ended."""
WaitReason: TypeAlias = Literal[
    "approval", "execution", "data_flow", "interrupted", "input", "tool_changed", "event", "until", "child"
]
"""Those of pending calls of the SDK, and: an event, a time, the end of a child."""
AfterCrash: TypeAlias = Literal["repeat", "resume", "ask"]
"""What becomes of an effect without a result after a crash: it is begun again; it goes on from its own journal;
somebody is asked."""
INTERRUPTED: Final = "interrupted"
"""The key of the wait for a decision about an effect of which nobody knows whether it was done."""
LONGEST_NAME: Final = 200
"""The longest id, key and name, in characters."""
_RESERVED: Final = ("start:", "sent:", "copy:", "child:", "cancel:")
"""Ids of the items that the kernel makes: one that was taken before would not be delivered."""
_MOST_ERRORS: Final = 100
"""The most types of errors that a retry may name."""
_NAME: Final = re.compile(r"[^\s@/][^\s@]*")


def check_name(value: object, path: str, *, longest: int = LONGEST_NAME) -> str:
    """Returns an id, a key or a name; raises `InvalidInputError` for what cannot be one."""
    if type(value) is not str or not value:
        raise InvalidInputError(f"expected a text that is not empty, got {value!r:.80}", path=path)
    if len(value) > longest:
        raise InvalidInputError(f"has {len(value):,} characters, at most {longest} are allowed", path=path)
    if not value.isprintable():
        raise InvalidInputError(f"has characters that cannot be printed: {value!r:.80}", path=path)
    return value


def check_item_id(value: object, path: str) -> str:
    """Returns the id of an item; raises `InvalidInputError` for what cannot be one, and for those of the kernel."""
    id = check_name(value, path)
    if id.startswith(_RESERVED):
        raise InvalidInputError(f"begins with {id.partition(':')[0]}:, which is reserved: {id!r:.80}", path=path)
    return id


def check_seconds(value: object, path: str) -> None:
    """Raises `InvalidInputError` for an invalid duration in seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e10:
        raise InvalidInputError(f"expected seconds, more than 0, got {value!r:.80}", path=path)


def check_time(value: object, path: str) -> None:
    """Raises `InvalidInputError` for an invalid time in seconds since the epoch."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise InvalidInputError(f"expected seconds since the epoch, got {value!r:.80}", path=path)


@dataclass(frozen=True, slots=True)
class Item:
    """What a run gets. `key` names the wait or the effect that it belongs to, `at` is when it came, in seconds since
    the epoch: a step has no other clock. `error` is that of an effect or a child: an object with `type` and `message`.
    """

    id: str
    kind: ItemKind
    payload: JSON = None
    key: str | None = None
    at: float = 0.0
    sender: str | None = None
    error: JSON = None


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a failed effect is begun: `attempts` in all, with pauses from `seconds` on, each `factor` times longer.

    Only errors that are `retryable` are tried again, and those of the types in `errors`, by their class name.
    """

    attempts: int = 3
    seconds: float = 1.0
    factor: float = 2.0
    longest: float = 3600.0
    """The longest pause, in seconds."""
    errors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if type(self.attempts) is not int or self.attempts < 1:
            raise InvalidInputError(f"expected an integer of at least 1, got {self.attempts!r}", path="attempts")
        for name in ("seconds", "factor", "longest"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e10:
                raise InvalidInputError(f"expected a number of at least 0, got {value!r:.80}", path=name)
        if type(self.errors) is not tuple or len(self.errors) > _MOST_ERRORS:
            problem = f"expected a tuple of up to {_MOST_ERRORS} names of classes, got {self.errors!r:.80}"
            raise InvalidInputError(problem, path="errors")
        for index, name in enumerate(self.errors):
            check_name(name, f"errors[{index}]")

    def pause(self, attempt: int) -> float:
        """Returns the seconds to wait after an attempt, the first one being 1."""
        return min(self.seconds * self.factor ** min(attempt - 1, 64), self.longest)


@dataclass(frozen=True, slots=True)
class Effect:
    """Something to do between two steps. `kind` is that of a registered `EffectKind`, `payload` its JSON.

    The next item is its result. `after_crash` says what becomes of it if a worker dies meanwhile; by default that of
    its kind.
    """

    kind: str
    payload: JSON = None
    key: str = "effect"
    """What makes it one of a kind in its run."""
    after_crash: AfterCrash | None = None
    retry: RetryPolicy | None = None
    """How often it is begun again after an error."""

    def __post_init__(self) -> None:
        check_name(self.kind, "effect.kind")
        check_name(self.key, "effect.key")
        if self.after_crash is not None and self.after_crash not in get_args(AfterCrash):
            choices = ", ".join(get_args(AfterCrash))
            raise InvalidInputError(f"expected one of {choices}, got {self.after_crash!r:.80}", path="after_crash")


@dataclass(frozen=True, slots=True)
class Wait:
    """A question that a run waits for. `key` names it in its run; an event is waited for by the event's key.

    At `deadline`, in seconds since the epoch, the run gets a `timeout`. `asked` is what is shown to who answers.
    """

    key: str
    reason: WaitReason = "input"
    deadline: float | None = None
    asked: JSON = None

    def __post_init__(self) -> None:
        check_name(self.key, "wait.key")
        if self.reason not in get_args(WaitReason):
            choices = ", ".join(get_args(WaitReason))
            raise InvalidInputError(f"expected one of {choices}, got {self.reason!r:.80}", path="wait.reason")
        if self.deadline is not None:
            check_time(self.deadline, "wait.deadline")
        if self.reason == "until" and self.deadline is None:
            raise InvalidInputError("a wait until a time needs its deadline", path="wait.deadline")


@dataclass(frozen=True, slots=True)
class Send:
    """An event for others: every run that waits for its key gets it, otherwise it is kept for the first that does.

    With `run`, it goes to that run alone. `id` is one that no other item has; by default it is made of the step.
    """

    key: str
    payload: JSON = None
    run: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        check_name(self.key, "send.key")
        if self.run is not None:
            check_name(self.run, "send.run")
        if self.id is not None:
            check_item_id(self.id, "send.id")


@dataclass(frozen=True, slots=True)
class Child:
    """A run to start. Its end is an item with `key`; `run` is its id, by default that of the parent and the key."""

    key: str
    program: str
    input: JSON = None
    run: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        check_name(self.key, "child.key")
        check_name(self.program, "child.program")
        for name in ("run", "session"):
            if getattr(self, name) is not None:
                check_name(getattr(self, name), f"child.{name}")


@dataclass(frozen=True, slots=True)
class Step:
    """The result of a step: the next `state`, and what the run does then.

    An `effect` is executed, and its result is the next item; or the run waits, for any of `waits`; or it has ended,
    with an `output` or an `error`. `waits` are all that are open from now on: those of earlier steps that are not among
    them are closed. `sends` and `children` happen in any case. Or the item is `refused`, with a reason, and nothing
    changes.
    """

    state: JSON = None
    effect: Effect | None = None
    waits: tuple[Wait, ...] = ()
    sends: tuple[Send, ...] = ()
    children: tuple[Child, ...] = ()
    ended: Literal["completed", "failed"] | None = None
    output: JSON = None
    error: JSON = None
    refused: str | None = None

    @classmethod
    def do(cls, state: JSON, effect: Effect, *, sends: tuple[Send, ...] = (), waits: tuple[Wait, ...] = ()) -> Step:
        """Returns a step that executes an effect."""
        return cls(state, effect=effect, sends=sends, waits=waits)

    @classmethod
    def wait(cls, state: JSON, *waits: Wait, sends: tuple[Send, ...] = (), children: tuple[Child, ...] = ()) -> Step:
        """Returns a step after which the run waits."""
        return cls(state, waits=waits, sends=sends, children=children)

    @classmethod
    def complete(cls, output: JSON = None, *, state: JSON = None, sends: tuple[Send, ...] = ()) -> Step:
        """Returns the last step of a run that has done its work."""
        return cls(state, ended="completed", output=output, sends=sends)

    @classmethod
    def fail(cls, message: str, *, type: str = "Failed", state: JSON = None, sends: tuple[Send, ...] = ()) -> Step:
        """Returns the last step of a run that cannot do its work."""
        return cls(state, ended="failed", error={"type": type, "message": message}, sends=sends)

    @classmethod
    def refuse(cls, reason: str) -> Step:
        """Returns what a step makes of an answer or event that does not fit: nothing changes, and the run waits on."""
        return cls(refused=reason)


@runtime_checkable
class Program(Protocol):
    """A state machine. `step` is pure: equal states and items give equal steps, in every process."""

    @property
    def name(self) -> str:
        """The name, without spaces and `@`."""
        ...

    @property
    def version(self) -> str:
        """The version: a run keeps the one that it began with."""
        ...

    def step(self, state: JSON, item: Item) -> Step:
        """Returns the next step. The first item is `start`, with the input as its payload, and the state None."""
        ...


@runtime_checkable
class HasEffects(Protocol):
    """A program that brings its own kinds of effects, which only its runs use."""

    @property
    def effects(self) -> Mapping[str, object]:
        """Objects with the methods of `EffectKind`, by the name of the kind."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionProgram:
    """A program of one function: `FunctionProgram("greet", step)`."""

    name: str
    function: Callable[[JSON, Item], Step] = field(repr=False)
    version: str = "1"
    """Changes with what its steps do."""

    def __post_init__(self) -> None:
        program_id(self)

    def step(self, state: JSON, item: Item) -> Step:
        """Returns the next step."""
        return self.function(state, item)


def check_program_id(value: object, path: str) -> str:
    """Returns `name@version`; raises `InvalidInputError` for anything else."""
    id = check_name(value, path)
    name, _, version = id.rpartition("@")
    if not _NAME.fullmatch(name) or not _NAME.fullmatch(version):
        raise InvalidInputError(f"expected name@version without spaces, got {id!r:.80}", path=path)
    return id


def program_id(program: Program) -> str:
    """Returns `name@version`; raises `InvalidInputError` for an invalid program."""
    for attribute in ("name", "version"):
        value = check_name(getattr(program, attribute, None), f"program.{attribute}", longest=90)
        if not _NAME.fullmatch(value):
            raise InvalidInputError(f"has a space or `@`: {value!r}", path=f"program.{attribute}")
    if not callable(getattr(program, "step", None)):
        raise InvalidInputError(f"expected a method `step`, {type(program).__name__} has none", path="program")
    return f"{program.name}@{program.version}"
