"""Providers' reports of costs, requested over HTTP with the library's own transport: its proxies, certificates and
limits. Redirects are not followed, as requests have keys that may read all of an account's costs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import abstractcore
from abstractcore import AuthenticationError, ConfigurationError, ServerError
from abstractcore.concurrency import drive
from abstractcore.middleware import pause_after
from abstractcore.ports import CostReport, CostReportLine, CostReportPage, HasCostReport, Transport
from abstractcore.registry import Registry, failures_of
from abstractcore.schema import WireRequest, WireResponse
from abstractcore.scrubbing import Secrets

if TYPE_CHECKING:
    from abstractcore.traces import ReportDays

_STEP_SECONDS: Final = 60.0
_MOST_SECONDS: Final = 600.0
_MOST_BYTES: Final = 64 * 1024 * 1024
_MOST_PAGES: Final = 1_000
_MOST_RETRIES: Final = 2


@dataclass(slots=True)
class BilledAccount:
    """An account with a provider, and the providers whose calls are billed to it. `lines` are None until the report was
    read; `unread` describes what of it could not be.
    """

    report: CostReport
    providers: list[str] = field(default_factory=list[str])
    lines: list[CostReportLine] | None = None
    unread: list[str] = field(default_factory=list[str])
    error: abstractcore.AbstractCoreError | None = None

    @property
    def name(self) -> str:
        """The name of the account."""
        return self.report.account

    def key(self, environment: Mapping[str, str]) -> str | None:
        """Returns the key that may read the report, if one is set."""
        found = (environment.get(name, "").strip() for name in self.report.key_variables)
        return next(filter(None, found), None)


def accounts_of(registry: Registry) -> dict[str, BilledAccount]:
    """Returns the accounts of all providers that have a report, by name."""
    found: dict[str, BilledAccount] = {}
    for name, provider in registry.providers.items():
        if isinstance(provider, HasCostReport):
            with failures_of(f"the report of costs of {name!r} ({registry.owner('provider', name)})"):
                report = provider.cost_report()
            if report is not None:
                found.setdefault(report.account, BilledAccount(report)).providers.append(name)
    return found


def fetch_report(account: BilledAccount, days: ReportDays, base_url: str | None) -> None:
    """Reads the report of an account; sets its `lines`, or its `error`."""
    services = abstractcore.Services()
    key = account.key(services.environment)
    try:
        if key is None:
            raise AuthenticationError(
                f"{account.name}: no key for its report of costs.",
                hint=f"Set {account.report.key_variables[0]}. {account.report.key_help}",
            )
        if not (key.isascii() and key.isprintable()):
            names = " or ".join(account.report.key_variables)
            raise ConfigurationError(f"the key in {names} has characters that keys do not have.")
        drive(_read_pages(account, days, (base_url or account.report.url).rstrip("/"), key, services))
    except abstractcore.AbstractCoreError as error:
        error.provider = error.provider or account.name
        Secrets([key or ""]).error(error)
        account.error, account.lines = error, None
    finally:
        services.close()


async def _read_pages(
    account: BilledAccount, days: ReportDays, url: str, key: str, services: abstractcore.Services
) -> None:
    report = account.report
    until = None if days.until > days.today else days.until
    lines: list[CostReportLine] = []
    page: str | None = None
    seen: set[str] = set()
    ends = time.monotonic() + _MOST_SECONDS
    while True:
        request = report.request(key, days.since, until, page)
        found = await _read_page(report, request.with_url(url + request.url), services, ends)
        lines += found.lines
        account.unread += found.unread
        if found.next is None:
            account.lines = lines
            return
        if found.next in seen or len(seen) >= _MOST_PAGES:
            raise ServerError("the pages of the report have no end")
        seen.add(found.next)
        page = found.next


async def _read_page(
    report: CostReport, request: WireRequest, services: abstractcore.Services, ends: float
) -> CostReportPage:
    """Returns a page; asks again after transient failures, as calls of models do."""
    number = 1
    while True:
        try:
            response = await _exchange(services.sync_transport(), request, ends)
            with failures_of(f"the report of costs of {report.account!r}"):
                return report.read(response)
        except abstractcore.AbstractCoreError as error:
            pause = pause_after(error, number, services.random)
            if pause is None or number > _MOST_RETRIES or time.monotonic() + pause > ends:
                raise
        await services.sync_runtime.sleep(pause)
        number += 1


async def _exchange(transport: Transport, request: WireRequest, ends: float) -> WireResponse:
    body = await transport.open(request, _STEP_SECONDS)
    try:
        parts: list[bytes] = []
        size = 0
        while chunk := await body.read():
            parts.append(chunk)
            size += len(chunk)
            if size > _MOST_BYTES:
                raise ServerError("a page of the report is too large")
            if time.monotonic() > ends:
                raise ServerError(f"the report takes longer than {_MOST_SECONDS:.0f} s")
        return WireResponse(body.status, body.headers, b"".join(parts))
    finally:
        await body.close()
