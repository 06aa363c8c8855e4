"""Vectors that are kept: what costs nothing the second time, and what becomes of a file that is damaged or full."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from decimal import Decimal

import numpy as np
import pytest

from abstractcore import EmbeddingCache, InvalidInputError, Price, create_llm, subscribe
from abstractcore.embeddings.caching import CachedVector
from tests.chaos_server import ScriptedServer
from tests.embedding_server import DIMENSIONS, call, embedder, embeddings, texts_in

TEXTS = [f"text {n}" for n in range(20)]


@pytest.fixture
def server():
    with ScriptedServer() as made:
        made.always_by(embeddings)
        yield made


@pytest.fixture
def cache(tmp_path):
    made = EmbeddingCache(tmp_path / "vectors.db")
    yield made
    made.close()


def test_known_texts_cost_nothing_and_are_counted(call_style, server, cache):
    llm = embedder(server, embed_cache=cache, price=Price(input=2, output=0))
    first = call(call_style, llm, "embed", TEXTS)
    second = call(call_style, llm, "embed", [*TEXTS, "new"])
    third = call(call_style, llm, "embed", TEXTS)
    assert (first.cache_hits, second.cache_hits, third.cache_hits) == (0, 20, 20)
    assert texts_in(server) == [TEXTS, ["new"]]
    assert np.array_equal(second.vectors[:20], first.vectors)
    assert np.array_equal(third.vectors, first.vectors)
    assert (third.cost, third.usage.input, third.attempts) == (Decimal(0), 0, ())
    assert third.saved_cost is not None
    assert third.saved_cost > 0
    assert second.cost == Decimal("0.000002")


def test_interrupted_run_goes_on_where_it_was(call_style, server, cache):
    llm = embedder(server, {"items": 5}, embed_cache=cache)
    call(call_style, llm, "embed", TEXTS[:10])
    assert call(call_style, llm, "embed", TEXTS).cache_hits == 10
    assert sum(map(len, texts_in(server))) == 20


@pytest.mark.parametrize(
    "other",
    [
        {"dimensions": 4},
        {"purpose": "query"},
        {"truncate": True},
        {"provider_options": {"openai-compatible": {"user": "ann"}}},
    ],
)
def test_other_settings_are_other_vectors(server, cache, other):
    llm = embedder(server, embed_cache=cache)
    llm.embed(["a"])
    assert llm.embed(["a"], **other).cache_hits == 0
    assert llm.embed(["a"], **other).cache_hits == 1


def test_other_models_and_servers_are_other_vectors(server, cache):
    embedder(server, embed_cache=cache).embed(["a"])
    other = create_llm("openai-compatible", "other", base_url=f"{server.url}/v1", api_key="k", embed_cache=cache)
    assert other.embed(["a"]).cache_hits == 0
    with ScriptedServer() as elsewhere:
        elsewhere.always_by(embeddings)
        assert embedder(elsewhere, embed_cache=cache).embed(["a"]).cache_hits == 0


def test_hits_have_a_record_that_says_what_they_saved(server, cache):
    llm = embedder(server, embed_cache=cache, price=Price(input=2, output=0))
    llm.embed(TEXTS)
    records = []
    with subscribe(records.append, records="all") as subscription:
        found = llm.embed([*TEXTS, "new"])
        subscription.flush()
    calls = [each for each in records if hasattr(each, "operation")]
    (hit,) = [each for each in calls if each.cached_at is not None]
    assert (hit.operation, hit.cost, hit.saved_cost, hit.attempts) == ("embed", Decimal(0), found.saved_cost, ())
    assert len(calls) == 2
    assert {each.parent_id for each in calls} == {found.trace_id}


def test_cut_text_stays_named(server, cache):
    llm = embedder(server, {"item_tokens": 100}, embed_cache=cache)
    assert llm.embed(["a", "word " * 900], truncate=True).truncated == (1,)
    again = llm.embed(["word " * 900, "a"], truncate=True)
    assert (again.cache_hits, again.truncated) == (2, (0,))


def damage(path):
    path.write_bytes(b"no database, and long enough to be one" * 200)


def forbid(path):
    path.unlink(missing_ok=True)
    path.mkdir()


@pytest.mark.parametrize("spoil", [damage, forbid], ids=["damaged", "a folder"])
def test_file_that_fails_is_a_warning_and_vectors_are_asked_for(call_style, server, tmp_path, caplog, spoil):
    path = tmp_path / "vectors.db"
    spoil(path)
    llm = embedder(server, embed_cache=path)
    for _ in range(2):
        found = call(call_style, llm, "embed", ["a", "b"])
        assert (len(found), found.cache_hits) == (2, 0)
        assert [each.code for each in found.warnings] == ["embed_cache_failed"]
        assert str(path) in found.warnings[0].message
    assert len([each for each in caplog.records if "cache of embeddings" in each.message]) == 1


def test_damaged_vector_is_asked_for_again(server, cache):
    llm = embedder(server, embed_cache=cache)
    first = llm.embed(["a", "b", "c"])
    cache.close()
    with sqlite3.connect(cache.path) as connection:
        rows = [row[0] for row in connection.execute("SELECT id FROM vectors")]
        connection.execute("UPDATE vectors SET numbers = x'0000c07f' WHERE id = ?", (rows[0],))
        connection.execute("UPDATE vectors SET numbers = 'text' WHERE id = ?", (rows[1],))
    connection.close()
    again = llm.embed(["a", "b", "c"])
    assert again.cache_hits == 1
    assert np.array_equal(again.vectors, first.vectors)


@pytest.mark.parametrize(
    "damage",
    ["tokens = 'many'", "tokens = -5", "tokens = 1e300", "tokens = NULL", "stored_at = 'now'", "stored_at = NULL"],
)
def test_damaged_row_is_asked_for_again(server, cache, damage):
    llm = embedder(server, embed_cache=cache)
    llm.embed(["a", "b"])
    with sqlite3.connect(cache.path) as connection:
        connection.execute(f"UPDATE vectors SET {damage}")
    connection.close()
    again = llm.embed(["a", "b"])
    assert (again.cache_hits, again.warnings) == (0, ())


def test_file_that_was_deleted_while_it_was_open_is_made_again(server, cache):
    llm = embedder(server, embed_cache=cache)
    llm.embed(["a"])
    for ending in ("", "-wal", "-shm"):
        os.unlink(f"{cache.path}{ending}")
    assert llm.embed(["a"]).cache_hits == 0
    assert EmbeddingCache(cache.path).count() == 1


def test_threads_go_on_when_one_of_them_closes_the_cache(server, cache):
    llm = embedder(server, embed_cache=cache)
    warnings: list[object] = []

    def work(number: int) -> None:
        for count in range(20):
            warnings.extend(llm.embed([f"text {count} of {number}"]).warnings)
            cache.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings == []
    assert cache.count() == 80


def test_file_of_a_later_version_is_left_alone(server, tmp_path):
    path = tmp_path / "vectors.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    found = embedder(server, embed_cache=path).embed(["a"])
    assert "has version 99: this release reads version 1" in found.warnings[0].message


def test_oldest_vectors_make_room(tmp_path):
    cache = EmbeddingCache(tmp_path / "vectors.db", max_bytes=1024 * 1024)
    for batch in range(20):
        rows = {bytes([batch, n]) * 8: CachedVector(bytes([1] * 6000), 1, float(batch), False) for n in range(50)}
        cache.put(rows)
    oldest, newest = bytes([0, 0]) * 8, bytes([19, 0]) * 8
    assert newest in cache.find([oldest, newest])
    assert oldest not in cache.find([oldest, newest])
    assert 50 <= cache.count() < 250
    cache.clear()
    assert cache.count() == 0
    cache.close()


def test_file_is_for_its_owner_alone_and_has_no_text(server, tmp_path):
    path = tmp_path / "folder" / "vectors.db"
    llm = embedder(server, embed_cache=str(path))
    llm.embed(["a secret sentence"])
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert b"secret" not in b"".join(each.read_bytes() for each in path.parent.iterdir())


@pytest.mark.process
def test_processes_share_a_file(server, tmp_path):
    path = tmp_path / "vectors.db"
    code = f"""
from abstractcore import create_llm
url, path = {f"{server.url}/v1"!r}, {str(path)!r}
llm = create_llm("openai-compatible", "embedder", base_url=url, api_key="k", embed_cache=path)
for n in range(0, 200, 20):
    found = llm.embed([f"text {{i}}" for i in range(n, n + 20)])
    assert not found.warnings, found.warnings
"""
    children = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [child.wait(120) for child in children] == [0, 0]
    found = embedder(server, embed_cache=path).embed([f"text {n}" for n in range(200)])
    assert found.cache_hits == 200


@pytest.mark.parametrize("given", [7, b"a", ["a"], {"path": "a"}])
def test_invalid_cache_is_refused_when_the_llm_is_made(given):
    with pytest.raises(InvalidInputError, match="embed_cache: expected True, a path or an EmbeddingCache"):
        create_llm("scripted", replies=[], embed_cache=given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": 7}, "path: expected a path, got 7"),
        ({"path": "a\0b"}, "path: .* is not a path"),
        ({"path": "\ud800"}, "path: .* is not a path"),
        ({"max_bytes": 10}, "max_bytes: expected at least 1,048,576, got 10"),
        ({"max_bytes": True}, "max_bytes: expected"),
    ],
)
def test_invalid_arguments_are_named(options, message):
    with pytest.raises(InvalidInputError, match=message):
        EmbeddingCache(**options)


def test_vectors_of_another_length_are_an_error_that_says_what_to_do(server, cache):
    llm = embedder(server, embed_cache=cache, max_retries=0)
    llm.embed(["a"])
    cache.close()
    with sqlite3.connect(cache.path) as connection:
        connection.execute("UPDATE vectors SET numbers = ?", (bytes([1] * 4 * (DIMENSIONS + 1)),))
    connection.close()
    with pytest.raises(Exception, match=r"8 and 9 dimensions: they are not of one model.*clear\(\)"):
        llm.embed(["a", "b"])
