"""Slow subscribers: bounded queues, without more content than records hold."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from itertools import count

import pytest

from abstractcore import CallRecord, ModelCall, ModelReply, TextPart, create_llm
from abstractcore.concurrency import background
from abstractcore.schema import content_size, size_of
from tests.chaos_server import PATIENCE_SECONDS

KIBIBYTE, MEBIBYTE = 1024, 1024 * 1024
PNG = b"\x89PNG\r\n\x1a\n"
_marks = count()


class Slow:
    """Is held up by its first record until it is let go."""

    def __init__(self) -> None:
        self.begun, self.free = threading.Event(), threading.Event()
        self.records: list[CallRecord] = []

    def __call__(self, record: CallRecord) -> None:
        self.records.append(record)
        self.begun.set()
        self.free.wait(PATIENCE_SECONDS)


class Answering:
    """Answers without a network; only records keep the calls."""

    async def around_call(self, context, next):
        return ModelReply((TextPart("ok"),), "stop")


@pytest.fixture
def llm(services):
    return create_llm(
        "openai-compatible", model="m", base_url="http://127.0.0.1:1", services=services, middleware=[Answering()]
    )


@pytest.fixture
def mark() -> dict[str, str]:
    return {"mark": str(next(_marks))}


def calls_alive(mark: dict[str, str]) -> int:
    gc.collect()
    return sum(each.tags == mark for each in gc.get_objects() if isinstance(each, ModelCall))


@pytest.mark.parametrize("capture", ["off", "redacted", "full"])
def test_queue_of_a_slow_subscriber_without_capture_holds_no_content(call_style, services, llm, mark, capture):
    slow = Slow()
    with services.records.subscribe(slow, capture) as subscription:
        for number in range(10):
            call_style.generate(llm, "x" * MEBIBYTE, tags=mark, media=[PNG + bytes(MEBIBYTE)])
            assert number or slow.begun.wait(PATIENCE_SECONDS)
        assert services.records.flush_writer(PATIENCE_SECONDS)
        worker = subscription._worker.begun()
        assert worker.waiting == 9
        assert (worker.waiting_bytes > 9 * MEBIBYTE) == (capture == "full")
        assert calls_alive(mark) == (0 if capture == "off" else 10)
        slow.free.set()
    assert (len(slow.records), subscription.dropped) == (10, 0)


def test_full_records_beyond_the_byte_limit_are_dropped_and_counted(
    call_style, services, llm, mark, monkeypatch, caplog
):
    monkeypatch.setattr("abstractcore.telemetry.recorder._MOST_BYTES_WAITING", 3 * MEBIBYTE)
    slow = Slow()
    with services.records.subscribe(slow, "full") as subscription:
        for number in range(10):
            call_style.generate(llm, "x" * MEBIBYTE, tags=mark)
            assert number or slow.begun.wait(PATIENCE_SECONDS)
        assert services.records.flush_writer(PATIENCE_SECONDS)
        assert (subscription.dropped, calls_alive(mark)) == (8, 2)
        slow.free.set()
    assert len(slow.records) == 2
    assert caplog.text.count("too much content is waiting") == 1


def test_single_record_may_exceed_the_byte_limit(call_style, services, llm, monkeypatch):
    monkeypatch.setattr("abstractcore.telemetry.recorder._MOST_BYTES_WAITING", 10)
    records: list[CallRecord] = []
    with services.records.subscribe(records.append, "full") as subscription:
        call_style.generate(llm, "x" * KIBIBYTE)
    assert (len(records), subscription.dropped) == (1, 0)


@pytest.mark.parametrize("limit", ["_MOST_UNWRITTEN", "_MOST_BYTES_UNWRITTEN"])
def test_caller_writes_the_record_if_the_queue_is_full(call_style, services, llm, mark, monkeypatch, limit):
    monkeypatch.setattr(f"abstractcore.telemetry.recorder.{limit}", 1)
    held = threading.Event()
    services.records._writer.begun().put(lambda: held.wait(PATIENCE_SECONDS), 1)
    records: list[CallRecord] = []
    with services.records.subscribe(records.append) as subscription:
        for _ in range(5):
            call_style.generate(llm, "x" * KIBIBYTE, tags=mark)
        assert subscription._worker.begun().flush(PATIENCE_SECONDS)
        alive, written = calls_alive(mark), len(records)
        held.set()
    assert (alive, written) in [(0, 5), (1, 4)]
    assert len(records) == 5


def test_digests_are_computed_once_for_all_subscribers(call_style, services, llm, monkeypatch):
    from abstractcore.telemetry import call_records

    digested: list[object] = []
    digest = call_records.digest
    monkeypatch.setattr(call_records, "digest", lambda value: digested.append(value) or digest(value))
    records: list[CallRecord] = []
    subscriptions = [services.records.subscribe(records.append, capture) for capture in ("off", "redacted", "full")]
    call_style.generate(llm, "hi")
    for subscription in subscriptions:
        subscription.close()
    assert len(digested) == 2
    assert len({record.call_digest for record in records}) == 1
    assert sorted(record.call is None for record in records) == [False, False, True]


def test_sizes_are_those_of_texts_and_files(llm):
    call = llm.build("x" * MEBIBYTE, media=[PNG + bytes(MEBIBYTE)], system_prompt="y" * KIBIBYTE)
    assert content_size(call) == 2 * MEBIBYTE + KIBIBYTE + len(PNG)
    assert content_size(call) < size_of(call) < content_size(call) + 8 * KIBIBYTE
    twice = call.with_(messages=(*call.messages, *call.messages))
    assert size_of(twice) < content_size(call) + 8 * KIBIBYTE


def test_closed_services_end_subscriber_threads_and_restart_them_for_later_calls(services, llm):
    threads: list[threading.Thread] = []

    async def notice(record: CallRecord) -> None:
        threads.append(threading.current_thread())

    services.records.subscribe(notice)
    for _ in range(2):
        llm.generate("hi")
        services.close()
        threads[-1].join(PATIENCE_SECONDS)
        assert not threads[-1].is_alive()
    assert len(set(threads)) == 2


def test_closed_services_leave_the_thread_of_a_blocked_subscriber(services, llm):
    slow = Slow()
    threads: list[str] = []

    def notice(record: CallRecord) -> None:
        threads.append(str(threading.get_ident()))
        slow(record)

    subscription = services.records.subscribe(notice)
    llm.generate("hi")
    assert slow.begun.wait(PATIENCE_SECONDS)
    services.records.close(0.01)
    llm.generate("hi")
    slow.free.set()
    assert subscription.flush(PATIENCE_SECONDS)
    assert len(threads) == 2
    assert len(set(threads)) == 1, "two threads would notify it at once"


def test_call_that_ends_while_services_close_is_recorded(services, llm, monkeypatch):
    records: list[CallRecord] = []
    subscription = services.records.subscribe(records.append)
    put = background.BackgroundWorker.put

    def put_late(worker: background.BackgroundWorker, piece: Callable[[], object], size: int = 0) -> None:
        """Put `piece` after another thread has closed the services."""
        monkeypatch.undo()
        closing = threading.Thread(target=services.close)
        closing.start()
        closing.join(PATIENCE_SECONDS)
        worker._thread.join(PATIENCE_SECONDS)
        put(worker, piece, size)

    llm.generate("hi")
    monkeypatch.setattr(background.BackgroundWorker, "put", put_late)
    llm.generate("hi")
    assert subscription.flush(PATIENCE_SECONDS)
    assert (len(records), subscription.dropped) == (2, 0)


def test_record_for_a_subscription_closed_meanwhile_counts_as_dropped(services, llm, monkeypatch):
    records: list[CallRecord] = []
    first, second = (services.records.subscribe(records.append) for _ in range(2))
    monkeypatch.setattr(first, "report", lambda call, origin: second.close())
    llm.generate("hi")
    assert services.records.flush_writer(PATIENCE_SECONDS)
    assert (records, second.dropped) == ([], 1)
