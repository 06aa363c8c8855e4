"""Records on their way to the database: losses, redactors, floods, forks, the end of the program, the environment."""

from __future__ import annotations

import logging
import os
import pickle
import stat
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Services, create_llm
from abstractcore.database import DatabaseError
from abstractcore.errors import ConfigurationError, InvalidInputError
from abstractcore.schema import CallRecord, Message, TextPart, TraceRecord
from abstractcore.telemetry import Recorder
from abstractcore.traces import TraceStore, keeping
from abstractcore.traces import environment as environment_module
from abstractcore.traces.environment import keep_traces
from tests.core.traces.stores import a_call, remove, subscriber_of
from tests.core.traces.test_costs import LONG
from tests.forks import in_fork
from tests.postgresql import PostgreSQL

SECONDS = 60


class Failing(TraceStore):
    """A store whose database fails while `error` is set."""

    error: Exception | None = None

    def _write(self, batch: Any) -> None:
        if self.error is not None:
            raise self.error
        super()._write(batch)


@pytest.fixture
def failing(tmp_path: Path) -> Any:
    store = Failing(tmp_path / "traces.db")
    yield store
    store.close()


def test_records_wait_for_a_database_that_fails_and_are_written_when_it_is_back(
    failing: Failing, recorder: Recorder, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.WARNING, "abstractcore.traces")
    keeping = failing.keep_for(recorder, "full")
    receive = subscriber_of(recorder)
    failing.error = DatabaseError("the disk is full", code="SQLITE_FULL")
    calls = [a_call() for _ in range(3)]
    for call in calls:
        receive(call)
        assert not keeping.flush(SECONDS)
    assert (keeping.waiting, keeping.lost, str(keeping.failure)) == (3, 0, "the disk is full")
    failing.error = None
    assert keeping.flush(SECONDS)
    assert {call.trace_id for call in failing.calls()} == {call.trace_id for call in calls}
    assert (keeping.waiting, keeping.lost, keeping.failure) == (0, 0, None)
    assert [record.message for record in caplog.records] == [
        "traces wait for their database: the disk is full",
        "traces are written again; 0 were lost meanwhile",
    ]


def test_flood_while_the_database_fails_is_counted_and_bounded(
    failing: Failing, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(keeping, "MOST_WAITING", 5)
    caplog.set_level(logging.WARNING, "abstractcore.traces")
    kept = failing.keep_for(recorder, "full")
    receive = subscriber_of(recorder)
    failing.error = DatabaseError("the server is gone")
    for _ in range(12):
        receive(a_call())
    assert not kept.flush(SECONDS)
    assert (kept.waiting, kept.lost, failing.losses) == (5, 7, 7)
    assert caplog.text.count("traces were lost") == 1
    failing.error = None
    kept.close()
    assert (len(failing.calls()), kept.lost) == (5, 7)


def test_flush_succeeds_while_other_threads_go_on_making_calls(
    store: TraceStore, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
):
    with store.keep_for(recorder, "full") as kept:
        receive = subscriber_of(recorder)
        flush = kept._worker.flush  # pyright: ignore[reportPrivateUsage]

        def flush_and_receive_another(timeout: float | None) -> bool:
            done = flush(timeout)
            receive(a_call())
            return done

        monkeypatch.setattr(kept._worker, "flush", flush_and_receive_another)  # pyright: ignore[reportPrivateUsage]
        for number in range(1, 4):
            receive(a_call())
            assert kept.flush(SECONDS)
            assert len(store.calls()) >= 2 * number - 1
        monkeypatch.undo()


def test_records_that_are_not_written_at_the_end_are_lost(failing: Failing, recorder: Recorder):
    failing.error = DatabaseError("the server is gone")
    with failing.keep_for(recorder, "full") as kept:
        subscriber_of(recorder)(a_call())
    assert kept.lost == failing.losses == 1


def test_invalid_record_does_not_take_others_with_it(store: TraceStore, recorder: Recorder):
    with store.keep_for(recorder, "off") as kept:
        receive = subscriber_of(recorder)
        receive(a_call())
        invalid = a_call()
        receive(invalid)
        row = kept._queue().records[-1][0]  # pyright: ignore[reportPrivateUsage]
        row.values["input_tokens"] = 2**70
        receive(a_call())
        assert kept.flush(SECONDS)
        assert (kept.lost, kept.failure) == (1, None)
    assert len(store.calls()) == 2
    assert invalid.trace_id not in {call.trace_id for call in store.calls()}


@pytest.mark.parametrize("code", ["22001", "54000", "SQLITE_TOOBIG"])
def test_record_above_a_limit_of_the_database_does_not_hold_up_others(
    failing: Failing, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, code: str
):
    refused = a_call()
    write = TraceStore._write  # pyright: ignore[reportPrivateUsage]

    def refuse(store: TraceStore, batch: Any) -> None:
        if any(row.values["trace_id"] == refused.trace_id for row in batch):
            raise DatabaseError("the database failed", code=code)
        write(store, batch)

    monkeypatch.setattr(Failing, "_write", refuse)
    with failing.keep_for(recorder, "full") as kept:
        for call in (a_call(), refused, a_call()):
            subscriber_of(recorder)(call)
        assert kept.flush(SECONDS)
        assert (kept.lost, kept.failure, kept.waiting) == (1, None, 0)
    assert len(failing.calls()) == 2


@pytest.mark.process
def test_id_of_a_parent_that_an_index_does_not_take_loses_its_record_alone(postgresql: PostgreSQL, recorder: Recorder):
    store = TraceStore(postgresql.url)
    with store.keep_for(recorder, "full") as kept:
        for parent in (None, LONG, None):
            subscriber_of(recorder)(a_call(parent_id=parent))
        assert kept.flush(SECONDS)
    assert (kept.lost, len(store.calls())) == (1, 2)
    remove(store)


def test_redactor_changes_drops_or_fails(store: TraceStore, recorder: Recorder):
    def redact(record: TraceRecord) -> TraceRecord | None:
        assert isinstance(record, CallRecord)
        if record.model == "secret":
            raise ValueError("oops")
        assert record.call is not None
        message = Message("user", (TextPart("[removed]"),))
        return None if record.model == "none" else replace(record, call=record.call.with_(messages=(message,)))

    with store.keep_for(recorder, "full", redact=redact) as kept:
        receive = subscriber_of(recorder)
        for model in ("secret", "none", "small"):
            receive(a_call("The canary sings.", "Well.", model=model))
    assert kept.lost == 1
    (call,) = store.calls()
    assert store.calls(text="canary") == []
    assert "canary" not in repr(store.trace(call.trace_id).root.record)


def test_content_of_a_record_whose_redactor_failed_is_in_no_file(tmp_path: Path, recorder: Recorder):
    def fail(record: TraceRecord) -> TraceRecord:
        raise ValueError(record)

    store = TraceStore(tmp_path / "traces.db")
    with store.keep_for(recorder, "full", redact=fail) as kept:
        subscriber_of(recorder)(a_call("The canary sings."))
        assert kept.flush(SECONDS)
        assert store.calls() == []
        content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"canary" not in content
    store.close()


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("it has no text")


@pytest.mark.parametrize("error", [ValueError("the canary sings"), SystemExit("the canary sings"), UnprintableError()])
def test_redactor_that_raises_is_counted_and_its_message_is_not_logged(
    store: TraceStore, recorder: Recorder, caplog: pytest.LogCaptureFixture, error: BaseException
):
    def fail(record: TraceRecord) -> TraceRecord:
        raise error

    with store.keep_for(recorder, "full", redact=fail) as kept:
        subscriber_of(recorder)(a_call("The canary sings."))
    assert (kept.lost, store.calls()) == (1, [])
    assert [record.message for record in caplog.records] == [
        f"traces were lost: {type(error).__name__} in redact or encoding"
    ]
    assert "canary" not in caplog.text


@pytest.mark.parametrize("kept_instead", [False, "", {}, 0])
def test_redactor_that_returns_no_record_is_counted(store: TraceStore, recorder: Recorder, kept_instead: Any):
    with store.keep_for(recorder, "full", redact=lambda record: kept_instead) as kept:
        subscriber_of(recorder)(a_call())
    assert (kept.lost, store.calls()) == (1, [])


@pytest.mark.parametrize("fails", [False, True])
def test_batch_that_is_being_written_when_keeping_ends_is_lost_only_if_that_fails(
    store: TraceStore, recorder: Recorder, fails: bool
):
    writing, going_on = threading.Event(), threading.Event()
    write = store._write  # pyright: ignore[reportPrivateUsage]

    def slow(batch: Any) -> None:
        writing.set()
        assert going_on.wait(SECONDS)
        if fails:
            raise DatabaseError("the server is gone")
        write(batch)

    kept = keeping.Keeping(slow, recorder, "full", None)
    receive = subscriber_of(recorder)
    receive(a_call())
    assert writing.wait(SECONDS)
    for _ in range(3):
        receive(a_call())
    kept.close(0.0)
    assert kept.lost == 3
    going_on.set()
    kept._worker.flush(SECONDS)  # pyright: ignore[reportPrivateUsage]
    receive(a_call())
    assert (kept.lost, kept.waiting, len(store.calls())) == ((5, 0, 0) if fails else (4, 0, 1))


@pytest.mark.parametrize(("capture", "redact"), [("some", None), ("full", 3)])
def test_invalid_options_are_errors(store: TraceStore, recorder: Recorder, capture: Any, redact: Any):
    with pytest.raises(InvalidInputError):
        store.keep_for(recorder, capture, redact=redact)


def test_store_drops_what_is_closed_and_keeps_the_number_of_its_losses(failing: Failing, recorder: Recorder):
    failing.error = DatabaseError("the server is gone")
    for number in range(1, 4):
        with failing.keep_for(recorder, "full"):
            subscriber_of(recorder)(a_call())
        assert failing.losses == number
    assert [*failing._keepings] == []  # pyright: ignore[reportPrivateUsage]
    failing.error = None
    kept = failing.keep_for(recorder, "full")
    assert ([*failing._keepings], failing.losses) == ([kept], 3)  # pyright: ignore[reportPrivateUsage]


def test_losses_of_several_threads_are_all_counted():
    count = keeping.LossCount()
    firsts: list[bool] = []
    threads = [threading.Thread(target=lambda: firsts.extend([count.add(1) for _ in range(5_000)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (count.count, firsts.count(True)) == (20_000, 1)


def test_keeping_is_not_pickled(store: TraceStore, recorder: Recorder):
    with store.keep_for(recorder) as kept, pytest.raises(InvalidInputError, match="neither copied nor pickled"):
        pickle.dumps(kept)


@pytest.mark.process
def test_parent_and_forked_child_write_their_own_records(tmp_path: Path):
    services = Services()
    llm = create_llm("scripted", replies=lambda call: "Yes.", services=services)
    store = TraceStore(tmp_path / "traces.db")
    with store.keep_for(services.records, "full") as kept:
        for _ in range(3):
            llm.generate("In the parent?")

        def child() -> None:
            llm.generate("In the child?")
            assert kept.flush(SECONDS)

        in_fork(child)
        assert kept.flush(SECONDS)
    assert (len(store.calls(text="parent")), len(store.calls(text="child")), kept.lost) == (3, 1, 0)
    store.close()


@pytest.mark.process
@pytest.mark.parametrize("opened", [False, True])
def test_child_forked_while_the_parent_begins_to_write_writes_its_own_records(tmp_path: Path, opened: bool):
    services = Services()
    llm = create_llm("scripted", replies=lambda call: "Yes.", services=services)
    store = TraceStore(tmp_path / "traces.db")
    if opened:
        assert store.calls() == []
    # The thread that writes waits for the end of the fork, and has these.
    locks: Any = [store._writer._lock, store._opening]  # pyright: ignore[reportPrivateUsage]
    held, released = threading.Event(), threading.Event()

    def hold() -> None:
        with locks[0], locks[1]:
            held.set()
            released.wait(SECONDS)

    holder = threading.Thread(target=hold)
    with store.keep_for(services.records, "full") as kept:

        def child() -> None:
            llm.generate("In the child?")
            assert kept.flush(5)

        holder.start()
        assert held.wait(SECONDS)
        try:
            in_fork(child)
        finally:
            released.set()
            holder.join()
    assert len(store.calls(text="child")) == 1
    store.close()


@pytest.mark.parametrize("value", ["", "off"])
def test_environment_keeps_nothing_unless_asked(recorder: Recorder, value: str):
    keep_traces({"ABSTRACTCORE_TRACES": value}, recorder)
    assert not recorder.wanted()


def test_services_of_a_program_keep_traces_as_their_environment_says(tmp_path: Path):
    place = tmp_path / "traces.db"
    environment = {"ABSTRACTCORE_TRACES": "full", "ABSTRACTCORE_TRACES_STORE": str(place)}
    for number in range(2):
        services = Services(environment=environment)
        for _ in range(2):
            create_llm("scripted", replies=["Yes."], services=services).generate(f"Is it {number}?")
        services.close()
    stores = environment_module._stores  # pyright: ignore[reportPrivateUsage]
    (store,) = [stores.pop(settings) for settings in [*stores] if settings.place == str(place)]
    store.close()
    assert [len(store.calls(text=text)) for text in ("0", "1")] == [2, 2]
    store.close()


def test_environment_with_another_value_is_an_error(recorder: Recorder):
    with pytest.raises(ConfigurationError, match="ABSTRACTCORE_TRACES is 'yes'"):
        keep_traces({"ABSTRACTCORE_TRACES": "yes"}, recorder)


def test_environment_bounds_what_is_kept(tmp_path: Path, recorder: Recorder):
    place = tmp_path / "traces.db"
    environment = {"ABSTRACTCORE_TRACES": "off", "ABSTRACTCORE_TRACES_STORE": str(place)}
    environment |= {"ABSTRACTCORE_TRACES": "full", "ABSTRACTCORE_TRACES_KEEP_DAYS": "0.5"}
    keep_traces(environment, recorder)
    stores = environment_module._stores  # pyright: ignore[reportPrivateUsage]
    (store,) = [stores.pop(settings) for settings in [*stores] if settings.place == str(place)]
    receive = subscriber_of(recorder)
    receive(a_call(at=time.time()))
    receive(a_call(at=time.time() - 86_400))
    store.close()
    again = TraceStore.existing(place)
    assert len(again.calls()) == 1
    again.close()


@pytest.mark.parametrize(("name", "value"), [("DAYS", "a week"), ("DAYS", "nan"), ("BYTES", "1.5"), ("BYTES", "-1")])
def test_bounds_of_the_environment_that_are_no_numbers_are_errors(recorder: Recorder, name: str, value: str):
    with pytest.raises(ConfigurationError, match=f"ABSTRACTCORE_TRACES_KEEP_{name} is '{value}'"):
        keep_traces({"ABSTRACTCORE_TRACES": "full", f"ABSTRACTCORE_TRACES_KEEP_{name}": value}, recorder)


def test_threads_that_keep_traces_of_a_place_at_once_share_a_store(
    tmp_path: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
):
    opened: list[TraceStore] = []
    both = threading.Barrier(2)

    def slow(*arguments: Any, **bounds: Any) -> TraceStore:
        opened.append(TraceStore(*arguments, **bounds))
        return opened[-1]

    def keep() -> None:
        both.wait(SECONDS)
        keep_traces(environment, recorder)

    monkeypatch.setattr(environment_module, "_stores", {})
    monkeypatch.setattr(environment_module, "TraceStore", slow)
    environment = {"ABSTRACTCORE_TRACES": "full", "ABSTRACTCORE_TRACES_STORE": str(tmp_path / "traces.db")}
    threads = [threading.Thread(target=keep) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (store,) = opened
    store.close()


def test_store_of_the_environment_that_cannot_be_used_fails_no_program(
    recorder: Recorder, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.WARNING, "abstractcore.traces")
    keep_traces({"ABSTRACTCORE_TRACES": "full", "ABSTRACTCORE_TRACES_STORE": "oracle://host/db"}, recorder)
    assert not recorder.wanted()
    assert "ABSTRACTCORE_TRACES=full has no effect: 'oracle' is not a database" in caplog.text


PROGRAM = """
import abstractcore
llm = abstractcore.create_llm("scripted", replies=["It is at noon."])
print(llm.generate("When is lunch?").content)
"""


def run(place: Path, capture: str | None, first: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ABSTRACTCORE_TRACES_STORE": str(place)}
    environment |= {} if capture is None else {"ABSTRACTCORE_TRACES": capture}
    command = [sys.executable, "-W", "error", "-c", first + PROGRAM + "import sys; print('sqlalchemy' in sys.modules)"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.process
def test_traces_of_a_program_are_kept_by_its_environment_and_flushed_at_its_end(tmp_path: Path):
    place = tmp_path / "folder" / "traces.db"
    done = run(place, "full")
    assert (done.stdout, done.stderr) == ("It is at noon.\nTrue\n", "")
    store = TraceStore(place)
    (call,) = store.calls(text="lunch")
    assert "noon" in repr(store.trace(call.trace_id).root.record)
    store.close()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


@pytest.mark.process
def test_program_without_the_database_library_runs_and_says_what_to_install(tmp_path: Path):
    done = run(tmp_path / "traces.db", "full", "import sys; sys.modules['sqlalchemy'] = None")
    assert done.stdout.startswith("It is at noon.\n")
    assert (
        "ABSTRACTCORE_TRACES has no effect: Traces, budgets and other data in a database require sqlalchemy"
        in done.stderr
    )
    assert "pip install sqlalchemy" in done.stderr


@pytest.mark.process
@pytest.mark.parametrize("capture", [None, "off"])
def test_program_without_traces_does_not_open_a_database(tmp_path: Path, capture: str | None):
    done = run(tmp_path / "traces.db", capture)
    assert (done.stdout, done.stderr) == ("It is at noon.\nFalse\n", "")
    assert [*tmp_path.iterdir()] == []
