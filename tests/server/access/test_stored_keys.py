"""Keys of the database: who is let in, for which models, how much; and what the audit log has of it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from abstractcore import ConfigurationError, Usage
from abstractcore.testing import ScriptedReply
from abstractcore_server import Application, ServerSettings, Settings
from abstractcore_server.access.stored_keys import KEY_SECONDS, StoredKeys
from abstractcore_server.store import KeyLimits, Keys, Store
from tests.server.serving import Served, serving

FIXED = "key-of-the-environment-0123456789"
QUESTION: Any = [{"role": "user", "content": "canary-question"}]


class Clock:
    """A clock that tests move. It returns seconds since the epoch."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def keys(folder: Path, clock: Clock) -> Iterator[Keys]:
    store = Store(folder / "server.db")
    yield Keys(store, clock)
    store.close()


@pytest.fixture(scope="module")
def audit_log(folder: Path) -> Path:
    return folder / "audit.jsonl"


@pytest.fixture(scope="module")
def running(folder: Path, clock: Clock, keys: Keys, audit_log: Path) -> Iterator[Served]:
    store = Store(folder / "server.db")
    access = StoredKeys(store, fixed=[FIXED], now=clock)
    with serving(Settings(ServerSettings(audit_log=str(audit_log))), access=access) as served:
        yield served
    store.close()


def ask(served: Served, key: str, **fields: Any) -> httpx2.Response:
    """Asks the scripted model."""
    body = {"model": "scripted", "messages": QUESTION, **fields}
    headers = {"authorization": f"Bearer {key}"}
    return httpx2.post(f"{served.url}/v1/chat/completions", json=body, headers=headers)


def last_entry(audit_log: Path) -> dict[str, Any]:
    return json.loads(audit_log.read_text().splitlines()[-1])


def test_keys_of_the_database_and_of_the_environment_are_let_in(served: Served, keys: Keys):
    secret = keys.create("let-in", tags={"team": "a"}).secret
    served.script("one", "two")
    assert ask(served, secret).status_code == 200
    assert ask(served, FIXED).status_code == 200
    assert [dict(call.tags) for call in served.calls] == [{"team": "a"}, {}]
    assert ask(served, secret[:-1] + "?").status_code == 401
    assert ask(served, "ac-000000000000-" + 43 * "x").status_code == 401


def test_key_may_use_its_models_only(served: Served, keys: Keys):
    secret = keys.create("models", models=["openai/*"]).secret
    with anthropic.Anthropic(base_url=served.url, api_key=secret, max_retries=0) as client:
        with pytest.raises(anthropic.PermissionDeniedError, match="may not use"):
            client.messages.create(model="scripted", max_tokens=10, messages=QUESTION)
        assert all(each.id.startswith("openai/") for each in client.models.list())


def test_revoked_key_is_refused_without_a_restart(served: Served, keys: Keys, clock: Clock):
    secret = keys.create("revoked").secret
    served.script("one")
    assert ask(served, secret).status_code == 200
    keys.revoke("revoked")
    clock.time += KEY_SECONDS
    assert ask(served, secret).status_code == 401


def test_expired_key_is_refused_at_once(served: Served, keys: Keys, clock: Clock):
    secret = keys.create("expiring", expires=clock() + 1).secret
    served.script("one")
    assert ask(served, secret).status_code == 200
    clock.time += 1
    assert ask(served, secret).status_code == 401


def test_requests_a_minute_are_limited_as_the_clients_own_exception(served: Served, keys: Keys, clock: Clock):
    secret = keys.create("requests", limits=KeyLimits(requests_per_minute=1)).secret
    served.script("one", "two")
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key=secret, max_retries=0) as client:
        client.chat.completions.create(model="scripted", messages=QUESTION)
        for stream in (False, True):
            with pytest.raises(openai.RateLimitError) as caught:
                client.chat.completions.create(model="scripted", messages=QUESTION, stream=stream)
            assert caught.value.response.headers["retry-after"] == "60"
        clock.time += 60
        client.chat.completions.create(model="scripted", messages=QUESTION)


def test_counts_of_tokens_are_requests(served: Served, keys: Keys):
    secret = keys.create("counting", limits=KeyLimits(requests_per_minute=1, tokens_per_minute=5000)).secret
    with anthropic.Anthropic(base_url=served.url, api_key=secret, max_retries=0) as client:
        assert client.messages.count_tokens(model="scripted", messages=QUESTION).input_tokens > 0
        with pytest.raises(anthropic.RateLimitError):
            client.messages.count_tokens(model="scripted", messages=QUESTION)


def test_application_needs_keys_of_the_database_in_its_settings(tmp_path: Path):
    application = Application(Settings(ServerSettings(database=f"sqlite:///{tmp_path / 'keys.db'}")))
    assert isinstance(application.state.access, StoredKeys)
    with pytest.raises(ConfigurationError, match="cannot be used"):
        Application(Settings(ServerSettings(database=f"sqlite:///{tmp_path / 'no-folder' / 'keys.db'}")))


def test_tokens_a_minute_are_those_that_calls_used(served: Served, keys: Keys, clock: Clock):
    secret = keys.create("tokens", limits=KeyLimits(tokens_per_minute=5000)).secret
    served.script(ScriptedReply.text("one", usage=Usage(3000, 1900)), ScriptedReply.text("two", usage=Usage(10, 10)))
    assert ask(served, secret, max_tokens=10).status_code == 200
    refused = ask(served, secret, max_tokens=200)
    assert refused.status_code == 429
    assert "limit of tokens per minute is reached: 5000" in refused.json()["error"]["message"]
    clock.time += 60
    assert ask(served, secret, max_tokens=200).status_code == 200


def test_audit_log_has_who_used_what_but_no_content_and_no_key(served: Served, keys: Keys, audit_log: Path):
    secret = keys.create("audited").secret
    served.script(ScriptedReply.text("canary-answer", usage=Usage(7, 3)))
    response = ask(served, secret)
    entry = last_entry(audit_log)
    assert entry.pop("time")
    assert entry.pop("cost") == "0"
    assert entry == {
        "key": "audited",
        "method": "POST",
        "route": "/v1/chat/completions",
        "model": "scripted/scripted",
        "status": 200,
        "calls": 1,
        "input_tokens": 7,
        "output_tokens": 3,
        "estimated": False,
        "trace_id": response.headers["x-abstractcore-trace-id"],
    }
    assert ask(served, f"{secret}x").status_code == 401
    assert (last_entry(audit_log)["key"], last_entry(audit_log)["status"]) == (None, 401)
    assert httpx2.get(f"{served.url}/{secret}", headers={"x-api-key": secret}).status_code == 404
    assert last_entry(audit_log)["route"] is None
    written = audit_log.read_text()
    assert "canary" not in written
    assert secret not in written
    assert audit_log.stat().st_mode & 0o077 == 0


def test_keys_are_in_no_log_and_no_reply(served: Served, keys: Keys, caplog: pytest.LogCaptureFixture):
    secret = keys.create("canary").secret
    caplog.set_level(logging.DEBUG)
    served.script(RuntimeError("broken"))
    replies = [
        ask(served, secret),
        ask(served, f"{secret}x"),
        ask(served, secret, model="nowhere/none"),
        ask(served, secret, n=99),
    ]
    assert [each.status_code for each in replies] == [500, 401, 404, 400]
    for text in (caplog.text, *(f"{each.text} {each.headers}" for each in replies)):
        assert secret not in text
        assert secret[-20:] not in text


@pytest.mark.parametrize(("down", "status"), [("closed", 503), ("open", 200)])
def test_database_that_is_down_refuses_all_or_keeps_known_keys(tmp_path: Path, down: Any, status: int):
    clock = Clock()
    store = Store(tmp_path / "server.db")
    keys = Keys(store, clock)
    known = keys.create("known", limits=KeyLimits(requests_per_minute=1)).secret
    unknown = keys.create("unknown").secret
    with serving(access=StoredKeys(store, down=down, now=clock)) as served:
        served.script("one", "two")
        assert ask(served, known).status_code == 200
        with store.writing() as connection:
            connection.exec_driver_sql("DROP TABLE abstractcore_key_secrets")
            connection.exec_driver_sql("DROP TABLE abstractcore_leases")
        clock.time += KEY_SECONDS
        refused = ask(served, unknown)
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "5"
        assert ask(served, known).status_code == status
    store.close()


@pytest.mark.parametrize("length", [2**63 - 1, 10**30])
def test_tokens_beyond_what_a_database_can_count_are_no_failure(served: Served, keys: Keys, length: int):
    secret = keys.create(f"requests-{length}", limits=KeyLimits(requests_per_minute=3)).secret
    served.script(*[ScriptedReply.text("hello", usage=Usage(length, length))] * 3)
    statuses = [ask(served, secret, max_tokens=length).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
