"""The errors of runs.

AbstractCoreError
└── RunError                    names the run
    ├── RunNotFoundError        no run has this id
    ├── RunExistsError          another run has this id
    ├── ProgramError            a step raised, is not pure, or returned what it may not
    │   ├── UnknownProgramError no program of this name and version is here
│   └── ReplayError         a step gives something else than its record has
    ├── NotWaitingError         an answer to a wait that is not open
    ├── LeaseLostError          another worker has taken the run over
    ├── LedgerError             a ledger does not agree with itself
    ├── RunFailedError          the output of a run that has failed or was cancelled
    └── NotFinishedError        a run has not ended within the time
"""

from __future__ import annotations

from abstractcore.errors import AbstractCoreError


class RunError(AbstractCoreError):
    """Base class of the errors of this package. `run` is the id of the run, None if there is none."""

    run: str | None = None

    def __init__(self, message: str, *, run: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.run = run


class RunNotFoundError(RunError):
    """No run has this id."""


class RunExistsError(RunError):
    """A run of this id exists, with another program or another input."""


class ProgramError(RunError):
    """A step raised, is not pure, or returned what it may not."""


class UnknownProgramError(ProgramError):
    """No program of this name and version is known here."""


class ReplayError(ProgramError):
    """A step gives something else than the record `seq` has: it is not pure, or its program was changed."""

    def __init__(self, message: str, *, run: str | None = None, seq: int = 0, hint: str | None = None) -> None:
        super().__init__(message, run=run, hint=hint)
        self.seq = seq


class NotWaitingError(RunError):
    """The run does not wait for this answer: it was answered, the run has gone on, or it has ended."""


class LeaseLostError(RunError):
    """Another worker has taken the run over: nothing of this one is written any more."""


class LedgerError(RunError):
    """A ledger was changed, or lacks records. `seq` is that of the first record that is wrong, 0 for the run's row."""

    def __init__(self, message: str, *, run: str | None = None, seq: int = 0, hint: str | None = None) -> None:
        super().__init__(message, run=run, hint=hint)
        self.seq = seq


class RunFailedError(RunError):
    """The run has failed, or was cancelled, and has no output."""


class NotFinishedError(RunError):
    """The run has not ended within the time that was given."""
