"""Keys and leases in a database, a SQLite file and a PostgreSQL, and processes that share it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text

from abstractcore import ConfigurationError, InvalidInputError
from abstractcore.database import DatabaseError
from abstractcore.limits import CallLeases, LimitReached
from abstractcore_server import store as store_package
from abstractcore_server.store import KeyLimits, Keys, Store
from abstractcore_server.store import responses as response_rows
from abstractcore_server.store.background import ALIVE_SECONDS, EVENT_SECONDS, BackgroundResponses, ResponseKey
from abstractcore_server.store.responses import Conversations, Responses, StoredResponse
from abstractcore_server.store.tables import VERSION, metadata
from tests.postgresql import running_postgresql
from tests.server.store.databases import Clock


@pytest.fixture
def keys(store: Store, clock: Clock) -> Keys:
    return Keys(store, clock)


@pytest.fixture
def leases(store: Store, clock: Clock) -> CallLeases:
    return CallLeases(store, clock)


def test_key_is_found_by_its_secret_and_the_database_has_only_a_hash(keys: Keys, store: Store):
    issued = keys.create("alice", models=["openai/*"], tags={"team": "a"}, limits=KeyLimits(5, 1000, 2))
    found = keys.find(issued.secret)
    assert found is not None
    assert found == issued.key
    assert (found.models, found.tags, found.limits) == (("openai/*",), {"team": "a"}, KeyLimits(5, 1000, 2))
    assert issued.secret.startswith(f"{found.prefixes[0]}-")
    assert issued.secret not in repr(issued)
    secret_part = issued.secret.removeprefix(f"{found.prefixes[0]}-")
    with store.reading() as connection:
        written = [repr(connection.execute(table.select()).all()) for table in metadata.sorted_tables]
    assert "alice" in "".join(written)
    assert secret_part not in "".join(written)


def test_other_secrets_are_not_found(keys: Keys):
    secret = keys.create("alice").secret
    changed = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    for wrong in (changed, secret + "x", secret.upper(), "", "ac-", "ac-000000000000-" + 43 * "x", "\udcff" * 16):
        assert keys.find(wrong) is None


def test_revoked_key_is_not_valid_and_its_name_stays_taken(keys: Keys):
    secret = keys.create("alice").secret
    assert keys.revoke("alice").revoked is not None
    assert keys.find(secret) is None
    with pytest.raises(InvalidInputError, match="there is a key"):
        keys.create("alice")
    with pytest.raises(InvalidInputError, match="revoked"):
        keys.rotate("alice")


def test_expired_key_is_not_valid(keys: Keys, clock: Clock):
    secret = keys.create("alice", expires=clock() + 10).secret
    assert keys.find(secret) is not None
    clock.time += 10
    assert keys.find(secret) is None


def test_rotated_key_has_a_new_secret_and_the_earlier_one_for_the_overlap(keys: Keys, clock: Clock):
    first = keys.create("alice").secret
    second = keys.rotate("alice", overlap=60).secret
    assert keys.find(first) is not None
    assert keys.find(second) is not None
    third = keys.rotate("alice").secret
    assert [keys.find(each) is not None for each in (first, second, third)] == [False, False, True]


@pytest.mark.parametrize("name", ["", " ", "a b", "-x", "a/../b", "x" * 101, "a\nb", "ключ"])
def test_invalid_name_is_refused(keys: Keys, name: str):
    with pytest.raises(InvalidInputError, match="a name has"):
        keys.create(name)


def test_unknown_name_is_refused_with_the_nearest(keys: Keys):
    keys.create("alice")
    with pytest.raises(InvalidInputError) as caught:
        keys.revoke("alicia")
    assert "alice" in (caught.value.hint or "")


def test_requests_of_any_minute_are_limited(leases: CallLeases, clock: Clock):
    limits = KeyLimits(requests_per_minute=2)
    assert isinstance(leases.begin("alice", limits, 0, 30), str)
    clock.time += 20
    assert isinstance(leases.begin("alice", limits, 0, 30), str)
    assert leases.begin("alice", limits, 0, 30) == LimitReached("requests", 2, 40.0)
    assert isinstance(leases.begin("bob", limits, 0, 30), str)
    clock.time += 40
    assert isinstance(leases.begin("alice", limits, 0, 30), str)


def test_tokens_count_as_reserved_then_as_used_for_a_minute_after_the_end(leases: CallLeases, clock: Clock):
    limits = KeyLimits(tokens_per_minute=100)
    lease = leases.begin("alice", limits, 60, 600)
    assert isinstance(lease, str)
    clock.time += 120
    assert leases.begin("alice", limits, 60, 600) == LimitReached("tokens", 100, 1.0)
    leases.settle(lease, 250)
    clock.time += 59
    assert leases.begin("alice", limits, 1, 600) == LimitReached("tokens", 100, 1.0)
    clock.time += 1
    assert isinstance(leases.begin("alice", limits, 60, 600), str)


def test_call_above_the_limit_of_tokens_is_let_in_alone(leases: CallLeases):
    limits = KeyLimits(tokens_per_minute=100)
    assert isinstance(leases.begin("alice", limits, 5000, 600), str)
    assert isinstance(leases.begin("alice", limits, 1, 600), LimitReached)


@pytest.mark.process
def test_leases_of_a_killed_process_expire(url: str, leases: CallLeases, clock: Clock):
    limits = KeyLimits(tokens_per_minute=100, parallel=1)
    code = f"""
import os, signal
from abstractcore.database import DatabaseError
from abstractcore.limits import CallLeases
from abstractcore_server.store import KeyLimits, Store
CallLeases(Store({url!r}), lambda: {clock()}).begin("alice", KeyLimits(None, 100, 1), 100, 300)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    clock.time += 299
    assert leases.begin("alice", limits, 10, 300) == LimitReached("calls at once", 1, 1.0)
    clock.time += 1
    assert isinstance(leases.begin("alice", limits, 10, 300), str)


def test_leases_of_a_process_are_freed_by_its_name_and_count_as_reserved(store: Store, clock: Clock):
    limits = KeyLimits(tokens_per_minute=100, parallel=2)
    killed, other = CallLeases(store, clock, "0a" * 6), CallLeases(store, clock, "0b" * 6)
    settled = killed.begin("alice", limits, 10, 600)
    assert isinstance(settled, str)
    killed.settle(settled, 5)
    assert isinstance(killed.begin("alice", limits, 60, 600), str)
    assert isinstance(other.begin("alice", limits, 20, 600), str)
    assert other.begin("alice", limits, 1, 600) == LimitReached("calls at once", 2, 1.0)
    other.free("0a" * 6)
    assert other.begin("alice", limits, 16, 600) == LimitReached("tokens", 100, 60.0)
    assert isinstance(other.begin("alice", limits, 15, 600), str)


def test_tokens_exceed_their_limit_by_what_running_calls_use_beyond_what_they_reserved(store: Store, clock: Clock):
    limits, reserved, used, processes = KeyLimits(tokens_per_minute=100), 25, 40, 4
    each = [CallLeases(store, clock, f"{number:012}") for number in range(processes)]
    begun = [leases.begin("alice", limits, reserved, 600) for leases in each]
    assert all(isinstance(lease, str) for lease in begun)
    assert each[0].begin("alice", limits, 1, 600) == LimitReached("tokens", 100, 1.0)
    for leases, lease in zip(each, begun, strict=True):
        leases.settle(str(lease), used)
    overshoot = processes * (used - reserved)
    most = 100 + overshoot
    assert each[0].begin("alice", KeyLimits(tokens_per_minute=most), 1, 600) == LimitReached("tokens", most, 60.0)
    assert isinstance(each[0].begin("alice", KeyLimits(tokens_per_minute=most + 1), 1, 600), str)


@pytest.mark.process
def test_processes_that_share_a_database_let_in_no_request_too_many(url: str, keys: Keys):
    keys.create("alice")
    code = f"""
from abstractcore.database import DatabaseError
from abstractcore.limits import CallLeases
from abstractcore_server.store import KeyLimits, Store
leases = CallLeases(Store({url!r}), lambda: 1_800_000_000.0)
print(sum(isinstance(leases.begin("alice", KeyLimits(50), 0, 60), str) for _ in range(40)))
"""
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sum(int(process.communicate()[0]) for process in running) == 50


def test_store_declares_tables_and_statements_and_leaves_the_database_to_its_room():
    sources = [path.read_text(encoding="utf-8") for path in Path(str(store_package.__file__)).parent.glob("*.py")]
    imported = re.findall(
        r"^(?:from|import) ((?:sqlalchemy|pg8000|sqlite3)[^(\n]*(?:\([^)]*\))?)", "".join(sources), re.M
    )
    assert len(imported) > 5
    assert all(names.startswith("sqlalchemy import ") for names in imported)
    assert not [names for names in imported if re.search(r"\b(create_engine|event|exc|text)\b", names)]


def test_database_of_a_newer_version_is_refused(store: Store, url: str):
    with store.writing() as connection:
        connection.execute(text("UPDATE abstractcore_version SET version = 99"))
    with pytest.raises(ConfigurationError, match="version 99"):
        Store(url)


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "mysql://root:canary@host/x",
        "sqlite+none:///x",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:canary.db?uri=true&nolock=1",
    ],
)
def test_invalid_url_is_an_error_without_its_password(url: str):
    with pytest.raises(ConfigurationError) as caught:
        Store(url)
    assert "canary" not in f"{caught.value} {caught.value.hint}"


@pytest.fixture
def responses(store: Store, clock: Clock) -> Responses:
    return Responses(store, 100, clock)


def response(id: str, *texts: str, previous: str | None = None) -> StoredResponse:
    asked, answered = ({"type": "message", "id": f"{id}-{text}"} for text in texts)
    return StoredResponse({"id": id, "output": [answered]}, [asked], previous)


def test_context_of_a_response_is_that_of_all_before_it(responses: Responses):
    responses.add("me", response("r1", "a", "b"))
    responses.add("me", response("r2", "c", "d", previous="r1"))
    found = responses.context("me", "r2")
    assert found is not None
    assert [item["id"] for item in found] == ["r1-a", "r1-b", "r2-c", "r2-d"]
    assert responses.context("other", "r2") is None
    assert responses.delete("me", "r1")
    assert responses.context("me", "r2") is None


def test_each_owner_may_have_a_response_of_one_id_and_the_last_one_counts(responses: Responses):
    responses.add("me", response("r1", "a", "b"))
    responses.add("other", response("r1", "c", "d"))
    responses.add("me", response("r1", "e", "f"))
    found = [responses.find(owner, "r1") for owner in ("me", "other")]
    assert [each.input[0]["id"] for each in found if each is not None] == ["r1-e", "r1-c"]


def test_chain_that_is_too_long_has_no_context(responses: Responses, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(response_rows, "LONGEST_CHAIN", 2)
    for number in range(3):
        previous = f"r{number - 1}" if number else None
        responses.add("me", response(f"r{number}", "a", "b", previous=previous))
    assert responses.context("me", "r1") is not None
    assert responses.context("me", "r2") is None


def test_responses_and_conversations_expire_and_are_removed(responses: Responses, store: Store, clock: Clock):
    conversations = Conversations(store, 100, clock)
    responses.add("me", response("r1", "a", "b"))
    conversations.create("me", "c1", {}, [{"id": "i1"}])
    clock.time += 60
    assert conversations.append("me", "c1", [{"id": "i2"}])
    clock.time += 50
    assert responses.find("me", "r1") is None
    assert conversations.items("me", "c1") == [{"id": "i1"}, {"id": "i2"}]
    clock.time += 50
    assert conversations.find("me", "c1") is None
    assert not conversations.append("me", "c1", [{"id": "i3"}])
    responses.add("me", response("r2", "a", "b"))
    conversations.create("me", "c2", {})
    with store.reading() as connection:
        kept = [
            connection.execute(text(f"SELECT count(*) FROM abstractcore_{table}")).scalar()
            for table in ("responses", "conversations", "conversation_items")
        ]
    assert kept == [1, 1, 0]


OF_VERSION_1 = {"keys", "key_secrets", "leases"}
OF_VERSION_2 = OF_VERSION_1 | {"responses", "conversations", "conversation_items"}
EARLY_OF_VERSION_3 = OF_VERSION_2 | {"files", "background_responses", "response_events"}


@pytest.mark.parametrize(
    ("version", "tables"),
    [(1, OF_VERSION_1), (2, OF_VERSION_2), (2, OF_VERSION_2 | {"files"}), (3, EARLY_OF_VERSION_3)],
)
def test_database_of_an_earlier_version_keeps_its_rows_and_gets_the_new_tables(
    store: Store, keys: Keys, url: str, version: int, tables: set[str]
):
    secret = keys.create("alice", tags={"team": "a"}).secret
    with store.writing() as connection:
        for table in reversed(metadata.sorted_tables):
            if table.name.removeprefix("abstractcore_") not in tables:
                table.drop(connection)
        connection.execute(text(f"UPDATE abstractcore_version SET version = {version}"))
    newer = Store(url)
    found = Keys(newer, keys._now).find(secret)
    assert found is not None
    assert found.tags == {"team": "a"}
    Conversations(newer, 100).create("me", "c1", {}, [{"id": "i1"}])
    with newer.reading() as connection:
        assert {*inspect(connection).get_table_names()} == {*metadata.tables, "abstractcore_version"}
    newer.close()
    with store.reading() as connection:
        assert connection.execute(text("SELECT version FROM abstractcore_version")).scalars().all() == [VERSION]


@pytest.mark.process
def test_postgresql_that_is_down_is_reported_and_used_again_when_it_is_back():
    with running_postgresql() as server:
        store = Store(server.url)
        keys = Keys(store)
        secret = keys.create("alice").secret
        server.stop()
        with pytest.raises(DatabaseError):
            keys.find(secret)
        server.start()
        assert keys.find(secret) is not None
        store.close()


KEY: ResponseKey = ("alice", "resp_1")


@pytest.fixture
def background(store: Store, clock: Clock) -> BackgroundResponses:
    """The responses in the background, of which the process "one" has begun `KEY`."""
    found = BackgroundResponses(store, 1e6, clock)
    queued: dict[str, Any] = {"id": KEY[1], "status": "queued", "output": []}
    found.begin(KEY[0], StoredResponse(queued, []), "one", ["response.created"])
    return found


def _status(store: Store, clock: Clock) -> str:
    found = Responses(store, 1e6, clock).find(*KEY)
    assert found is not None
    return found.body["status"]


def test_response_in_the_background_ends_once(background: BackgroundResponses, store: Store, clock: Clock):
    assert background.change(KEY, {"status": "in_progress"}, "response.in_progress")
    assert background.append(KEY, [{"type": "a", "sequence_number": 70, "delta": "x"}, {"type": "b"}])
    assert background.end(KEY, {"status": "cancelled"}, "response.incomplete")
    assert not background.end(KEY, {"status": "completed"}, "response.completed")
    assert not background.append(KEY, [{"type": "c"}])
    assert _status(store, clock) == "cancelled"
    page = background.events(KEY, 0)
    assert page is not None
    assert page.has_ended
    assert [(event["sequence_number"], event["type"]) for event in page.events] == [
        (1, "response.in_progress"),
        (2, "a"),
        (3, "b"),
        (4, "response.incomplete"),
    ]
    assert page.events[1] == {"type": "a", "sequence_number": 2, "delta": "x"}
    assert page.events[-1]["response"]["status"] == "cancelled"
    assert background.events(("bob", KEY[1]), -1) is None


def test_many_events_are_read_in_pages(background: BackgroundResponses):
    background.append(KEY, [{"type": "a"}] * 1200)
    background.end(KEY, {"status": "completed"}, "response.completed")
    after, numbers = -1, list[int]()
    while (page := background.events(KEY, after)) is not None and not page.has_ended:
        numbers += [event["sequence_number"] for event in page.events]
        after = numbers[-1]
    assert page is not None
    assert [*numbers, *(event["sequence_number"] for event in page.events)] == list(range(1202))


def test_response_of_a_process_that_gives_no_sign_fails(background: BackgroundResponses, store: Store, clock: Clock):
    clock.time += ALIVE_SECONDS - 1
    assert background.keep_alive([KEY, ("alice", "resp_2")]) == {KEY}
    clock.time += ALIVE_SECONDS - 1
    background.free_expired(KEY)
    assert _status(store, clock) == "queued"
    clock.time += 1
    background.free_expired(KEY)
    assert _status(store, clock) == "failed"
    assert background.keep_alive([KEY]) == set()
    page = background.events(KEY, 0)
    assert page is not None
    assert page.events[-1]["response"]["error"]["code"] == "server_error"


def test_responses_of_processes_that_died_fail(background: BackgroundResponses, store: Store, clock: Clock):
    background.free(["two"])
    assert _status(store, clock) == "queued"
    background.free(["one", "two"])
    assert _status(store, clock) == "failed"


def test_events_go_a_while_after_the_end_and_with_the_response(
    background: BackgroundResponses, store: Store, clock: Clock
):
    background.end(KEY, {"status": "completed"}, "response.completed")
    clock.time += EVENT_SECONDS
    background.begin("bob", StoredResponse({"id": "resp_2"}, []), "one", ["response.created"])
    assert background.events(KEY, -1) is None
    assert _status(store, clock) == "completed"
    assert Responses(store, 1e6, clock).delete("bob", "resp_2")
    assert background.events(("bob", "resp_2"), -1) is None
    assert not background.append(("bob", "resp_2"), [{"type": "a"}])
    assert not background.change(("bob", "resp_2"), {"status": "completed"}, "response.completed")
