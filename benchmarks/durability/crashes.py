"""One crash: a program runs until it is killed, is started again, and a person answers what it asks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from .contenders import Contender
from .payment import ExternalSystems

_PROCESS_SECONDS = 120
_MOST_RESTARTS = 6


class UnreachedPointError(RuntimeError):
    """The process ended in another way than by the kill that was asked for."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended, and what reached the systems outside."""

    status: str
    """The last one that the program reported; `stuck` if it neither ended nor asked."""
    payments: int
    requests: int
    approvals: int
    answers: int
    """How often a person was asked whether the payment was made, and looked it up at the bank."""
    seconds: float
    """From the restart to the end, with the start of processes."""

    def differences(self) -> str:
        """Returns in words what differs from a run without a crash; `ok` if nothing does."""
        usual = {"payment": (self.payments, 1), "model request": (self.requests, 2), "approval": (self.approvals, 1)}
        words = [f"{n} {noun}s" for noun, (n, expected) in usual.items() if n > expected]
        if self.answers:
            words.append("asks what happened")
        if self.status != "completed":
            words.insert(0, f"run {self.status}, {'paid' if self.payments else 'not paid'}")
        return ", ".join(words) or "ok"


def crash(contender: Contender, kill_at: str = "", pause: float = 0.0) -> Outcome:
    """Runs a program that dies at a point, or at none, and brings its run to an end.

    Raises UnreachedPointError if the program did not die there.
    """
    with TemporaryDirectory() as name, contender.server(Path(name)) as server:
        systems = ExternalSystems(Path(name), kill_at, pause)
        first = _run(contender.command("start"), {**server, **systems.environment()})
        if kill_at and first.returncode != -signal.SIGKILL:
            raise UnreachedPointError(f"{contender.program} was not killed at {kill_at!r}: {first.stderr[-2000:]}")
        start = time.perf_counter()
        systems = ExternalSystems(Path(name))
        if kill_at:
            status, answers = _brought_to_an_end(contender, systems, {**server, **systems.environment()})
        else:
            status, answers = _last_status(first), 0
        return Outcome(
            status,
            payments=systems.count("payments"),
            requests=systems.count("requests"),
            approvals=systems.count("approvals"),
            answers=answers,
            seconds=round(time.perf_counter() - start, 1),
        )


def _brought_to_an_end(contender: Contender, systems: ExternalSystems, environment: dict[str, str]) -> tuple[str, int]:
    """Restarts the program as its library says, answers what it asks; returns its status and the count of answers."""
    arguments, status, answers = ["resume"], "", 0
    for _ in range(_MOST_RESTARTS):
        status = _status(contender.command(*arguments), environment)
        if status == "waiting":
            arguments = ["approve"]
        elif status == "interrupted":
            answers += 1
            arguments = ["answer", "paid" if systems.count("payments") else "unpaid"]
        else:
            break
    return status, answers


def _status(command: list[str], environment: dict[str, str]) -> str:
    try:
        return _last_status(_run(command, environment))
    except subprocess.TimeoutExpired:
        return "stuck"


def _last_status(process: subprocess.CompletedProcess[str]) -> str:
    lines = process.stdout.splitlines()
    if not lines:  # a library that fails after the report, when the interpreter ends, has done its work
        raise RuntimeError(f"{process.args} ended with {process.returncode}: {process.stderr[-2000:]}")
    return json.loads(lines[-1])["status"]


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=_PROCESS_SECONDS,
        check=False,
    )
