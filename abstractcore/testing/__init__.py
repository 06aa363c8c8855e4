"""For authors of wire formats: made-up calls and replies, and the laws every transpiler keeps.

`check_laws(MyTranspiler(), provider="mine")` in a test runs them all. Needs Hypothesis (the `test` extra), which is
loaded only when a strategy is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .laws import (
    LAWS,
    Law,
    LawBrokenError,
    check_call_losses,
    check_encode_again,
    check_errors,
    check_render_again,
    check_reply_losses,
    check_stream,
)

if TYPE_CHECKING:
    from . import strategies
    from .checking import check_laws

__all__ = [
    "LAWS",
    "Law",
    "LawBrokenError",
    "check_call_losses",
    "check_encode_again",
    "check_errors",
    "check_laws",
    "check_render_again",
    "check_reply_losses",
    "check_stream",
    "strategies",
]


def __getattr__(name: str) -> Any:
    if name not in ("check_laws", "strategies"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name == "strategies":
        return import_module(".strategies", __name__)
    return import_module(".checking", __name__).check_laws
