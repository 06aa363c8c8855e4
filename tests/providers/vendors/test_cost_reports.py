"""Reports of costs as vendors publish them: requests, pages, amounts, and what is not understood."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import AccessDeniedError, AuthenticationError, ProviderError, RateLimitError, ServerError
from abstractcore.ports import CostReport, CostReportLine, CostReportPage, HasCostReport
from abstractcore.registry import Registry
from abstractcore.schema import WireResponse
from abstractcore_providers.vendors.cost_reports import COST_REPORTS

DAY = date(2026, 11, 27)
DAY_SECONDS = 1_795_737_600
NAMES = ("openai", "anthropic", "openrouter")


def read(name: str, body: Any, status: int = 200) -> CostReportPage:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return COST_REPORTS[name].read(WireResponse(status, {}, data))


def openai_page(*results: Any, **more: Any) -> dict[str, Any]:
    bucket = {"object": "bucket", "start_time": DAY_SECONDS, "end_time": DAY_SECONDS + 86_400, "results": [*results]}
    return {"object": "page", "data": [bucket], "has_more": False, "next_page": None, **more}


def openai_result(value: Any, line_item: str | None = None, currency: str = "usd") -> dict[str, Any]:
    amount = {"value": value, "currency": currency}
    return {"object": "organization.costs.result", "amount": amount, "line_item": line_item, "project_id": None}


def anthropic_page(*results: Any, **more: Any) -> dict[str, Any]:
    bucket = {"starting_at": f"{DAY}T00:00:00Z", "ending_at": "2026-11-28T00:00:00Z", "results": [*results]}
    return {"data": [bucket], "has_more": False, "next_page": None, **more}


def anthropic_result(amount: Any, **more: Any) -> dict[str, Any]:
    fields = {
        "amount": amount,
        "context_window": "0-200k",
        "cost_type": "tokens",
        "currency": "USD",
        "description": "Claude Sonnet 4 Usage - Input Tokens",
        "model": "claude-sonnet-4-20250514",
        "service_tier": "standard",
        "token_type": "uncached_input_tokens",
        "workspace_id": None,
    }
    return fields | more


def openrouter_row(**more: Any) -> dict[str, Any]:
    fields = {
        "date": "2026-11-27",
        "model": "openai/gpt-4.1",
        "model_permaslug": "openai/gpt-4.1-2025-04-14",
        "endpoint_id": "550e8400-e29b-41d4-a716-446655440000",
        "provider_name": "OpenAI",
        "usage": 0.015,
        "byok_usage_inference": 0,
        "requests": 5,
        "prompt_tokens": 50,
        "completion_tokens": 125,
        "reasoning_tokens": 25,
    }
    return fields | more


def test_providers_that_are_billed_together_have_one_account():
    providers = Registry.from_entry_points().providers
    reports = {name: each.cost_report() for name, each in providers.items() if isinstance(each, HasCostReport)}
    accounts = {name: report.account for name, report in reports.items() if report is not None}
    assert accounts == {
        "openai": "openai",
        "openai-responses": "openai",
        "anthropic": "anthropic",
        "openrouter": "openrouter",
    }


@pytest.mark.parametrize(
    ("name", "until", "page", "url", "header"),
    [
        (
            "openai", date(2026, 11, 29), "a&b",
            f"/organization/costs?start_time={DAY_SECONDS}&bucket_width=1d&limit=180&end_time={DAY_SECONDS + 172_800}"
            "&group_by%5B%5D=line_item&page=a%26b",
            ("authorization", "Bearer k"),
        ),
        (
            "anthropic", date(2026, 11, 29), "p",
            "/organizations/cost_report?starting_at=2026-11-27T00%3A00%3A00Z&bucket_width=1d&limit=31"
            "&ending_at=2026-11-30T00%3A00%3A00Z&group_by%5B%5D=description&page=p",
            ("x-api-key", "k"),
        ),
        (
            "anthropic", None, None,
            "/organizations/cost_report?starting_at=2026-11-27T00%3A00%3A00Z&bucket_width=1d&limit=31"
            "&group_by%5B%5D=description",
            ("anthropic-version", "2023-06-01"),
        ),
        ("openrouter", None, None, "/activity", ("authorization", "Bearer k")),
    ],
)  # fmt: skip
def test_request_has_the_days_the_page_and_the_key(name, until, page, url, header):
    request = COST_REPORTS[name].request("k", DAY, until, page)
    assert (request.method, request.url, request.headers[header[0]]) == ("GET", url, header[1])


@pytest.mark.parametrize(
    ("line_item", "model"),
    [
        ("gpt-5.4-mini-2026-03-17, input", "gpt-5.4-mini-2026-03-17"),
        ("gpt-5.4-mini-2026-03-17, cached input", "gpt-5.4-mini-2026-03-17"),
        ("priority | gpt-5.4, output, long context", "gpt-5.4"),
        ("gpt-image-1 text, cached input", "gpt-image-1"),
        ("whisper-1, audio", "whisper-1"),
        ("web search tool calls", None),
        ("Image models", None),
        ("Vector storage, GB-days", None),
        (None, None),
    ],
)
def test_line_item_of_openai_names_a_model_or_is_a_line_of_its_own(line_item, model):
    (line,) = read("openai", openai_page(openai_result(0.06, line_item))).lines
    assert line == CostReportLine(DAY, line_item or "(no description)", Decimal("0.06"), "USD", model)


@pytest.mark.parametrize("value", ["0.1", "0.1000000000000000000000001", "-2.5", "0", "1e-12"])
def test_amounts_are_exact_as_numbers_and_as_texts(value):
    as_number = json.dumps(openai_page(openai_result(0))).replace('"value": 0', f'"value": {value}').encode()
    for body in (as_number, openai_page(openai_result(value))):
        assert read("openai", body).lines[0].amount == Decimal(value)


def test_amounts_of_anthropic_are_cents():
    page = read("anthropic", anthropic_page(anthropic_result("123.45"), anthropic_result("-50")))
    assert [line.amount for line in page.lines] == [Decimal("1.2345"), Decimal("-0.5")]
    assert (page.lines[0].day, page.lines[0].model) == (DAY, "claude-sonnet-4-20250514")


def test_what_is_not_of_a_model_has_the_words_of_the_report():
    search = anthropic_result("10", cost_type="web_search", description="Web Search Usage", model=None, token_type=None)
    unknown = {"amount": "3", "cost_type": "moon_travel", "currency": "USD"}
    lines = read("anthropic", anthropic_page(search, unknown)).lines
    assert [(line.item, line.model) for line in lines] == [("Web Search Usage", None), ("moon_travel", None)]


def test_other_currencies_keep_the_number_of_the_report():
    assert read("openai", openai_page(openai_result(2, "x", "eur"))).lines[0].currency == "EUR"
    (line,) = read("anthropic", anthropic_page(anthropic_result("500", currency="JPY"))).lines
    assert (line.amount, line.currency) == (Decimal(500), "JPY (lowest unit)")


def test_activity_of_openrouter_has_what_own_keys_were_charged():
    rows = [openrouter_row(), openrouter_row(date="2026-11-27 00:00:00", usage=0.001, byok_usage_inference=0.02)]
    page = read("openrouter", {"data": rows})
    assert [(line.day, line.model, line.amount) for line in page.lines] == [
        (DAY, "openai/gpt-4.1", Decimal("0.015")),
        (DAY, "openai/gpt-4.1", Decimal("0.001")),
        (DAY, "openai/gpt-4.1", Decimal("0.02")),
    ]
    assert page.lines[2].item == "openai/gpt-4.1 at OpenAI, by a key of your own"


@pytest.mark.parametrize(("name", "page"), [("openai", openai_page), ("anthropic", anthropic_page)])
def test_pages_name_the_next_one_and_days_may_be_empty(name: str, page: Callable[..., Any]):
    found = read(name, page(has_more=True, next_page="p2"))
    assert (found.lines, found.next, found.unread) == ((), "p2", ())
    assert read(name, page(has_more=False, next_page="p2")).next is None
    assert read(name, {"data": []}) == CostReportPage(())


def test_pages_without_a_token_are_reported_as_not_read():
    found = read("openai", openai_page(has_more=True))
    assert (found.next, found.unread) == (None, ("there are more pages, and no token for the next one",))


@pytest.mark.parametrize("amount", [None, True, "", "much", "NaN", "Infinity", "1e400", "1e-300", [], {}])
def test_what_has_no_amount_is_described_and_the_rest_is_read(amount):
    found = read("anthropic", anthropic_page(anthropic_result(amount), anthropic_result("100")))
    assert [line.amount for line in found.lines] == [1]
    assert len(found.unread) == 1
    assert found.unread[0].startswith("Claude Sonnet 4 Usage - Input Tokens of 2026-11-27: ")


def test_list_of_openai_may_have_the_name_that_the_schema_has():
    bucket = {"start_time": DAY_SECONDS, "result": [openai_result(1)]}
    assert read("openai", {"data": [bucket]}).lines[0].amount == 1


def test_what_is_no_object_is_described():
    found = read("openai", {"data": [7, {"start_time": "x", "results": None}, {"results": [None, openai_result(1)]}]})
    assert [(line.day, line.amount) for line in found.lines] == [(None, Decimal(1))]
    assert len(found.unread) == 3


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("body", [b"", b"<html>", b"null", b"[]", b'{"data": {}}', b'{"error": "x"}', b"[" * 100_000])
def test_body_that_is_no_report_is_a_server_error(name, body):
    with pytest.raises(ServerError, match=r"the report (is not JSON|has no list 'data')"):
        read(name, body)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, AuthenticationError), (403, AccessDeniedError), (429, RateLimitError), (500, ServerError)],
)
def test_error_statuses_have_the_errors_of_calls_and_teach_which_key_is_needed(name, status, kind):
    with pytest.raises(kind, match="Only for admins") as caught:
        read(name, {"error": {"message": "Only for admins"}}, status)
    report: CostReport = COST_REPORTS[name]
    error: ProviderError = caught.value
    assert (error.status, error.hint == report.key_help) == (status, status in (401, 403))
