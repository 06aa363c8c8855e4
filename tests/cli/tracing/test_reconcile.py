"""`abstractcore costs reconcile`: stored costs beside reports that a local server gives."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from abstractcore.testing.http_server import ReceivedRequest, ScriptedServer, answer
from abstractcore.traces import TraceStore
from tests.cli.tracing.traces import invoke
from tests.core.traces.stores import a_call, write

KEY = "sk-admin-0123456789abcdef"
KEYS = (
    "OPENAI_ADMIN_KEY",
    "ANTHROPIC_ADMIN_API_KEY",
    "ANTHROPIC_ADMIN_KEY",
    "OPENROUTER_MANAGEMENT_KEY",
    "OPENROUTER_PROVISIONING_KEY",
)
YESTERDAY = time.time() - 86_400
DAY = datetime.fromtimestamp(YESTERDAY, UTC).date()


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No keys of the environment."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A database with calls of yesterday, of four providers."""
    store = TraceStore(tmp_path / "traces.db")
    write(
        store,
        a_call(provider="openai", model="small", cost="1.5", at=YESTERDAY),
        a_call(provider="openai-responses", model="small", cost="0.5", at=YESTERDAY),
        a_call(provider="openai", model="small", cost=None, at=YESTERDAY),
        a_call(provider="anthropic", model="large-20260305", cost="0.25", at=YESTERDAY),
        a_call(provider="openrouter", model="acme/tiny", cost="0.125", at=YESTERDAY),
        a_call(provider="groq", model="other", cost="0.75", at=YESTERDAY),
    )
    store.close()
    return str(tmp_path / "traces.db")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server of reports."""
    with ScriptedServer() as running:
        yield running


def reconcile(place: str, server: ScriptedServer | None, provider: str, *more: str, **environment: str) -> Any:
    url = [] if server is None else ["--base-url", f"{server.url}/v1/"]
    arguments = ("--provider", provider, *url, "--since", "3d", "--store", place, *more)
    return invoke("costs", "reconcile", *arguments, **environment)


def rows(result: Any) -> list[list[str]]:
    return [line.split("\t") for line in result.stdout.splitlines()]


def openai_page(day: date, items: dict[str, Any], next_page: str | None = None) -> bytes:
    start = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    results = [
        {"amount": {"value": value, "currency": "usd"}, "line_item": item, "project_id": None}
        for item, value in items.items()
    ]
    bucket = {"object": "bucket", "start_time": start, "end_time": start + 86_400, "results": results}
    return answer({"object": "page", "data": [bucket], "has_more": next_page is not None, "next_page": next_page})


def test_pages_are_read_and_compared_by_day_and_model(place, server):
    pages = {
        None: openai_page(DAY, {"small-2026-03-05, input": 1.5, "web search tool calls": "0.01"}, "p2"),
        "p2": openai_page(DAY, {"small-2026-03-05, output": 0.75, "unused-1, input": 0.5}),
    }

    def script(request: ReceivedRequest) -> list[bytes]:
        assert (request.method, request.headers["authorization"]) == ("GET", f"Bearer {KEY}")
        assert urlsplit(request.target).path == "/v1/organization/costs"
        query = parse_qs(urlsplit(request.target).query)
        assert query["group_by[]"] == ["line_item"]
        return [pages[query.get("page", [None])[0]]]

    server.always_by(script)
    result = reconcile(place, server, "openai", OPENAI_ADMIN_KEY=KEY)
    assert result.exit_code == 0, result.output
    assert rows(result) == [
        ["openai/small", f"{DAY}", "$2.00", "-", "1 call", "$2.25", "+$0.250000",
         "1 call of unknown cost: a price or the usage is missing; other programs with keys of this account, calls "
         "that were not kept, or prices that have changed"],
        ["openai/unused-1", f"{DAY}", "-", "-", "-", "$0.500000", "+$0.500000",
         "other programs with keys of this account, or calls that were not kept"],
        ["openai: web search tool calls", f"{DAY}", "-", "-", "-", "$0.010000", "+$0.010000",
         "not of one model: it may be of calls that are in other rows"],
    ]  # fmt: skip
    first, *_ = result.stderr.splitlines()
    assert first.startswith("openai: $2.00 known, 1 call of unknown cost; billed: $2.76; difference: +$0.760000. ")
    assert len(server.requests) == 2


def test_json_has_exact_amounts(place, server):
    server.always(openai_page(DAY, {"small, input": "2.0000000000000001"}))
    data = json.loads(reconcile(place, server, "openai-responses", "--json", OPENAI_ADMIN_KEY=KEY).stdout)
    (row,) = data["rows"]
    assert (row["known"], row["billed"], row["difference"]) == ("2", "2.0000000000000001", "0.0000000000000001")
    assert (row["account"], row["day"], row["model"], row["calls"]) == ("openai", f"{DAY}", "small", 3)
    (account,) = data["accounts"]
    assert (account["report"], account["providers"]) == ("read", ["openai-responses", "openai"])
    assert (data["exit_code"], data["until"]) == (0, (DAY + timedelta(days=2)).isoformat())


def test_report_of_anthropic_is_in_cents(place, server):
    item = {"amount": "25", "currency": "USD", "description": "Large", "model": "large-20260305"}
    credit = {"amount": "-100", "currency": "USD", "description": "Promotional credit", "model": None}
    bucket = {"starting_at": f"{DAY}T00:00:00Z", "ending_at": "", "results": [item, credit]}
    server.always(answer({"data": [bucket], "has_more": False, "next_page": None}))
    result = reconcile(place, server, "anthropic", ANTHROPIC_ADMIN_API_KEY=KEY)
    assert [row[5:] for row in rows(result)] == [["$0.250000", "$0", ""], ["-$1.00", "-$1.00", "a credit"]]
    assert server.requests[0].headers["x-api-key"] == KEY


def test_activity_of_openrouter_has_no_pages(place, server):
    row = {"date": f"{DAY}", "model": "acme/tiny", "usage": 0.125, "provider_name": "Acme"}
    server.always(answer({"data": [row]}))
    result = reconcile(place, server, "openrouter", OPENROUTER_MANAGEMENT_KEY=KEY)
    assert [row[0] for row in rows(result)] == ["openrouter/acme/tiny"]
    assert rows(result)[0][5:] == ["$0.125000", "$0", ""]


def test_what_is_not_read_is_a_note(place, server):
    server.always(openai_page(DAY, {"small, input": "free"}))
    result = reconcile(place, server, "openai", OPENAI_ADMIN_KEY=KEY)
    assert f"openai: not read: small, input of {DAY}: 'free' is not an amount" in result.stderr.splitlines()


@pytest.mark.parametrize(
    ("status", "exit_code", "hint"),
    [(401, 3, "An admin key is needed"), (403, 3, "An admin key is needed"), (429, 3, ""), (500, 3, "")],
)
def test_refused_requests_teach_and_never_show_the_key(place, server, status, exit_code, hint):
    server.always(answer({"error": {"message": f"no access with {KEY}"}}, status, retry_after="0"))
    result = reconcile(place, server, "openai", OPENAI_ADMIN_KEY=KEY)
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert len(server.requests) == (3 if status in (429, 500) else 1)
    assert "no access" in result.stderr
    assert hint in result.stderr
    assert KEY not in result.output


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_page_is_asked_for_again_after_a_transient_failure(place, server, status):
    failures = [answer({"error": {"message": "later"}}, status, retry_after="0")] * 2
    for each in (*failures, openai_page(DAY, {"small, input": 2}, "p2"), failures[0], openai_page(DAY, {})):
        server.script(each)
    result = reconcile(place, server, "openai", OPENAI_ADMIN_KEY=KEY)
    assert (result.exit_code, rows(result)[0][5]) == (0, "$2.00")
    assert len({request.target for request in server.requests}) == 2
    assert len(server.requests) == 5


def test_page_that_may_be_asked_for_much_later_is_not_waited_for(place, server):
    server.always(answer({"error": {"message": "later"}}, 429, retry_after="3600"))
    result = reconcile(place, server, "openai", OPENAI_ADMIN_KEY=KEY)
    assert (result.exit_code, len(server.requests)) == (3, 1)
    assert "retry after 3600 s" in result.stderr


def test_redirects_are_not_followed(place, server):
    server.always(answer(b"", 302, location=f"{server.url}/elsewhere"))
    result = reconcile(place, server, "openai", OPENAI_ADMIN_KEY=KEY)
    assert (result.exit_code, len(server.requests)) == (3, 1)


def test_pages_without_an_end_are_an_error(place, server):
    server.always(openai_page(DAY, {}, "again"))
    result = reconcile(place, server, "openai", OPENAI_ADMIN_KEY=KEY)
    assert "the pages of the report have no end" in result.stderr
    assert (result.exit_code, len(server.requests)) == (3, 2)


def test_body_that_is_no_report_is_an_error(place, server):
    server.always(answer(b"<html>Sign in</html>", content_type="text/html"))
    result = reconcile(place, server, "openai", OPENAI_ADMIN_KEY=KEY)
    assert (result.exit_code, "the report is not JSON" in result.stderr) == (3, True)


def test_missing_key_is_a_usage_error_that_names_the_variable(place):
    result = reconcile(place, None, "openai")
    assert result.exit_code == 2
    assert "openai: no key for its report of costs" in result.stderr
    assert "Set OPENAI_ADMIN_KEY. An admin key is needed" in result.stderr


def test_key_with_a_line_break_is_refused(place, server):
    result = reconcile(place, server, "openai", OPENAI_ADMIN_KEY="sk\nx: y")
    assert (result.exit_code, server.requests) == (2, [])


def test_provider_without_a_report_is_an_error_and_a_typo_is_named(place):
    result = reconcile(place, None, "groq")
    assert result.exit_code == 2
    assert "'groq' has no report of costs" in result.stderr
    assert "anthropic, openai, openrouter" in result.stderr
    assert "Did you mean openai?" in reconcile(place, None, "opnai").stderr


def test_without_a_provider_all_accounts_are_asked_and_the_others_named(place, monkeypatch):
    from abstractcore_cli.tracing import reconciling

    def fetch(account: Any, days: Any, base_url: Any) -> None:
        if account.name == "openrouter":
            return original(account, days, base_url)
        account.lines = []
        return None

    original = reconciling.fetch_report
    monkeypatch.setattr(reconciling, "fetch_report", fetch)
    result = invoke("costs", "reconcile", "--store", place)
    assert result.exit_code == 0, result.output
    assert [row[0] for row in rows(result)] == ["anthropic/large-20260305", "openai/small", "openrouter/acme/tiny"]
    assert rows(result)[2][-1] == "the report could not be read"
    assert "Set OPENROUTER_MANAGEMENT_KEY." in result.stderr
    assert "groq: $0.750000 known; no report of costs." in result.stderr.splitlines()
    data = json.loads(invoke("costs", "reconcile", "--json", "--store", place).stdout)
    assert {account["account"]: account["report"] for account in data["accounts"]} == {
        "anthropic": "read",
        "openai": "read",
        "openrouter": "no key",
    }
    assert data["no_report"] == [{"provider": "groq", "known": "0.75", "estimated": "0", "unknown": 0}]


def test_report_that_fails_leaves_the_others_and_sets_the_exit_code(place, server, monkeypatch):
    from abstractcore_cli.tracing import reconciling

    def fetch(account: Any, days: Any, base_url: Any) -> None:
        original(account, days, f"{server.url}/{account.name}")

    original = reconciling.fetch_report
    monkeypatch.setattr(reconciling, "fetch_report", fetch)
    page = openai_page(DAY, {"small, input": 2})
    server.always_by(lambda request: [answer({}, 500, retry_after="0") if "anthropic" in request.target else page])
    keys = {"OPENAI_ADMIN_KEY": KEY, "ANTHROPIC_ADMIN_API_KEY": KEY}
    result = invoke("costs", "reconcile", "--store", place, **keys)
    assert result.exit_code == 3
    assert [(row[0], row[-1]) for row in rows(result)] == [
        ("anthropic/large-20260305", "the report could not be read"),
        ("openai/small", "1 call of unknown cost: a price or the usage is missing"),
        ("openrouter/acme/tiny", "the report could not be read"),
    ]
    assert "error: " in result.stderr


def test_no_account_is_an_error(tmp_path):
    store = TraceStore(tmp_path / "traces.db")
    write(store, a_call(at=YESTERDAY))
    store.close()
    result = invoke("costs", "reconcile", "--store", str(tmp_path / "traces.db"))
    assert (result.exit_code, "no stored costs of a provider with a report" in result.stderr) == (2, True)


def test_options_before_the_command_and_an_address_of_no_provider_are_usage_errors(place):
    result = invoke("costs", "--since", "1d", "reconcile", "--store", place)
    assert (result.exit_code, "write options after `costs reconcile`" in result.stderr) == (2, True)
    result = invoke("costs", "reconcile", "--base-url", "http://127.0.0.1:9", "--store", place)
    assert (result.exit_code, "no provider is named" in result.stderr) == (2, True)
