"""The pipeline of sync and async calls. HTTP, asyncio and providers are reached through ports only."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..concurrency.time_limits import InTime, out_of_time, overdue, remaining, time_given
from .exchange import credentials_of_endpoint
from .lowering import lower
from .lowering.changes import refuse_losses
from .pipeline import Pipeline
from .prepared import OutputReader, Prepare, Prepared

if TYPE_CHECKING:
    from .call_stream import CallStream

_LATER = {"CallStream": "call_stream"}
"""Names whose module is imported on first access: a call that is not streamed does not need them."""

__all__ = [
    "CallStream",
    "InTime",
    "OutputReader",
    "Pipeline",
    "Prepare",
    "Prepared",
    "credentials_of_endpoint",
    "lower",
    "out_of_time",
    "overdue",
    "refuse_losses",
    "remaining",
    "time_given",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
