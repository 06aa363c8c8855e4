"""`FailedSteps`: steps at which files have ended the process of their decoder; they are not repeated for a while."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ..errors import CorruptFileError
from ..schema import MEDIA_PARTS, MediaControls, MediaPart

_KEPT_SECONDS = 600.0
"""A process may also crash or be slow because of what else happens on the machine."""
_MOST = 1024


class FailedStep(NamedTuple):
    """A step of a function with a file: the hash and the type of the file, the parts of it that are wanted, and what
    was sent to the function; without that, the number of the step.
    """

    function: str
    sha256: str
    media_type: str
    controls: MediaControls | None
    step: bytes | int


class FailedSteps:
    """Remembers failures for ten minutes, by content. `now` returns seconds. It has no locks: a failure that is lost is
    found again.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures: dict[FailedStep, tuple[float, str, str | None]] = {}

    def of(self, function: Callable[..., object], arguments: Sequence[object], source: str) -> StepGuard:
        """Returns the failures of a function with the file among its arguments, which `source` names in errors."""
        file = next((each for each in arguments if isinstance(each, MEDIA_PARTS)), None)
        return StepGuard(self, f"{function.__module__}.{function.__qualname__}", file, source)

    def get(self, step: FailedStep) -> tuple[str, str | None] | None:
        """Returns the problem of a failure that is remembered, to follow the name of a file, and its hint."""
        since, problem, hint = self._failures.get(step, (-math.inf, "", None))
        return (problem, hint) if self._now() - since < _KEPT_SECONDS else None

    def put(self, step: FailedStep, problem: str, hint: str | None) -> None:
        """Remembers a failure."""
        if len(self._failures) >= _MOST:
            self._failures = dict(list(self._failures.items())[_MOST // 2 :])
        self._failures[step] = self._now(), problem, hint


class StepGuard:
    """The failures of one call. A call without a file has none."""

    def __init__(self, failed: FailedSteps, function: str, file: MediaPart | None, source: str) -> None:
        self._failed = failed
        self._function = function
        self._file = file
        self._source = source

    @contextmanager
    def at(self, step: bytes | int) -> Generator[None]:
        """Raises the failure of a step that is remembered; remembers one that happens here."""
        key = self._key(step)
        if key is not None and (failure := self._failed.get(key)) is not None:
            problem, hint = failure
            raise CorruptFileError(
                f"{self._source}{problem} It is not tried again yet.", source=self._source, hint=hint
            )
        try:
            yield
        except CorruptFileError as error:
            if key is not None:
                self._failed.put(key, error.message.removeprefix(self._source), error.hint)
            raise

    def _key(self, step: bytes | int) -> FailedStep | None:
        file = self._file
        if file is None or file.blob.sha256 is None:
            return None
        return FailedStep(self._function, file.blob.sha256, file.blob.media_type, file.controls, step)
