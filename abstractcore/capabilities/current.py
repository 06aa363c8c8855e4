"""The call in which code of a backend runs, for what its owner offers."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ConfigurationError
from ..ports import CallContext

if TYPE_CHECKING:
    from ..engine import Pipeline
    from ..schema import CallProgress


@dataclass(frozen=True, slots=True)
class CurrentCall:
    """A call of a backend, and the pipeline, sync or async, that makes it."""

    context: CallContext
    pipeline: Pipeline
    on_progress: Callable[[CallProgress], object] | None = None

    @contextmanager
    def running(self) -> Generator[None]:
        """Makes this the current call of the block, and of threads and tasks that it starts."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[CurrentCall | None] = ContextVar("abstractcore_backend_call", default=None)


def current_call(what: str) -> CurrentCall:
    """Returns the current call; raises `ConfigurationError`, which names `what` needs it, outside of all calls."""
    call = _current.get()
    if call is None:
        raise ConfigurationError(f"{what} is available in calls of a backend only.")
    return call
