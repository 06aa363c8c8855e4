"""Budgets of the configuration and of keys: what counts, and what clients get when there is no room."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from websockets.sync.client import connect

from abstractcore import Budget, BudgetExceededError, ConfigurationError, Price, create_llm
from abstractcore.budgets import DatabaseLedger
from abstractcore.database import DatabaseError
from abstractcore_server import (
    Application,
    BudgetSettings,
    ModelSettings,
    ServerSettings,
    Settings,
    read_settings,
)
from abstractcore_server.access.budgets import RequestBudgets
from abstractcore_server.access.stored_keys import StoredKeys
from abstractcore_server.store import KeyLimits, Keys, Store
from tests.chaos_server import PATIENCE_SECONDS, answer, completion, completion_body
from tests.documents import ROOT
from tests.leftovers import wait_until
from tests.server.serving import Served, serving

MODEL = "openai/gpt-4.1"
QUESTION: Any = [{"role": "user", "content": "canary-question"}]
COST = Decimal("0.000022")
"""What an answer of the vendor costs: 3 tokens in, 2 out."""
ROOM = Decimal("0.0002")
"""Room for an answer of at most 10 tokens, and not for one of 100."""
DAY_SECONDS = 86_400


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store(tmp_path_factory.mktemp("budgets") / "server.db")
    yield store
    store.close()


@pytest.fixture(scope="module")
def keys(store: Store) -> Keys:
    return Keys(store)


@pytest.fixture(scope="module")
def access(store: Store) -> StoredKeys:
    return StoredKeys(store)


@pytest.fixture(scope="module")
def audit_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.jsonl"


@pytest.fixture(scope="module")
def running(access: StoredKeys, audit_log: Path) -> Iterator[Served]:
    settings = Settings(
        ServerSettings(audit_log=str(audit_log)),
        models={"either": ModelSettings((MODEL, "openai-responses/gpt-4.1"))},
        budgets={
            "each": BudgetSettings(0.0002, "day", by="key", keys=("each-*",)),
            "models": BudgetSettings(0.0002, by="model", keys=("group",)),
            "watched": BudgetSettings(5.0, "day", keys=("watched",)),
            "teams": BudgetSettings(0.0002, by="tag:team", keys=("team-*",)),
        },
    )
    with serving(settings, access=access) as served:
        yield served


def key_with(keys: Keys, name: str, usd: Decimal | None = ROOM, **more: Any) -> str:
    """Returns the secret of a new key."""
    return keys.create(name, limits=KeyLimits(usd_per_day=usd), **more).secret


def ask(served: Served, key: str, path: str = "/v1/chat/completions", **fields: Any) -> httpx2.Response:
    """Asks the vendor's model for an answer of at most 10 tokens."""
    body = {"model": MODEL, "messages": QUESTION, "max_tokens": 10, **fields}
    headers = {"authorization": f"Bearer {key}"}
    return httpx2.post(served.url + path, json=body, headers=headers, timeout=PATIENCE_SECONDS)


def spent(access: StoredKeys, name: str) -> Decimal:
    """What the calls of a key have cost today."""
    return Budget(ROOM, "day", name=f"key {name} per day", ledger=access.ledger).state().spent


@pytest.mark.parametrize("stream", [False, True])
def test_client_of_openai_gets_its_own_error_for_a_quota(
    served: Served, keys: Keys, access: StoredKeys, audit_log: Path, stream: bool
):
    name = f"openai-{stream}"
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key=key_with(keys, name)) as client:
        served.vendor.script(completion())
        client.chat.completions.create(model=MODEL, messages=QUESTION, max_tokens=10)
        with pytest.raises(openai.RateLimitError, match=f"budget 'key {name} per day'.*resets at") as caught:
            client.chat.completions.create(model=MODEL, messages=QUESTION, max_tokens=100, stream=stream)
        with pytest.raises(openai.RateLimitError) as of_responses:
            client.responses.create(model=MODEL, input="hi", max_output_tokens=100, stream=stream)
    for error in (caught.value, of_responses.value):
        assert (error.code, error.type) == ("insufficient_quota", "insufficient_quota")
        assert 0 < int(error.response.headers["retry-after"]) <= DAY_SECONDS
        assert error.response.headers["x-should-retry"] == "false"
    assert "0.0002" not in caught.value.message  # limits and sums are for the operator
    assert len(served.vendor.requests) == 1
    assert spent(access, name) == COST
    entry = json.loads(audit_log.read_text().splitlines()[-1])
    assert (entry["status"], entry["cost"], entry["output_tokens"]) == (429, "0", 0)


@pytest.mark.parametrize("stream", [False, True])
def test_client_of_anthropic_gets_its_own_error_for_billing(served: Served, keys: Keys, stream: bool):
    key = key_with(keys, f"anthropic-{stream}")
    refused = pytest.raises(anthropic.APIStatusError, match="budget 'key anthropic-")
    with anthropic.Anthropic(base_url=served.url, api_key=key) as client, refused as caught:
        client.messages.create(model=MODEL, max_tokens=100, messages=QUESTION, stream=stream)
    assert caught.value.status_code == 402
    assert caught.value.body["error"]["type"] == "billing_error"  # type: ignore[index]
    assert int(caught.value.response.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1beta/models/scripted:generateContent", {"contents": [{"parts": [{"text": "hi"}]}]}, 429),
        ("/v2/chat", {"model": "scripted", "messages": QUESTION}, 402),
        ("/api/chat", {"model": "scripted", "messages": QUESTION, "stream": False}, 402),
        ("/v1/completions", {"model": "scripted", "prompt": "hi"}, 429),
    ],
)
def test_budget_of_the_program_is_refused_in_each_api(path: str, body: dict[str, Any], status: int):
    def refuse(call: object) -> object:
        raise BudgetExceededError("the call does not fit into the budget 'own': limit $5.00")

    with serving() as served:
        served.script(refuse)
        response = httpx2.post(served.url + path, json=body)
    assert response.status_code == status, response.text
    assert "does not allow this call" in response.text
    assert "$5.00" not in response.text


def test_budget_of_an_llm_of_the_program_is_a_quota():
    llm = create_llm("scripted", model="small", replies=["Yes."], price=Price(1, 1), budgets=[Budget(1e-9)])
    application = Application(models={"small": llm})
    transport = httpx2.ASGITransport(application)

    async def refused() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/v1/chat/completions", json={"model": "small", "messages": QUESTION})

    response = asyncio.run(refused())
    assert (response.status_code, response.json()["error"]["code"]) == (429, "insufficient_quota")
    assert "retry-after" not in response.headers  # a budget for all time never resets


def test_background_response_and_websocket_report_the_quota(served: Served, keys: Keys):
    key = key_with(keys, "elsewhere")
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key=key) as client:
        made = client.responses.create(model=MODEL, input="hi", max_output_tokens=100, background=True)
        ended = wait_until(lambda: (found := client.responses.retrieve(made.id)).status == "failed" and found)
    assert ended.error is not None
    assert ended.error.code == "rate_limit_exceeded"
    assert "budget 'key elsewhere per day'" in ended.error.message
    url = served.url.replace("http://", "ws://") + "/v1/responses"
    with connect(url, proxy=None, additional_headers={"authorization": f"Bearer {key}"}) as connection:
        body = {"type": "response.create", "model": MODEL, "input": "hi", "max_output_tokens": 100, "store": False}
        connection.send(json.dumps(body))
        event = json.loads(connection.recv(PATIENCE_SECONDS))
    assert (event["status"], event["error"]["code"]) == (429, "insufficient_quota")


def test_budget_of_the_configuration_is_for_each_key(served: Served, keys: Keys):
    first, second = (key_with(keys, f"each-{name}", None) for name in ("a", "b"))
    served.vendor.script(completion())
    assert ask(served, first).status_code == 200
    refused = ask(served, first, max_tokens=100)
    assert "budget 'each of key each-a'" in refused.json()["error"]["message"]
    served.vendor.script(completion())
    assert ask(served, second).status_code == 200
    served.vendor.script(completion())
    assert ask(served, key_with(keys, "without", None), max_tokens=100).status_code == 200


def test_tags_of_a_key_cannot_be_changed_by_its_client(served: Served, keys: Keys):
    key = key_with(keys, "team-a", None, tags={"team": "a"})
    refused = ask(served, key, max_tokens=100, abstractcore={"tags": {"team": "b", "user": "ann"}})
    assert "budget 'teams' of 'a'" in refused.json()["error"]["message"]
    served.vendor.script(completion())
    assert ask(served, key, abstractcore={"tags": {"user": "ann"}}).status_code == 200


def test_next_model_of_a_group_answers_what_does_not_fit(served: Served, keys: Keys):
    key = key_with(keys, "group", None)
    served.vendor.script(answer({**completion_body(), "usage": {"prompt_tokens": 3, "completion_tokens": 100}}))
    assert ask(served, key).status_code == 200
    assert ask(served, key).status_code == 429
    reply: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": "gpt-4.1",
        "output": [],
    }
    served.vendor.script(answer(reply))
    assert ask(served, key, model="either").status_code == 200
    assert served.vendor.requests[1].target.endswith("/responses")


def test_call_of_unknown_price_is_refused_with_what_to_set(served: Served, keys: Keys):
    key = key_with(keys, "unpriced")
    refused = ask(served, key, model="openai-compatible/m")
    assert (refused.status_code, refused.headers["x-should-retry"]) == (501, "false")
    assert "set `unpriced` of the budget" in refused.json()["error"]["message"]
    assert not served.vendor.requests


def test_budgets_of_the_configuration_are_in_the_metrics(
    served: Served, keys: Keys, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    key = key_with(keys, "watched", None)
    served.vendor.script(completion())
    assert ask(served, key).status_code == 200

    def lines() -> list[str]:
        headers = {"authorization": f"Bearer {key}"}
        text = httpx2.get(f"{served.url}/metrics", headers=headers, timeout=PATIENCE_SECONDS).text
        assert "abstractcore_requests_total" in text
        return [line for line in text.splitlines() if line.startswith("abstractcore_budget_")]

    assert lines() == [
        'abstractcore_budget_limit_dollars{budget="watched"} 5.0',
        f'abstractcore_budget_spent_dollars{{budget="watched"}} {float(COST)}',
        'abstractcore_budget_reserved_dollars{budget="watched"} 0.0',
    ]

    def broken(*given: object) -> object:
        raise DatabaseError("the database is gone")

    monkeypatch.setattr(DatabaseLedger, "balance", broken)
    assert lines() == []
    assert "the budgets are not in /metrics: the database is gone" in caplog.text


def test_sums_survive_a_reload_and_limits_change(served: Served, keys: Keys):
    key = key_with(keys, "each-reload", None)
    served.vendor.script(completion())
    assert ask(served, key).status_code == 200
    settings = served.application.state.settings
    lower = {"each": BudgetSettings(float(COST), "day", by="key", keys=("each-*",))}
    served.application.reload(replace(settings, budgets={**settings.budgets, **lower}))
    assert ask(served, key, max_tokens=1).status_code == 429
    served.application.reload(settings)
    served.vendor.script(completion())
    assert ask(served, key).status_code == 200


def test_database_that_is_down_lets_no_call_pass(
    served: Served, keys: Keys, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def broken(*given: object) -> object:
        raise DatabaseError("canary-address")

    key = key_with(keys, "down")
    monkeypatch.setattr(DatabaseLedger, "reserve", broken)
    refused = ask(served, key)
    assert (refused.status_code, int(refused.headers["retry-after"])) == (503, 5)
    assert "canary" not in refused.text
    assert "canary-address" in caplog.text
    assert not served.vendor.requests


def test_configuration_is_read_and_its_mistakes_have_their_lines(tmp_path: Path):
    file = tmp_path / "server.toml"
    file.write_text('[budgets.all]\nusd = 50\nper = "month"\nwarn_at = 0.8\nunpriced = 0.01\nkeys = ["team-*"]\n')
    settings = read_settings(str(file), {})
    assert settings.budgets == {"all": BudgetSettings(50.0, "month", None, ("team-*",), 0.01, 0.8)}
    mistakes = {
        "usd = 0": "server.toml:2:1: budgets.all.usd: expected US dollars above 0",
        "usd = nan": "budgets.all.usd: NaN",
        'usd = 1\nper = "year"': "server.toml:3:1: budgets.all.per: expected 'hour' or 'day'",
        'usd = 1\nby = "user"': "budgets.all.by: expected 'tag:NAME', 'model', 'provider'",
        "usd = 1\nwarn_at = 80": "budgets.all.warn_at: expected a share",
        "usd = 1\nunpriced = -1": "budgets.all.unpriced: ",
        'usd = 1\nmodel = "x"': "budgets.all.model: there is no such setting",
        'per = "day"': "`usd` is required",
    }
    for text, message in mistakes.items():
        file.write_text(f"[budgets.all]\n{text}\n")
        with pytest.raises(ConfigurationError, match=r"budgets\.all") as caught:
            read_settings(str(file), {})
        assert message in str(caught.value), text


def test_budgets_of_the_page_are_valid(tmp_path: Path):
    page = (ROOT / "docs" / "server-setup.md").read_text(encoding="utf-8")
    file = tmp_path / "server.toml"
    file.write_text(page.partition("\n## Budgets\n")[2].partition("```toml\n")[2].partition("```")[0])
    assert read_settings(str(file), {}).budgets == {
        "all": BudgetSettings(500.0, "month", warn_at=0.8),
        "guests": BudgetSettings(1.0, "day", "key", ("guest-*",), 0.01, max_wait=10.0),
    }


@pytest.mark.parametrize("usd", ["0", "-1", "NaN", "Infinity"])
def test_key_with_an_impossible_limit_is_not_made(keys: Keys, usd: str):
    with pytest.raises(ValueError, match="usd_per_month"):
        keys.create("impossible", limits=KeyLimits(usd_per_month=Decimal(usd)))


def test_clients_without_keys_share_a_budget_by_key():
    budgets = {"each": BudgetSettings(ROOM, by="key"), "keyed": BudgetSettings(ROOM, keys=("a*",))}  # type: ignore[arg-type]
    with serving(Settings(budgets=budgets)) as served:
        found = served.application.state.budgets
        assert isinstance(found, RequestBudgets)
        served.vendor.script(completion())
        assert ask(served, "none").status_code == 200
        assert "each of key (no key)" in ask(served, "none", max_tokens=100).text


def test_call_of_unknown_price_counts_what_the_server_says(keys: Keys, access: StoredKeys, store: Store):
    key = key_with(keys, "counted", Decimal(1))
    with serving(access=StoredKeys(store, unpriced=0.4)) as served:
        served.vendor.script(completion())
        served.vendor.script(completion())
        statuses = [ask(served, key, model="openai-compatible/m").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert spent(access, "counted") == Decimal("0.8")
