"""Answers that are kept and given again."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import stat
import threading
from dataclasses import replace
from decimal import Decimal

import pytest

from abstractcore import BadRequestError, InvalidInputError, Price, ResponseCache, TextDelta, create_llm, subscribe
from abstractcore.middleware.response_cache.entries import Entry, read, written
from abstractcore.ports import OperationResult
from abstractcore.schema import Usage
from abstractcore.testing import ScriptedReply
from tests.chaos_server import completion, failure


@pytest.fixture(params=["memory", "sqlite"])
def cache(request, tmp_path):
    return ResponseCache(None if request.param == "memory" else tmp_path / "cache.db", ttl=3600)


def scripted(cache, *replies, **options):
    return create_llm(
        "scripted", model="small", replies=list(replies), price=Price(input=2, output=8), middleware=[cache], **options
    )


def test_equal_call_is_answered_without_a_request_and_says_what_it_saved(call_style, cache):
    llm = scripted(cache, "one", "two")
    first = call_style.generate(llm, "hi", tags={"user": "ann"})
    second = call_style.generate(llm, "hi", tags={"user": "bob"}, timeout=7)
    assert (first.content, first.cached_at, first.saved_cost) == ("one", None, None)
    assert second.content == "one"
    assert (second.cost, second.attempts, second.saved_cost) == (Decimal(0), (), first.cost)
    assert second.cached_at is not None
    assert call_style.generate(llm, "other").content == "two"


def test_stream_and_call_answer_each_other(call_style, cache):
    llm = scripted(cache, "one two", "three")
    with call_style.stream(llm, "hi") as stream:
        streamed = "".join(each.text for each in stream if isinstance(each, TextDelta))
    again = call_style.generate(llm, "hi")
    assert streamed == again.content == "one two"
    assert again.reply == stream.response.reply
    with call_style.stream(llm, "hi") as replayed:
        assert "".join(each.text for each in replayed if isinstance(each, TextDelta)) == "one two"
    assert replayed.response.reply == stream.response.reply
    assert replayed.response.attempts == ()


def test_abandoned_stream_is_not_kept_and_nobody_waits_for_it(call_style, cache):
    llm = scripted(cache, "one two three", "four")
    with call_style.stream(llm, "hi") as stream:
        for _ in stream:
            break
    assert call_style.generate(llm, "hi").content == "four"


@pytest.mark.parametrize("reason", ["length", "content_filter", "refusal"])
def test_incomplete_answer_is_not_kept(call_style, cache, reason):
    llm = scripted(cache, replace(ScriptedReply.text("cut"), finish_reason=reason), "whole")
    assert call_style.generate(llm, "hi").content == "cut"
    assert call_style.generate(llm, "hi").content == "whole"


def test_failed_call_is_not_kept(call_style, cache, server, connect):
    server.script(failure(400))
    server.script(completion())
    llm = connect(middleware=[cache])
    with pytest.raises(BadRequestError):
        call_style.generate(llm, "hi")
    assert call_style.generate(llm, "hi").cached_at is None
    assert call_style.generate(llm, "hi").cached_at is not None
    assert len(server.requests) == 2


def test_options_and_settings_separate_answers(call_style, cache):
    llm = scripted(cache, "one", "two")
    assert call_style.generate(llm, "hi", temperature=0.1).content == "one"
    assert call_style.generate(llm, "hi", temperature=0.2).content == "two"
    other = create_llm("scripted", model="large", replies=["three"], middleware=[cache])
    assert call_style.generate(other, "hi", temperature=0.1).content == "three"


def test_bypass_asks_and_keeps_nothing(call_style, cache):
    llm = scripted(cache, "one", "two")
    call_style.generate(llm, "hi")
    with cache.bypass():
        assert call_style.generate(llm, "hi").content == "two"
    assert call_style.generate(llm, "hi").content == "one"
    cache.clear()


def test_record_says_that_it_was_a_hit(cache):
    records = []
    llm = scripted(cache, "one")
    with subscribe(records.append):
        llm.generate("hi")
        llm.generate("hi")
    first, second = records
    assert (first.cached_at, second.cost, second.saved_cost) == (None, Decimal(0), first.cost)
    assert second.cached_at == pytest.approx(first.started_at)


class Gate:
    """Holds calls until it is opened."""

    def __init__(self) -> None:
        self.opened, self.entered, self.calls = threading.Event(), threading.Event(), 0

    async def around_call(self, context, next):
        self.calls += 1
        self.entered.set()
        await context.runtime.call(self.opened.wait)
        return await next(context)


def test_equal_calls_of_threads_are_asked_once(cache):
    gate = Gate()
    llm = create_llm("scripted", replies=["one"], middleware=[cache, gate])
    texts = []
    threads = [threading.Thread(target=lambda: texts.append(llm.generate("hi").content)) for _ in range(6)]
    for thread in threads:
        thread.start()
    assert gate.entered.wait(60)
    gate.opened.set()
    for thread in threads:
        thread.join(60)
    assert (texts, gate.calls) == (["one"] * 6, 1)


class Counter:
    """Counts calls, each of which lets others begin."""

    calls = 0

    async def around_call(self, context, next):
        self.calls += 1
        await asyncio.sleep(0)
        return await next(context)


def test_equal_calls_of_tasks_are_asked_once_also_as_streams(cache):
    counter = Counter()
    llm = create_llm("scripted", replies=["one"], middleware=[cache, counter])

    async def streamed():
        async with llm.astream("hi") as stream:
            return "".join([each.text async for each in stream if isinstance(each, TextDelta)])

    async def called():
        return (await llm.agenerate("hi")).content

    async def main():
        return await asyncio.gather(*(each() for each in [streamed, called] * 4))

    assert asyncio.run(main()) == ["one"] * 8
    assert counter.calls == 1


def test_result_of_an_operation_is_read_back():
    result = OperationResult([[0.5, 1.0]], Usage(input=3))
    found = read(written(Entry(result, (), 5.0)), 5.0)
    assert (found.answer.value, found.answer.usage, found.stored_at) == ([[0.5, 1.0]], Usage(input=3), 5.0)


class FailsOnce(Gate):
    """The first call fails when the gate opens."""

    async def around_call(self, context, next):
        first = self.calls == 0
        answer = await super().around_call(context, next)
        if first:
            raise BadRequestError("the first one")
        return answer


def test_after_the_first_call_failed_the_next_one_asks(cache):
    gate = FailsOnce()
    llm = create_llm("scripted", replies=["one", "two"], middleware=[cache, gate])
    found = []

    def ask():
        try:
            found.append(llm.generate("hi").content)
        except BadRequestError:
            found.append("failed")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert gate.entered.wait(60)
    gate.opened.set()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == ["failed", "two", "two", "two"]
    assert gate.calls == 2


def test_answer_that_quotes_a_credential_is_not_kept(tmp_path):
    path = tmp_path / "cache.db"
    secret = "sk-" + "a1b2c3d4" * 4
    llm = scripted(ResponseCache(path), f"it is {secret}", "two", headers={"authorization": f"Bearer {secret}"})
    llm.generate("hi")
    assert secret.encode() not in path.read_bytes()
    assert llm.generate("hi").content == "two"


def test_call_inside_the_loop_of_an_equal_stream_does_not_wait_for_itself():
    llm = scripted(ResponseCache(), "one two", "three")
    with llm.stream("hi") as stream:
        for _ in stream:
            assert llm.generate("hi").content == "three"
            break


def test_old_answer_is_asked_again(tmp_path):
    path = tmp_path / "cache.db"
    llm = scripted(ResponseCache(path, ttl=60), "one", "two")
    llm.generate("hi")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE cached_responses SET stored_at = stored_at - 61")
    connection.close()
    assert llm.generate("hi").content == "two"


def test_file_is_private_and_a_damaged_row_is_a_miss(tmp_path):
    path = tmp_path / "cache.db"
    llm = scripted(ResponseCache(path), "one", "two", api_key=None)
    llm.generate("hi")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE cached_responses SET body = x'00'")
    connection.close()
    assert llm.generate("hi").content == "two"


def test_database_that_fails_is_logged_once_and_fails_no_call(tmp_path, caplog):
    path = tmp_path / "cache.db"
    path.write_bytes(b"no database at all" * 100)
    llm = scripted(ResponseCache(path), "one", "two")
    with caplog.at_level(logging.WARNING, "abstractcore"):
        assert [llm.generate("hi").content, llm.generate("hi").content] == ["one", "two"]
    assert sum("response cache" in each.getMessage() for each in caplog.records) == 1


def test_oldest_answers_go_beyond_the_limit():
    llm = scripted(ResponseCache(max_entries=1), "one", "two", "three")
    assert [llm.generate(each).content for each in ("a", "b", "a")] == ["one", "two", "three"]


@pytest.mark.parametrize(
    "options", [{"ttl": 0}, {"ttl": float("nan")}, {"max_entries": 0}, {"store": 1}, {"operations": "embed"}]
)
def test_invalid_argument_is_refused(options):
    with pytest.raises(InvalidInputError):
        ResponseCache(**options)
