"""Checks the arguments of a budget: each function returns a valid one, or raises `InvalidInputError`."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from ..errors import BudgetExceededError, InvalidInputError
from ..lazy_modules import LazyModule
from ..ports.budgets import BudgetLedger
from ..ports.pricing import as_price
from ..schema.base_error import shown
from .amounts import PICODOLLARS, picodollars, shown_dollars
from .memory import MemoryLedger
from .windows import Period

if TYPE_CHECKING:
    from .. import database
else:
    database = LazyModule("abstractcore.database")

TAG: Final = "tag:"
LONGEST_GROUP: Final = 200
_MOST_DOLLARS: Final = 4_000_000
"""What fits into the integers of a database, with what is added to it."""

Unpriced: TypeAlias = Decimal | Literal["refuse", "allow"]
Substitute: TypeAlias = Callable[[BudgetExceededError], object] | object
"""A model: "provider/model" or an `LLM`; or a function that returns one, or None to let the error be raised."""


def checked_limit(given: object) -> Decimal:
    if isinstance(given, str):
        hint = "For example: usd=5 or usd=Decimal('0.25')."
        raise InvalidInputError("expected a number, got str", path="usd", hint=hint)
    usd = as_price(given, "usd")
    if not 0 < usd <= _MOST_DOLLARS:
        raise InvalidInputError(
            f"expected US dollars above 0 and up to {_MOST_DOLLARS:,}, got {shown(given)}",
            path="usd",
            hint="Give an amount above 0; a budget of 0 would refuse every call." if usd == 0 else None,
        )
    if picodollars(usd) != usd * PICODOLLARS:
        raise InvalidInputError("expected at most 12 decimal places", path="usd")
    return usd


def checked_by(given: object) -> str | None:
    if given is None or given in ("model", "provider"):
        return cast("str | None", given)
    if isinstance(given, str) and given.startswith(TAG) and len(given) > len(TAG):
        return given
    raise InvalidInputError(
        f"expected 'tag:NAME', 'model', 'provider' or None, got {shown(given)}",
        path="by",
        hint="For example: by='tag:user', for calls with tags={'user': ...}.",
    )


def checked_name(given: object) -> str | None:
    if given is None:
        return None
    if isinstance(given, str) and 0 < len(given) <= LONGEST_GROUP and given.isprintable() and "|" not in given:
        return given
    raise InvalidInputError(f"expected a short text without '|', got {shown(given)}", path="name")


def usual_name(usd: Decimal, per: Period | None, by: str | None) -> str:
    return f"{shown_dollars(usd)}{f' per {per}' if per else ''}{f' by {by}' if by else ''}"


def checked_substitute(given: object) -> object:
    if given is None or (isinstance(given, str) and given != "raise" and not all(given.partition("/"))):
        raise InvalidInputError(
            f"expected 'raise', 'PROVIDER/MODEL', an LLM or a function, got {shown(given)}",
            path="on_exceeded",
            hint="For example: on_exceeded='openai/gpt-5.4-mini'.",
        )
    if not isinstance(given, str) and not callable(given) and not hasattr(given, "generate"):
        problem = f"expected 'raise', 'PROVIDER/MODEL', an LLM or a function, got {type(given).__name__}"
        raise InvalidInputError(problem, path="on_exceeded")
    return given


def checked_unpriced(given: object) -> Unpriced:
    if given in ("refuse", "allow"):
        return cast("Unpriced", given)
    return as_price(given, "unpriced")


def checked_share(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= 1:
        raise InvalidInputError(
            f"expected a share above 0 and up to 1, got {shown(given)}", path="warn_at", hint="0.8 is 80 %."
        )
    return float(given)


def checked_function(given: object, warn_at: object) -> Callable[[Any], object] | None:
    if given is None:
        return None
    if not callable(given):
        raise InvalidInputError(f"expected a function, got {type(given).__name__}", path="on_warning")
    if warn_at is None:
        raise InvalidInputError("has no effect without warn_at", path="on_warning", hint="For example: warn_at=0.8.")
    return cast("Callable[[Any], object]", given)


def checked_seconds(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < math.inf:
        raise InvalidInputError(f"expected seconds of at least 0, got {shown(given)}", path="max_wait")
    return float(given)


def checked_ledger(given: object, per: Period | None) -> BudgetLedger:
    """Returns where the sums are kept; those of a single call always in this process, which makes it."""
    if given is None:
        return MemoryLedger()
    if per == "call":
        raise InvalidInputError(
            "has no effect with per='call': what a single call costs is kept in its process",
            path="ledger",
            hint="Leave it out, or set per='day', or another window that processes share.",
        )
    methods = ("reserve", "settle", "release", "balance", "mark_warned")
    if hasattr(given, "blocks") and all(callable(getattr(given, name, None)) for name in methods):
        return cast("BudgetLedger", given)
    hint = "For example: ledger='budgets.db' or ledger='postgresql://user@host/database'."
    if isinstance(given, str):
        is_url = "://" in given
        if not (is_url or _is_path(given)):
            raise InvalidInputError(f"expected a path or a URL, got {shown(given)}", path="ledger", hint=hint)
        given = given if is_url else Path(given)
    if not isinstance(given, str | Path | database.Database):
        problem = f"expected a path, a URL or a ledger, got {type(given).__name__}"
        raise InvalidInputError(problem, path="ledger", hint=hint)
    from .database import DatabaseLedger

    return DatabaseLedger(given)


def _is_path(text: str) -> bool:
    """Whether a text may be meant as the path of a file: a word alone, and "sqlite:" without slashes, are not."""
    scheme, colon, _ = text.partition(":")
    return bool(Path(text).suffix or Path(text).name != text) and not (colon and len(scheme) > 1)
