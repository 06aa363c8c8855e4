"""Durable runs: programs whose state, waits and effects are rows of a database, and survive any crash."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

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
from .programs import Child, Effect, FunctionProgram, Item, Program, RetryPolicy, Send, Step, Wait
from .records import Limits, OpenWait, Record, RunInfo, Spent

if TYPE_CHECKING:
    from .exports import verify_export
    from .handles import Run, RunWait
    from .ledger_checks import LedgerReport, Problem
    from .runtime import Runtime
    from .store import Delivery
    from .worker import Worker

__all__ = [
    "Child",
    "Delivery",
    "Effect",
    "EffectContext",
    "EffectKind",
    "EffectResult",
    "FunctionEffect",
    "FunctionProgram",
    "Item",
    "LeaseLostError",
    "LedgerError",
    "LedgerReport",
    "Limits",
    "NotFinishedError",
    "NotWaitingError",
    "OpenWait",
    "Problem",
    "Program",
    "ProgramError",
    "Record",
    "ReplayError",
    "RetryPolicy",
    "Run",
    "RunError",
    "RunExistsError",
    "RunFailedError",
    "RunInfo",
    "RunNotFoundError",
    "RunWait",
    "Runtime",
    "Send",
    "Spent",
    "Step",
    "UnknownProgramError",
    "Wait",
    "Worker",
    "verify_export",
]  # fmt: skip
_USE_DATABASES: Final = {
    "Delivery": "store", "Problem": "ledger_checks", "Run": "handles", "RunWait": "handles", "Runtime": "runtime",
    "LedgerReport": "ledger_checks", "Worker": "worker", "verify_export": "exports",
}  # fmt: skip
"""Names whose modules import the database library, on their first use: `abstractcore --help` imports this package."""


def __getattr__(name: str) -> Any:
    module = _USE_DATABASES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{module}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
