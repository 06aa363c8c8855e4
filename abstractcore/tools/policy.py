"""`ToolPolicy`: the limits of a tool loop, and who approves its calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal, get_args

from ..concurrency.functions import is_async
from ..errors import InvalidInputError
from ..schema import EMPTY, SchemaError, ToolEvent, ToolLabel, check_labels
from ..schema.base_error import shown
from .approval import Approver
from .journal import Journal
from .option_names import checks_option_names

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
    runs: the path of a file, or a `Journal`. `content_labels` are those of the messages and files of the call, beside
    those of what tools return.
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

    def __post_init__(self) -> None:
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
