"""Agents whose processes are killed: at each write to the database, in the model and in tools. No payment is made twice
or lost, and the run completes.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from abstractcore import ModelCall
from abstractcore.database import Database
from abstractcore.testing import VirtualClock
from abstractruntime import Run, Runtime
from tests.runtime.agents.treasury import paid, pays_once, pays_twice, treasurer
from tests.runtime.checks import check
from tests.runtime.conftest import BEGIN

pytestmark = pytest.mark.process
T = TypeVar("T")
Replies = Callable[[ModelCall], Any]
OUTPUTS = {pays_once: ("Ann",), pays_twice: ("Ann", "Bob")}


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def nothing(*point: object) -> None:
    """Lets a process live."""


class Watched(Database):
    """A database that calls a function before and after each write."""

    at: Callable[[str, int], object] = staticmethod(nothing)
    writes = 0

    def write(self, work: Callable[..., T], **options: Any) -> T:
        self.writes += 1
        number = self.writes
        self.at("before", number)
        result = super().write(work, **options)
        self.at("after", number)
        return result


class Story:
    """A run that is begun by a process that dies, and ended by this one. Its folder has the database and payments."""

    def __init__(self, folder: Path, replies: Replies) -> None:
        folder.mkdir()
        self.payments = folder / "payments"
        self._place = folder / "runs.db"
        self._replies = replies

    def run(
        self,
        seconds: float = 0.0,
        *,
        at: Callable[[str], object] = nothing,
        at_write: Callable[[str, int], object] = nothing,
    ) -> int:
        """Works, and answers what waits, until the run has ended; returns the number of writes."""
        with closing(Watched(self._place)) as database:
            database.at = at_write
            agent = treasurer(self.payments, self._replies, at)
            runtime = Runtime(database, programs=[agent], clock=VirtualClock(time_of_day=BEGIN + seconds))
            run = runtime.start(agent, "Pay!", id="a")
            for _ in range(10):
                runtime.work()
                if run.info.ended:
                    break
                self._answer(run)
            else:
                pytest.fail(f"the run has not ended: {run.info}")
            self._check(runtime, run, agent)
            return database.writes

    def killed(self, **points: Any) -> None:
        """Runs in a forked process, until it is killed."""
        child = os.fork()
        if child == 0:
            try:
                self.run(**points)
            finally:
                os._exit(1)
        status = os.waitpid(child, 0)[1]
        assert os.WIFSIGNALED(status), "the process has not reached the point"
        assert os.WTERMSIG(status) == signal.SIGKILL

    def _answer(self, run: Run) -> None:
        for wait in run.waits:
            to = wait.call.arguments["to"]
            if wait.reason == "interrupted" and f"{to} 80" in paid(self.payments):
                wait.result(f"paid {to}", by="ann")
            else:
                wait.allow(by="ann")

    def _check(self, runtime: Runtime, run: Run, agent: Any) -> None:
        names = OUTPUTS[self._replies]
        assert run.output == " | ".join(["250", *(f"paid {name}" for name in names)])
        assert sorted(paid(self.payments)) == [f"{name} 80" for name in names]
        check(runtime, run.id, agent)


POINTS = ["in model 0", "in balance", "in model 1", "before pay", "after pay", "in model 2"]


@pytest.mark.parametrize("point", POINTS)
def test_agent_killed_in_its_model_or_a_tool_pays_once(tmp_path: Path, point: str) -> None:
    story = Story(tmp_path / "story", pays_once)
    story.killed(at=lambda reached: kill() if reached == point else None)
    story.run(31)


@pytest.mark.parametrize("replies", [pays_once, pays_twice])
def test_agent_killed_around_any_write_pays_once(tmp_path: Path, replies: Replies) -> None:
    writes = Story(tmp_path / "whole", replies).run()
    for number in range(1, writes + 1):
        for side in ("before", "after"):
            story = Story(tmp_path / f"{number}-{side}", replies)
            story.killed(at_write=lambda reached, count, at=(side, number): kill() if (reached, count) == at else None)
            story.run(31)


def test_agent_killed_again_and_again_pays_once(tmp_path: Path) -> None:
    story = Story(tmp_path / "story", pays_once)
    for generation, point in enumerate(POINTS):
        story.killed(seconds=31 * generation, at=lambda reached, point=point: kill() if reached == point else None)
    story.run(31 * len(POINTS))
