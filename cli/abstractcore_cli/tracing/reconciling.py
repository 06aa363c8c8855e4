"""`abstractcore costs reconcile`: stored costs beside those that providers have billed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import typer

import abstractcore
from abstractcore import ConfigurationError
from abstractcore.schema.amounts import counted, dollars, sums

from ..exit_codes import exit_code
from ..plugins import registry
from ..reporting import json_line, print_error, reported
from ..screen import note, show_table, write
from .cost_reports import BilledAccount, accounts_of, fetch_report
from .stores import opened

if TYPE_CHECKING:
    from abstractcore.traces import CostRow, ReconciledCost, ReportDays

_COLUMNS: Final = ("model", "day", "known", "estimated", "unknown", "billed", "difference", "likely cause")


@dataclass(frozen=True, slots=True)
class ReconcileOptions:
    """The options of `costs reconcile`. `provider` None means all with stored costs or a key."""

    since: str
    until: str | None
    provider: str | None
    base_url: str | None


def reconcile_costs(options: ReconcileOptions, place: str | None, *, as_json: bool) -> None:
    """Prints stored costs beside the reports of providers, by day and model; exits with 1 if a report fails."""
    with reported(as_json=as_json), opened(place) as store:
        from abstractcore.traces import RECONCILED_BY, ReportDays

        days = ReportDays.of(options.since, options.until)
        rows = store.costs(by=RECONCILED_BY, since=_midnight(days.since), until=_midnight(days.until))
        used = {row.group["provider"] for row in rows}
        chosen = _chosen(options, used)
        for account in chosen:
            fetch_report(account, days, options.base_url)
        failed = [account for account in chosen if account.error is not None and not _lacks_key(account)]
        if all(account.lines is None for account in chosen):
            _raise_first(chosen)
        found = {account.name: _compared(account, rows, days) for account in chosen}
        code = exit_code(failed[0].error) if failed and failed[0].error is not None else 0
        others = _without_report(rows, chosen, options)
        if as_json:
            write(json_line(_facts(chosen, found, others, days) | {"exit_code": code}))
        else:
            _show(chosen, found, others)
        if code:
            raise typer.Exit(code)


def _chosen(options: ReconcileOptions, used: set[str | None]) -> list[BilledAccount]:
    """Returns the accounts to compare: that of a provider, else those with stored costs or a key."""
    plugins = registry()
    accounts = accounts_of(plugins)
    if options.provider is None:
        if options.base_url is not None:
            raise abstractcore.InvalidInputError("no provider is named", path="--base-url", hint="Add --provider NAME.")
        environment = abstractcore.Services().environment
        return [each for each in accounts.values() if each.key(environment) or not used.isdisjoint(each.providers)]
    plugins.provider(options.provider)
    chosen = [account for account in accounts.values() if options.provider in account.providers]
    if not chosen:
        raise ConfigurationError(
            f"{options.provider!r} has no report of costs.", hint=f"Those that have one: {', '.join(sorted(accounts))}."
        )
    return chosen


def _compared(account: BilledAccount, rows: Sequence[CostRow], days: ReportDays) -> list[ReconciledCost]:
    from abstractcore.traces import reconcile

    ours = [row for row in rows if row.group["provider"] in account.providers]
    found = reconcile(ours, account.lines or (), account.report, days)
    if account.lines is None:
        for each in found:
            each.causes = ["the report could not be read"]
    return found


def _raise_first(chosen: Sequence[BilledAccount]) -> None:
    """Raises the error of the first report that failed, else of a missing key; and one if there is no account."""
    errors = [account.error for account in sorted(chosen, key=_lacks_key) if account.error is not None]
    if not errors:
        names = ", ".join(sorted(accounts_of(registry())))
        raise ConfigurationError(
            "there are no stored costs of a provider with a report of costs in these days.",
            hint=f"Name one with --provider: {names}.",
        )
    for error in errors[1:]:
        print_error(error)
    raise errors[0]


def _lacks_key(account: BilledAccount) -> bool:
    """Returns whether an account was not asked for its report, since no key is set."""
    error = account.error
    return isinstance(error, abstractcore.AuthenticationError) and error.status is None


def _without_report(
    rows: Sequence[CostRow], chosen: Sequence[BilledAccount], options: ReconcileOptions
) -> dict[str, list[CostRow]]:
    """Returns stored costs of the providers that have no report."""
    if options.provider is not None:
        return {}
    known = {name for account in chosen for name in account.providers}
    found: dict[str, list[CostRow]] = {}
    for row in rows:
        name, costs = row.group["provider"], row.costs
        if name is not None and name not in known and (costs.known or costs.estimated or costs.unknown):
            found.setdefault(name, []).append(row)
    return found


def _show(
    chosen: Sequence[BilledAccount], found: dict[str, list[ReconciledCost]], others: dict[str, list[CostRow]]
) -> None:
    from abstractcore.traces import CostSums, ReconciledCost

    show_table(_COLUMNS, [_cells(row) for account in chosen for row in found[account.name]])
    for account in chosen:
        if account.error is not None:
            if _lacks_key(account):
                note(str(account.error))
            else:
                print_error(account.error)
            continue
        total = ReconciledCost.total(account.name, found[account.name])
        billed = f"billed: {_billed(total)}; difference: {_signed(total.difference)}"
        note(f"{account.name}: {sums(total.ours)}; {billed}. {account.report.note}".rstrip())
        for each in account.unread:
            note(f"{account.name}: not read: {each}")
    for name, rows in others.items():
        note(f"{name}: {sums(sum((row.costs for row in rows), CostSums()))}; no report of costs.")


def _cells(row: ReconciledCost) -> tuple[str, ...]:
    return (
        f"{row.account}/{row.model}" if row.model is not None else f"{row.account}: {', '.join(row.items)}",
        "?" if row.day is None else row.day.isoformat(),
        dollars(row.ours.known) if row.calls else "-",
        f"about {dollars(row.ours.estimated)}" if row.ours.estimated else "-",
        counted(row.ours.unknown, "call") if row.ours.unknown else "-",
        _billed(row),
        _signed(row.difference),
        "; ".join(row.causes),
    )


def _billed(row: ReconciledCost) -> str:
    """Returns what was billed, in all currencies."""
    parts = [] if row.billed is None else [_signed(row.billed, plus="")]
    parts += [f"{amount:f} {currency}" for currency, amount in row.other_currencies.items()]
    return " + ".join(parts) or "-"


def _signed(amount: Decimal | None, plus: str = "+") -> str:
    if amount is None:
        return "-"
    sign = "-" if amount < 0 else plus if amount else ""
    return f"{sign}{dollars(abs(amount))}"


def _facts(
    chosen: Sequence[BilledAccount],
    found: dict[str, list[ReconciledCost]],
    others: dict[str, list[CostRow]],
    days: ReportDays,
) -> dict[str, Any]:
    from abstractcore.traces import CostSums, ReconciledCost

    accounts = [
        {
            "account": account.name,
            "providers": account.providers,
            "report": "no key" if _lacks_key(account) else "read" if account.error is None else "failed",
            "error": None if account.error is None else str(account.error),
            "note": account.report.note,
            "not_read": account.unread,
            "total": _amounts(ReconciledCost.total(account.name, found[account.name])),
        }
        for account in chosen
    ]
    rows = [
        {
            "account": row.account,
            "day": None if row.day is None else row.day.isoformat(),
            "model": row.model,
            "items": row.items,
            **_amounts(row),
            "causes": row.causes,
        }
        for account in chosen
        for row in found[account.name]
    ]
    without = [(name, sum((row.costs for row in rows), CostSums())) for name, rows in others.items()]
    no_report = [
        {"provider": name, "known": f"{each.known:f}", "estimated": f"{each.estimated:f}", "unknown": each.unknown}
        for name, each in without
    ]
    since, until = days.since.isoformat(), days.until.isoformat()
    return {"since": since, "until": until, "rows": rows, "accounts": accounts, "no_report": no_report}


def _amounts(row: ReconciledCost) -> dict[str, Any]:
    return {
        "known": f"{row.ours.known:f}",
        "estimated": f"{row.ours.estimated:f}",
        "unknown": row.ours.unknown,
        "calls": row.calls,
        "billed": None if row.billed is None else f"{row.billed:f}",
        "difference": None if row.difference is None else f"{row.difference:f}",
        "other_currencies": {currency: f"{amount:f}" for currency, amount in row.other_currencies.items()},
    }


def _midnight(day: Any) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
