"""`CostReport`: what a provider says that an account was billed, by day. Pure: requests and responses are data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Protocol, runtime_checkable

from ..schema import WireRequest, WireResponse


@dataclass(frozen=True, slots=True)
class CostReportLine:
    """One amount of a report; negative for a credit. `item` is what the provider calls it.

    `day` is in UTC; None if it cannot be read. `model` is the model that was used; None for what is not of one model,
    or for an item that is not understood. `amount` is in US dollars if `currency` is "USD"; in another currency it is
    the number of the report, in the unit that `currency` names.
    """

    day: date | None
    item: str
    amount: Decimal
    currency: str = "USD"
    model: str | None = None


@dataclass(frozen=True, slots=True)
class CostReportPage:
    """One page of a report. `next` is the token of the next one. `unread` describes what has no amount to be read."""

    lines: Sequence[CostReportLine]
    next: str | None = None
    unread: Sequence[str] = ()


class CostReport(Protocol):
    """The report of one kind of account, and how it is requested. No I/O."""

    @property
    def account(self) -> str:
        """The name of the account: that of a provider. Providers that are billed together have the same."""
        ...

    @property
    def url(self) -> str:
        """The base URL of the API."""
        ...

    @property
    def key_variables(self) -> Sequence[str]:
        """Environment variables with a key that may read the report, the vendor's own first."""
        ...

    @property
    def key_help(self) -> str:
        """A sentence: which kind of key is needed, and where it is made."""
        ...

    @property
    def days_kept(self) -> int | None:
        """How many days before today are in the report; None for no limit."""
        ...

    @property
    def has_today(self) -> bool:
        """Whether the report has the day that is not over yet."""
        ...

    @property
    def note(self) -> str:
        """A sentence on what the report leaves out; may be empty."""
        ...

    def request(self, key: str, since: date, until: date | None, page: str | None) -> WireRequest:
        """Returns the request of a page, with a path in place of the URL: days from `since` to before `until`, or to
        now. A page may have days beyond these.
        """
        ...

    def read(self, response: WireResponse) -> CostReportPage:
        """Returns a page. Raises a `ProviderError` for an error status, and `ServerError` for a body that is not one
        of this report.
        """
        ...


@runtime_checkable
class HasCostReport(Protocol):
    """A provider that may report what was billed. Providers may implement it."""

    def cost_report(self) -> CostReport | None:
        """Returns its report; None if the vendor has none."""
        ...
