"""Durable runs: programs whose state, waits and effects are rows of a database, and survive any crash."""

from __future__ import annotations

from .effects import EffectContext, EffectKind, EffectResult, FunctionEffect
from .errors import (
    LeaseLostError,
    LedgerError,
    NotFinishedError,
    NotWaitingError,
    ProgramError,
    ReplayError,
    RunError,
    RunExistsError,
    RunFailedError,
    RunNotFoundError,
    UnknownProgramError,
)
from .exports import verify_export
from .handles import Run, RunWait
from .programs import Child, Effect, FunctionProgram, Item, Program, RetryPolicy, Send, Step, Wait
from .records import Limits, OpenWait, Record, RunInfo, Spent
from .runtime import Runtime
from .store import Delivery
from .verification import Problem, Verification
from .worker import Worker

__all__ = [
    "Child", "Delivery", "Effect", "EffectContext", "EffectKind", "EffectResult", "FunctionEffect", "FunctionProgram",
    "Item", "LeaseLostError", "LedgerError", "Limits", "NotFinishedError", "NotWaitingError", "OpenWait", "Problem",
    "Program", "ProgramError", "Record", "ReplayError", "RetryPolicy", "Run", "RunError", "RunExistsError",
    "RunFailedError", "RunInfo", "RunNotFoundError", "RunWait", "Runtime", "Send", "Spent", "Step",
    "UnknownProgramError", "Verification", "Wait", "Worker", "verify_export",
]  # fmt: skip
