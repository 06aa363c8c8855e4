"""`kill -9` at every passage of every boundary of a plain program, on both databases."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable

import pytest

from abstractruntime import Runtime
from tests.runtime.crashes.boundaries import NAMES
from tests.runtime.crashes.checking import check, end_leases, finish
from tests.runtime.crashes.conftest import Place
from tests.runtime.crashes.processes import exit_code, story, work_in_a_loop

pytestmark = pytest.mark.process


def trace(place: Place, work: Callable[[Runtime], int] = Runtime.work) -> list[str]:
    """Returns the names of all passages of an order without a crash."""
    file = place.folder / "trace"
    assert exit_code(story, place.url, place.outside, "order", "calm", None, file, work) == 0
    check(place.runtime, "calm", "calm/audit")
    return json.loads(file.read_text(encoding="utf-8"))


def check_order(place: Place, id: str, kills: int = 1) -> None:
    """Takes an order to its end after a crash, and asserts that nothing was lost or done twice."""
    place.runtime.start("order", id, id=id)
    finish(place.runtime, place.runtime.run(id), place.outside)
    check(place.runtime, id, f"{id}/audit")
    done = place.outside.done()
    assert done[f"pay {id}"] == done[f"pay the auditor of {id}"] == 1
    assert 1 <= done[f"look {id}"] <= 1 + kills
    assert 1 <= done[f"look again {id}"] <= 1 + kills
    got = {"approval": True, "audit": f"did pay the auditor of {id}"}
    assert place.runtime.run(id).output == [f"did pay {id}", got, f"did look again {id}"]


@pytest.mark.parametrize("name", NAMES)
def test_order_killed_at_a_boundary_is_finished_by_another_worker(place: Place, name: str):
    passages = Counter(trace(place))
    assert {*passages} == {*NAMES}
    for number in range(1, passages[name] + 1):
        id = f"killed-{number}"
        place.crash(f"kill -9: {name}")
        assert exit_code(story, place.url, place.outside, "order", id, (name, number)) == -signal.SIGKILL
        check_order(place, id)
        place.survived()


def test_worker_that_recovers_from_a_kill_is_killed_too(place: Place):
    passages = len(trace(place))
    for first in range(1, passages + 1, 4):
        id = f"killed-{first}"
        second = 1 + first * 7 % 40
        place.crash("kill -9: again, in recovery")
        assert exit_code(story, place.url, place.outside, "order", id, ("any", first)) == -signal.SIGKILL
        end_leases(place.runtime)
        assert exit_code(story, place.url, place.outside, "order", id, ("any", second)) in (-signal.SIGKILL, 0)
        check_order(place, id, kills=2)
        place.survived()


def test_event_loop_of_workers_is_killed(place: Place):
    passages = len(trace(place, work_in_a_loop))
    for number in range(1, passages * 4 // 5, 3):  # threads may pass a few more or less
        id = f"killed-{number}"
        place.crash("kill -9: an event loop")
        exit = exit_code(story, place.url, place.outside, "order", id, ("any", number), None, work_in_a_loop)
        assert exit == -signal.SIGKILL
        check_order(place, id)
        place.survived()
