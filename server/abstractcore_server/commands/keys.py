"""`abstractcore keys`: makes, lists, revokes and rotates the keys of the server's clients."""

from __future__ import annotations

import importlib.util
import re
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import abstractcore
from abstractcore.schema import install_hint
from abstractcore_cli.toolkit import json_line, note, repeated_in_hints, reported, show_table, write

if TYPE_CHECKING:
    from ..store import AccessKey, IssuedKey, Keys

_DOLLARS = ("$/day", "spent today", "$/month", "spent this month")

_VARIABLE = "ABSTRACTCORE_SERVER_DATABASE"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d{1,6})([smhd])")


@dataclass(frozen=True, slots=True)
class KeyOptions:
    """The options of `abstractcore keys create`. Without a value, nothing is limited."""

    models: tuple[str, ...] = ()
    expires: str | None = None
    tags: tuple[str, ...] = ()
    requests: int | None = None
    tokens: int | None = None
    parallel: int | None = None
    usd_per_day: float | None = None
    usd_per_month: float | None = None


def create(name: str, options: KeyOptions, database: str | None, *, as_json: bool) -> None:
    """Makes a key and prints its secret."""
    with reported(as_json=as_json), _open_keys(database) as keys:
        from ..store import KeyLimits

        is_first = not keys.all()
        issued = keys.create(
            name,
            models=options.models or None,
            tags=_tags(options.tags),
            limits=KeyLimits(
                options.requests,
                options.tokens,
                options.parallel,
                _dollars(options.usd_per_day),
                _dollars(options.usd_per_month),
            ),
            expires=None if options.expires is None else _time(options.expires, time.time()),
        )
        _show_issued(issued, as_json=as_json)
        if is_first and database is None and not as_json:
            note(
                "this is the first key: restart servers that were started without keys, which still accept every client"
            )


def rotate(name: str, overlap: str | None, database: str | None, *, as_json: bool) -> None:
    """Gives a key a new secret and prints it."""
    with reported(as_json=as_json), _open_keys(database) as keys:
        seconds = 0 if overlap is None else _seconds(overlap, "overlap")
        _show_issued(keys.rotate(name, overlap=seconds), as_json=as_json)


def revoke(name: str, database: str | None, *, as_json: bool) -> None:
    """Makes a key invalid."""
    with reported(as_json=as_json), _open_keys(database) as keys:
        key = keys.revoke(name)
        if as_json:
            write(json_line({"key": _as_data(key), "exit_code": 0}))
        else:
            note(f"the key {key.name} is revoked")


def show_keys(database: str | None, *, as_json: bool) -> None:
    """Prints all keys, without their secrets."""
    with reported(as_json=as_json), _open_keys(database) as keys:
        found = keys.all()
        spent = _spent(keys, found)
        if as_json:
            data = [
                _as_data(key) | {"spent": {per: f"{usd:f}" for per, usd in spent[key.name].items()}} for key in found
            ]
            write(json_line({"keys": data, "exit_code": 0}))
        elif not found:
            note("there are no keys; to make one: abstractcore keys create NAME")
        else:
            dollars = _DOLLARS if any(key.limits.dollars for key in found) else ()
            headers = ("name", "begins with", "models", "requests/min", "tokens/min", "at once", "expires", "state")
            rows = [_row(key, spent[key.name] if dollars else None) for key in found]
            show_table((*headers, *dollars), rows)


@contextmanager
def _open_keys(database: str | None) -> Generator[Keys]:
    if importlib.util.find_spec("sqlalchemy") is None:
        raise abstractcore.MissingExtraError(
            "`abstractcore keys` requires sqlalchemy, which is not installed.",
            hint=install_hint("sqlalchemy", extra="server"),
        )
    from abstractcore.database import DatabaseError

    from ..store import Keys, Store, default_file

    try:
        store = Store(default_file() if database is None else database)
        try:
            with repeated_in_hints("keys", "--database", database, _VARIABLE):
                yield Keys(store)
        finally:
            store.close()
    except DatabaseError as error:
        raise abstractcore.ConfigurationError(
            f"the database cannot be used: {error.message}",
            hint=error.hint or "Check the folder or the server that --database names.",
        ) from None


def _show_issued(issued: IssuedKey, *, as_json: bool) -> None:
    if as_json:
        write(json_line({"secret": issued.secret, "key": _as_data(issued.key), "exit_code": 0}))
        return
    write(f"{issued.secret}\n")
    note(f"this is the key {issued.key.name}; it is not shown again")


def _as_data(key: AccessKey) -> dict[str, object]:
    times = {name: _date(getattr(key, name)) for name in ("created", "expires", "revoked")}
    limits = asdict(key.limits)
    for name in ("usd_per_day", "usd_per_month"):
        limits[name] = None if limits[name] is None else f"{limits[name]:f}"
    return {**asdict(key), "limits": limits, **times, "state": _state(key)}


def _spent(keys: Keys, found: Sequence[AccessKey]) -> dict[str, dict[str, Decimal]]:
    """Returns what the calls of keys with limits of dollars have cost in this day and this month, by their names."""
    from abstractcore.budgets import DatabaseLedger

    from ..access.stored_keys import key_budgets

    ledger = DatabaseLedger(keys.database) if any(key.limits.dollars for key in found) else None
    return {
        key.name: {}
        if ledger is None
        else {str(budget.per): budget.state().spent for budget in key_budgets(key, ledger)}
        for key in found
    }


def _row(key: AccessKey, spent: Mapping[str, Decimal] | None) -> Sequence[str]:
    limits = (key.limits.requests_per_minute, key.limits.tokens_per_minute, key.limits.parallel)
    models = "all" if key.models is None else ", ".join(key.models)
    counts = ["-" if each is None else str(each) for each in limits]
    given = key.limits.dollars
    amounts = [] if spent is None else [each.get(per) for per in ("day", "month") for each in (given, spent)]
    dollars = ["-" if each is None else f"{each:f}" for each in amounts]
    return (key.name, ", ".join(key.prefixes), models, *counts, _date(key.expires) or "never", _state(key), *dollars)


def _state(key: AccessKey) -> str:
    if key.revoked is not None:
        return "revoked"
    return "expired" if key.expires is not None and key.expires <= time.time() else "valid"


def _date(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _dollars(given: float | None) -> Decimal | None:
    return None if given is None else Decimal(str(given)).normalize()


def _seconds(text: str, option: str) -> int:
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        date = ", or a date such as 2027-01-31" if option == "expires" else ""
        hint = f"Write --{option} 90d, 12h, 30m or 60s{date}."
        raise abstractcore.InvalidInputError(f"{text[:100]!r} is not a time", path=option, hint=hint)
    return int(match[1]) * _UNITS[match[2]]


def _time(text: str, now: float) -> float:
    """Returns a time of the future, in seconds since the epoch, of a duration or a date, which is of UTC."""
    try:
        given = datetime.fromisoformat(text.strip())
    except ValueError:
        ends = now + _seconds(text, "expires")
    else:
        ends = (given if given.tzinfo is not None else given.replace(tzinfo=UTC)).timestamp()
    if ends <= now:
        raise abstractcore.InvalidInputError(f"{text!r} is in the past", path="expires")
    return ends


def _tags(texts: Sequence[str]) -> dict[str, str]:
    tags: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise abstractcore.InvalidInputError(
                f"{text[:100]!r} is not a tag", path="tag", hint="Write --tag NAME=VALUE."
            )
        tags[name.strip()] = value.strip()
    return tags
