"""Reports of costs: OpenAI's costs, Anthropic's cost report, OpenRouter's activity.

Amounts are read as they are written, without a float between. What is not understood is kept as a line of its own.

Sources, as published in November 2026:

* OpenAI: developers.openai.com/api/reference, "Costs" of the organization: `start_time` and `end_time` in Unix seconds
  (the end is exclusive), `group_by`, 180 buckets a page. The list of a bucket is `results` in examples, `result` in the
  schema. `amount.value` is in `amount.currency`, a number, or a decimal text as the live API sends it. There is no
  field for a model. Line items as users of the API publish them are "MODEL, input", "MODEL, cached input", "MODEL,
  cache writes" and "MODEL, output", with "text", "audio" or "image" after the model, "priority | " and the like before
  it, and ", long context" at the end; others have no model: "web search tool calls".
* Anthropic: platform.claude.com/docs/en/api/admin/cost_report: `amount` is a decimal text in the lowest unit of
  `currency`, so that "123.45" in "USD" is $1.2345; 31 buckets a page. Costs of the Priority Tier are not in it.
* OpenRouter: openrouter.ai/docs, "Get user activity grouped by endpoint": the last 30 completed days in UTC, in one
  page; `usage` is what was charged, `byok_usage_inference` what the owner's own keys were charged elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from types import MappingProxyType
from typing import Any, Final, cast
from urllib.parse import urlencode

from abstractcore.errors import AccessDeniedError, AuthenticationError, ProviderError, ServerError
from abstractcore.ports import CostReport, CostReportLine, CostReportPage
from abstractcore.schema import WireRequest, WireResponse
from abstractcore.schema.base_error import shown
from abstractcore.schema.wire import response_message

from ..common.error_table import class_of, complete
from ..common.reading import Object, as_object, as_objects, mend_texts

_DOLLARS: Final = "USD"
_EXACT: Final = Context(prec=100)
_MOST_DIGITS: Final = 15
_LEAST_EXPONENT: Final = -40
_NO_ITEM: Final = "(no description)"
_LINE_ITEM: Final = re.compile(r"(?:[\w ]+ \| )?([a-z0-9][\w.:-]*)(?: (?:text|audio|image|video))?, \S.*")
"""OpenAI's line item of a model, whose name is the group."""


@dataclass(frozen=True, slots=True)
class OpenAICosts:
    """The costs of an organization of OpenAI, by line item."""

    account: str = "openai"
    url: str = "https://api.openai.com/v1"
    key_variables: Sequence[str] = ("OPENAI_ADMIN_KEY",)
    key_help: str = (
        "An admin key is needed, which owners of an organization make at "
        "https://platform.openai.com/settings/organization/admin-keys."
    )
    days_kept: int | None = None
    has_today: bool = True
    note: str = "The report is of all projects of the organization, by line items: some are not of one model."

    def request(self, key: str, since: date, until: date | None, page: str | None) -> WireRequest:
        """Returns the request of a page."""
        query: dict[str, object] = {"start_time": _unix(since), "bucket_width": "1d", "limit": 180}
        query |= {} if until is None else {"end_time": _unix(until)}
        query |= {"group_by[]": "line_item"} | ({} if page is None else {"page": page})
        return _get("/organization/costs", query, {"authorization": f"Bearer {key}"})

    def read(self, response: WireResponse) -> CostReportPage:
        """Returns a page."""
        data = _body(response, self.key_help)
        lines = _PageLines()
        for bucket in lines.objects(data, "data"):
            day = _day_of_seconds(bucket.get("start_time"))
            for result in lines.objects(bucket, "results" if "results" in bucket else "result"):
                amount = as_object(result.get("amount"))
                item = _text(result.get("line_item"))
                model = _LINE_ITEM.fullmatch(item or "")
                currency = (_text(amount.get("currency")) or _DOLLARS).upper()
                lines.add(day, item, amount.get("value"), currency, None if model is None else model[1])
        return lines.page(data)


@dataclass(frozen=True, slots=True)
class AnthropicCosts:
    """The cost report of an organization of Anthropic, by description."""

    account: str = "anthropic"
    url: str = "https://api.anthropic.com/v1"
    key_variables: Sequence[str] = ("ANTHROPIC_ADMIN_API_KEY", "ANTHROPIC_ADMIN_KEY")
    key_help: str = (
        "An admin key (sk-ant-admin...) is needed, which admins of an organization make at "
        "https://platform.claude.com/settings/admin-keys; individual accounts have none."
    )
    days_kept: int | None = None
    has_today: bool = True
    note: str = "The report is of all workspaces of the organization; costs of the Priority Tier are not in it."

    def request(self, key: str, since: date, until: date | None, page: str | None) -> WireRequest:
        """Returns the request of a page."""
        query: dict[str, object] = {"starting_at": f"{since}T00:00:00Z", "bucket_width": "1d", "limit": 31}
        if until is not None:  # a bucket is returned if it ends before this
            query["ending_at"] = f"{until + timedelta(days=1)}T00:00:00Z"
        query |= {"group_by[]": "description"} | ({} if page is None else {"page": page})
        return _get("/organizations/cost_report", query, {"x-api-key": key, "anthropic-version": "2023-06-01"})

    def read(self, response: WireResponse) -> CostReportPage:
        """Returns a page."""
        data = _body(response, self.key_help)
        lines = _PageLines()
        for bucket in lines.objects(data, "data"):
            day = _day_of_text(bucket.get("starting_at"))
            for result in lines.objects(bucket, "results"):
                item = _text(result.get("description")) or _text(result.get("cost_type"))
                currency = (_text(result.get("currency")) or _DOLLARS).upper()
                lines.add(day, item, result.get("amount"), currency, _text(result.get("model")), in_cents=True)
        return lines.page(data)


@dataclass(frozen=True, slots=True)
class OpenRouterActivity:
    """The activity of an account of OpenRouter, by model and endpoint."""

    account: str = "openrouter"
    url: str = "https://openrouter.ai/api/v1"
    key_variables: Sequence[str] = ("OPENROUTER_MANAGEMENT_KEY", "OPENROUTER_PROVISIONING_KEY")
    key_help: str = (
        "A management key is needed, which is made at https://openrouter.ai/settings/management-keys; a key for "
        "calls is refused."
    )
    days_kept: int | None = 30
    has_today: bool = False
    note: str = ""

    def request(self, key: str, since: date, until: date | None, page: str | None) -> WireRequest:
        """Returns the request of the only page, which has all days."""
        return _get("/activity", {}, {"authorization": f"Bearer {key}"})

    def read(self, response: WireResponse) -> CostReportPage:
        """Returns the page."""
        data = _body(response, self.key_help)
        lines = _PageLines()
        for row in lines.objects(data, "data"):
            model = _text(row.get("model")) or _text(row.get("model_permaslug"))
            day, item = (
                _day_of_text(row.get("date")),
                f"{model or _NO_ITEM} at {_text(row.get('provider_name')) or '?'}",
            )
            lines.add(day, item, row.get("usage"), _DOLLARS, model)
            if row.get("byok_usage_inference") not in (None, 0):
                lines.add(day, f"{item}, by a key of your own", row["byok_usage_inference"], _DOLLARS, model)
        return lines.page({})


COST_REPORTS: Mapping[str, CostReport] = MappingProxyType(
    {
        "openai": OpenAICosts(),
        "openai-responses": OpenAICosts(),
        "anthropic": AnthropicCosts(),
        "openrouter": OpenRouterActivity(),
    }
)
"""The reports by the names of providers."""


class _PageLines:
    """The lines of a page, and what could not be read."""

    def __init__(self) -> None:
        self._lines: list[CostReportLine] = []
        self._unread: list[str] = []

    def add(
        self,
        day: date | None,
        item: str | None,
        value: object,
        currency: str,
        model: str | None,
        *,
        in_cents: bool = False,
    ) -> None:
        """Adds a line. An amount in the lowest unit of another currency stays in it: not all have a hundred."""
        item = item or _NO_ITEM
        amount = _amount(value)
        if amount is None:
            self._unread.append(f"{item} of {day or 'a day that is not readable'}: {shown(value)} is not an amount")
            return
        if in_cents and currency == _DOLLARS:
            amount = _EXACT.scaleb(amount, -2)
        elif in_cents:
            currency = f"{currency} (lowest unit)"
        self._lines.append(CostReportLine(day, item, amount, currency, model))

    def objects(self, data: Object, name: str) -> list[Object]:
        """Returns the objects in a list; what else is there counts as not read."""
        found = as_objects(data.get(name))
        given: object = data.get(name)
        if not isinstance(given, list) or len(found) < len(cast("list[Any]", given)):
            self._unread.append(f"not a list of objects: {name!r}: {shown(data.get(name))}")
        return found

    def page(self, data: Object) -> CostReportPage:
        """Returns the page, with the token of the next one in `data`."""
        following = _text(data.get("next_page")) if data.get("has_more") is True else None
        if following is None and data.get("has_more") is True:
            self._unread.append("there are more pages, and no token for the next one")
        return CostReportPage(tuple(self._lines), following, tuple(self._unread))


def _get(path: str, query: Mapping[str, object], headers: Mapping[str, str]) -> WireRequest:
    url = f"{path}?{urlencode(query)}" if query else path
    return WireRequest(url, {"accept": "application/json", **headers}, b"", "GET")


def _body(response: WireResponse, key_help: str) -> Object:
    """Returns the object in a response; raises the errors of `CostReport.read`."""
    if response.status != 200:
        raise _error(response, key_help)
    try:
        data: Any = json.loads(response.body.decode("utf-8-sig"), parse_float=Decimal, parse_constant=lambda name: None)
    except (ValueError, RecursionError):
        raise ServerError("the report is not JSON", status=response.status) from None
    report = as_object(mend_texts(data))
    if not isinstance(report.get("data"), list):
        raise ServerError(f"the report has no list 'data': {shown(data)}", status=response.status)
    return report


def _error(response: WireResponse, key_help: str) -> ProviderError:
    error = class_of(response.status)(response_message(response, "provider"), status=response.status)
    if isinstance(error, AuthenticationError | AccessDeniedError):
        error.hint = key_help
    return complete(error, response)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _amount(value: object) -> Decimal | None:
    """Returns a number, or one in a text; None for anything else, and for a number that is absurdly large or long."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        return None
    try:
        amount = Decimal(value)
    except ArithmeticError:
        return None
    exponent = amount.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < _LEAST_EXPONENT or amount.adjusted() > _MOST_DIGITS:
        return None
    return amount


def _unix(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def _day_of_seconds(value: Any) -> date | None:
    try:
        return datetime.fromtimestamp(float(value), UTC).date()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _day_of_text(value: object) -> date | None:
    """Returns the day of "2026-11-28", with or without a time in UTC."""
    try:
        return date.fromisoformat((_text(value) or "")[:10])
    except ValueError:
        return None
