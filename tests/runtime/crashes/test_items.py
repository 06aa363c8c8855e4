"""Items that race: an event and its wait, answers of several people, and starts of one run."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import select

from abstractruntime import FunctionProgram, Item, NotWaitingError, Runtime, Step, Wait
from abstractruntime.json_documents import JSON
from abstractruntime.store.tables import inbox
from tests.chaos_server import PATIENCE_SECONDS
from tests.runtime.crashes.checking import check
from tests.runtime.crashes.conftest import Place
from tests.runtime.crashes.processes import FORKS, ended, received, running

pytestmark = pytest.mark.process
PROCESSES = 8
EVENTS = 20


def _listen(state: JSON, item: Item) -> Step:
    """Waits for the event that its input names, and completes with its payload."""
    if item.kind == "start":
        return Step.wait(None, Wait(item.payload, "event" if item.payload.startswith("event") else "approval"))
    return Step.complete(item.payload)


LISTEN = FunctionProgram("listen", _listen)
OF_LISTEN: Any = {"listen@1": LISTEN}


def test_event_that_comes_before_its_wait_is_kept_for_it(place: Place):
    place.crash("an event before its wait")
    with Runtime(place.url, programs=[LISTEN]) as runtime:
        assert runtime.emit("event", 7).state == "kept"
        first, second = (runtime.start(LISTEN, "event", id=id) for id in ("first", "second"))
        runtime.work()
        assert {first.status, second.status} == {"completed", "waiting"}
        assert runtime.emit("event", 8).state == "queued"
        runtime.work()
        assert sorted([first.output, second.output]) == [7, 8]
    check(place.runtime, "first", "second", programs=OF_LISTEN)
    place.survived()


def emit(url: str, start: threading.Barrier) -> None:
    """Sends many events as others begin to wait for them."""
    with Runtime(url) as runtime:
        start.wait(PATIENCE_SECONDS)
        for number in range(EVENTS):
            runtime.emit(f"event-{number}", number)


def listen(url: str, start: threading.Barrier) -> None:
    """Works on runs that wait for events."""
    with Runtime(url, programs=[LISTEN]) as runtime:
        start.wait(PATIENCE_SECONDS)
        runtime.work()


def test_event_that_comes_as_its_wait_opens_is_not_lost(place: Place):
    place.crash("an event as its wait opens")
    ids = [str(number) for number in range(EVENTS)]
    with Runtime(place.url, programs=[LISTEN]) as runtime:
        for id in ids:
            runtime.start(LISTEN, f"event-{id}", id=id)
        start = FORKS.Barrier(2)
        with running(emit, place.url, start) as emitting, running(listen, place.url, start) as listening:
            assert [ended(emitting), ended(listening)] == [0, 0]
        runtime.work()
        assert [runtime.run(id).output for id in ids] == [*range(EVENTS)]
    check(place.runtime, *ids, programs=OF_LISTEN)
    place.survived()


def answer(url: str, id: str | None, start: threading.Barrier, test: Any) -> None:
    """Answers a wait, at the same time as other processes do; works on the run that is due."""
    with Runtime(url, programs=[LISTEN]) as runtime:
        (wait,) = runtime.run("asking").waits
        start.wait(PATIENCE_SECONDS)
        try:
            test.send(wait.answer(FORKS.current_process().name, id=id).state)
        except NotWaitingError:
            test.send("refused")
        runtime.work()


@pytest.mark.parametrize("id", [None, "the answer"], ids=["of their own ids", "of one id"])
def test_one_of_eight_answers_is_applied(place: Place, id: str | None):
    place.crash("eight racing answers")
    with Runtime(place.url, programs=[LISTEN]) as runtime, ExitStack() as stack:
        run = runtime.start(LISTEN, "approval", id="asking")
        runtime.work()
        start, (ours, theirs) = FORKS.Barrier(PROCESSES), FORKS.Pipe()
        racing = [stack.enter_context(running(answer, place.url, id, start, theirs)) for _ in range(PROCESSES)]
        assert [ended(process) for process in racing] == [0] * PROCESSES
        states = Counter(ours.recv() for _ in racing)
        runtime.work()
        rows = place.runtime.database.read(
            lambda connection: connection.execute(select(inbox).where(inbox.c.kind == "answer")).all()
        )
        outcomes = Counter(row.state for row in rows)
        assert run.status == "completed"
        if id is None:
            assert states["queued"] + states["refused"] == PROCESSES
            assert outcomes == {"applied": 1, "refused": PROCESSES - 1}
        else:
            assert states == {"queued": 1, "repeated": PROCESSES - 1}
            assert outcomes == {"applied": 1}
    check(place.runtime, "asking", programs=OF_LISTEN)
    place.survived()


def begin(url: str, start: threading.Barrier, test: Any) -> None:
    """Starts a run, at the same time as other processes do."""
    with Runtime(url, programs=[LISTEN]) as runtime:
        start.wait(PATIENCE_SECONDS)
        test.send(runtime.start(LISTEN, "approval", id="begun").id)


def test_starts_of_one_id_make_one_run(place: Place):
    place.crash("eight racing starts of one run")
    with Runtime(place.url, programs=[LISTEN]) as runtime, ExitStack() as stack:
        start, (ours, theirs) = FORKS.Barrier(PROCESSES), FORKS.Pipe()
        racing = [stack.enter_context(running(begin, place.url, start, theirs)) for _ in range(PROCESSES)]
        assert [ended(process) for process in racing] == [0] * PROCESSES
        for _ in racing:
            received(ours, "begun")
        runtime.work()
        runtime.run("begun").waits[0].answer("yes")
        runtime.work()
        assert [run.id for run in runtime.runs()] == ["begun"]
    check(place.runtime, "begun", programs=OF_LISTEN)
    place.survived()
