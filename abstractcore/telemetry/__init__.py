"""Records of finished calls, their subscribers, and costs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .costs import Bill
from .recorder import Listener, Recorder, Subscriber, Subscription

if TYPE_CHECKING:
    from .call_records import EndedCall

_LATER = {"EndedCall": "call_records"}
"""Names whose module is imported on first access: a call without subscribers does not need them."""

__all__ = ["Bill", "EndedCall", "Listener", "Recorder", "Subscriber", "Subscription"]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
