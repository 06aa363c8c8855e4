"""`kill -9` at the boundaries of agents: one payment after an approval, and three tool calls at once."""

from __future__ import annotations

import json
import signal
from collections import Counter

import pytest

from tests.runtime.crashes.boundaries import NOTES
from tests.runtime.crashes.checking import check, finish
from tests.runtime.crashes.conftest import Place
from tests.runtime.crashes.processes import exit_code, story
from tests.runtime.crashes.treasurers import PAYS

pytestmark = pytest.mark.process
ROWS = {"treasurer": "an agent", "treasurer-of-two": "three calls at once"}
BOUNDARIES = {
    "claimed",
    "item taken",
    "in the model",
    "in a tool, before its work",
    "in a tool, after its work",
    "before COMMIT",
    "after COMMIT",
    "released",
    *(f"{side} COMMIT of a note: {note}" for note in NOTES for side in ("before", "after")),
}
"""Those of a plain program between two COMMITs are no other ones here."""


def check_agent(place: Place, agent: str, id: str) -> None:
    """Takes an agent to its end after a crash, and asserts that nothing was lost or done twice."""
    run = place.runtime.start(agent, id, id=id)
    finish(place.runtime, run, place.outside)
    check(place.runtime, id)
    done = {what: count for what, count in place.outside.done().items() if what.endswith(f" {id}")}
    paid = [f"pay {to} of {id}" for to in PAYS[agent][1]]
    assert run.output == " | ".join(f"did {what}" for what in (f"look {id}", *paid))
    assert [done.pop(what) for what in paid] == [1] * len(paid)
    assert all(count in (1, 2) for count in done.values()), done
    models = range(3) if len(paid) == 1 else (0, 3)
    assert {*done} == {f"look {id}", *(f"model {count} {id}" for count in models)}


@pytest.mark.parametrize("agent", PAYS)
def test_agent_killed_at_any_boundary_is_finished_by_another_worker(place: Place, agent: str):
    file = place.folder / "trace"
    assert exit_code(story, place.url, place.outside, agent, "calm", None, file) == 0
    check_agent(place, agent, "calm")
    passages = Counter(name for name in json.loads(file.read_text(encoding="utf-8")) if name in BOUNDARIES)
    for name, count in passages.items():
        for number in range(1, count + 1):
            id = f"killed-{name}-{number}"
            place.crash(f"kill -9, {ROWS[agent]}: {name}")
            assert exit_code(story, place.url, place.outside, agent, id, (name, number)) == -signal.SIGKILL
            check_agent(place, agent, id)
            place.survived()
