"""`abstractcore runs ...`: most in this process, the worker as a process that gets signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from abstractruntime import Runtime
from abstractruntime.commands import runs
from abstractruntime.commands.stores import programs_and_effects
from abstractruntime.records import Record
from abstractruntime.timeline import described, shortened, shown_call, timeline

TREASURY = '''
"""Programs for the commands."""
import time
from decimal import Decimal
from abstractruntime import Child, Effect, EffectResult, FunctionEffect, FunctionProgram, Step, Wait

def step(state, item):
    if item.kind == "start":
        return Step.do(item.payload, Effect("quote", item.payload))
    if item.kind == "result" and item.key == "effect":
        return Step.wait(state, Wait("go", asked={"price": item.payload}))
    if item.kind == "answer":
        return Step.do(state, Effect("pay", {"euros": 80}, key="payment"))
    return Step.complete({"paid": item.payload, "error": item.error}, state=state)

def parent(state, item):
    if item.kind == "start":
        return Step.wait({}, Wait("child", "child"), children=(Child("child", "treasurer", {"to": "Bob"}),))
    return Step.complete(item.payload)

def lasting(state, item):
    if item.kind == "start":
        return Step.do({}, Effect("last"))
    return Step.fail(item.error["message"])

def last(context, payload):
    print("begun", flush=True)
    time.sleep(600)

treasurer = FunctionProgram("treasurer", step)
team = [treasurer, FunctionProgram("parent", parent), FunctionProgram("lasting", lasting)]
effects = {
    "quote": FunctionEffect(lambda context, payload: EffectResult({"euros": 80}, 1200, Decimal("0.02")), "repeat"),
    "pay": lambda context, payload: "paid",
    "last": last,
}
number = 5
'''
ENDLESS = """
from abstractruntime import FunctionProgram

def step(state, item):
    print("begun", flush=True)
    while True:
        pass

endless = FunctionProgram("endless", step)
"""
PATIENCE_SECONDS = 30.0
ALL = ("--programs", "treasury:team", "--programs", "treasury:effects")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with programs."""
    (tmp_path / "treasury.py").write_text(TREASURY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("ABSTRACTRUNTIME_STORE", "ABSTRACTRUNTIME_PROGRAMS"):
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in sys.modules if name == "treasury"]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


def invoke(*arguments: str, code: int = 0) -> Result:
    """Runs a command in this process."""
    result = CliRunner().invoke(runs, [*arguments])
    assert result.exit_code == code, result.output
    return result


def json_of(*arguments: str, code: int = 0) -> Any:
    data = json.loads(invoke(*arguments, "--json", code=code).stdout)
    assert data["exit_code"] == code
    return data


def work() -> None:
    invoke("work", "--until-idle", *ALL)


def test_run_is_started_worked_on_answered_and_shown(folder: Path) -> None:
    started = invoke("start", "treasurer", '{"to": "Ann"}', "--id", "invoice-17", *ALL)
    assert started.stdout == "invoice-17\n"
    assert json_of("start", "treasurer", '{"to": "Ann"}', "--id", "invoice-17", *ALL)["status"] == "running"
    worked = invoke("work", "--until-idle", *ALL)
    assert worked.stderr.startswith("ready: treasurer@1, parent@1, lasting@1; 16 runs at once\n")
    assert json.loads(worked.stderr.splitlines()[-1])["claimed"] == 1
    (listed,) = json_of("list", "--status", "waiting")["runs"]
    assert (listed["id"], [wait["key"] for wait in listed["waits"]]) == ("invoice-17", ["go"])
    assert "go (input)" in invoke("list").stdout
    shown = invoke("show", "invoice-17").stdout
    assert '{"price": {"euros": 80}}' in shown
    assert "1,200\t0.02" in shown
    assert (
        invoke("answer", "invoice-17", "--payload", "true", "--by", "ann").stdout
        == "sent the answer to 'go' of invoice-17: a worker applies it, unless another one came first\n"
    )
    again = invoke("answer", "invoice-17", "--payload", "false", "--by", "bob").stdout
    assert again == "'go' of invoice-17 was answered before: that answer counts, and this one will be refused\n"
    work()
    data = json_of("show", "invoice-17")
    assert data["run"]["output"] == {"paid": "paid", "error": None}
    assert data["run"]["spent"] == {"steps": 4, "tokens": 1200, "dollars": "0.02"}
    assert [record["seq"] for record in data["records"]] == [1, 2, 3, 4, 5]
    assert "answer go by ann → begin pay (payment)" in invoke("show", "invoice-17").stdout
    assert invoke("show", "invoice-17").stdout.count("\n") > 10


def test_children_are_shown(folder: Path) -> None:
    invoke("start", "parent@1", "--id", "p")
    work()
    (child,) = json_of("show", "p")["children"]
    assert (child["id"], child["status"]) == ("p/child", "waiting")
    assert "p/child\ttreasurer@1\twaiting" in invoke("show", "p").stdout
    assert [run["id"] for run in json_of("list", "--parent", "p")["runs"]] == ["p/child"]
    assert invoke("cancel", "p", "--reason", "too dear", "--by", "ann").stdout.startswith("sent cancel to p")
    work()
    assert {run["status"] for run in json_of("list")["runs"]} == {"cancelled"}
    assert "too dear" in invoke("show", "p").stdout
    refused = json_of("cancel", "p", code=1)["error"]
    assert refused["type"] == "NotWaitingError"


def test_pause_holds_a_run_until_resume(folder: Path) -> None:
    invoke("start", "treasurer@1", "{}", "--id", "a")
    assert json_of("pause", "a")["state"] == "queued"
    work()
    assert "running, paused" in invoke("show", "a").stdout
    invoke("resume", "a", "--by", "ann")
    work()
    assert "resumed by ann" in invoke("show", "a").stdout
    assert json_of("show", "a")["run"]["status"] == "waiting"


def test_tail_prints_each_record_as_a_line(folder: Path) -> None:
    invoke("start", "treasurer@1", "{}", "--id", "a")
    invoke("cancel", "a")
    work()
    lines = invoke("tail", "a").stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["1", "2"]
    assert lines[0].endswith("created: treasurer@1")
    (record,) = invoke("tail", "a", "--after", "1", "--json").stdout.splitlines()
    assert json.loads(record)["kind"] == "ended"
    invoke("start", "treasurer@1", "{}", "--id", "b")
    assert invoke("tail", "b", "--no-follow").stdout.count("\n") == 1


def test_ledgers_are_verified_exported_and_pruned(folder: Path) -> None:
    for name in ("a", "b/c"):
        invoke("start", "treasurer@1", "{}", "--id", name)
    invoke("cancel", "a")
    work()
    verified = json_of("verify")["runs"]
    assert [(each["run"], each["records"], each["problems"]) for each in verified] == [("a", 2, []), ("b/c", 3, [])]
    assert invoke("verify", "a").stdout.startswith("a\t2 records\tagrees\t")
    assert invoke("export", "b/c").stdout == "b-c.zip\n"
    assert json_of("export", "a", "-o", "kept.zip")["head"] == verified[0]["head"]
    assert json_of("export", "a", "-o", "kept.zip", code=2)["error"]["type"] == "InvalidInputError"
    assert json_of("prune", "--older-than", "1d")["runs"] == []
    assert json_of("prune", "--older-than", "0s", "--dry-run") == {"runs": ["a"], "deleted": False, "exit_code": 0}
    assert invoke("prune", "--older-than", "0s").stdout == "a\n"
    assert [run["id"] for run in json_of("list")["runs"]] == ["b/c"]
    assert json_of("verify", "kept.zip", "b-c.zip")["runs"] == verified
    assert json_of("verify", "a", code=1)["error"]["type"] == "RunNotFoundError"


def test_changed_record_is_found_with_exit_code_1(folder: Path) -> None:
    invoke("start", "treasurer@1", "{}", "--id", "a")
    work()
    with Runtime("sqlite:///runs.db") as runtime, runtime.database.writing() as connection:
        connection.exec_driver_sql("UPDATE abstractruntime_ledger SET kind = 'ended' WHERE seq = 2")
    (found,) = json_of("verify", code=1)["runs"]
    assert found["problems"][0]["seq"] == 2
    assert "agrees" not in invoke("verify", "a", code=1).stdout
    assert json_of("export", "a", code=1)["error"]["type"] == "LedgerError"


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("show", "b"), 1, "there is no run 'b'"),
        (("answer", "a", "--allow"), 1, "waits for no answer"),
        (("answer", "a"), 2, "give one of --allow"),
        (("answer", "a", "--allow", "--deny"), 2, "give one of --allow"),
        (("answer", "a", "--allow", "--reason", "x"), 2, "only --deny and --skip have a reason"),
        (("list", "--status", "done"), 2, "expected one of running"),
        (("list", "--store", "other.db"), 2, "the database other.db does not exist"),
        (("list", "--store", "mysql://host/a"), 2, "'mysql' is not a database"),
        (("start", "treasurer@1", "{"), 2, "is not JSON"),
        (("start", "treasurer@1", "@none.json"), 2, "none.json cannot be read"),
        (("start", "treasurer@1", "1", "--text", "a"), 2, "not both"),
        (("start", "treasurer"), 1, "there is no program 'treasurer'"),
        (("start", "treasurer@1", "1", "--id", "a"), 1, "exists"),
        (("start", "treasurer@1", "--delay", "soon"), 2, "expected a duration"),
        (("start", "treasurer@1", "--max-dollars", "many"), 2, "expected dollars"),
        (("work",), 2, "there are no programs to work on"),
        (("work", "--programs", "treasury:none"), 2, "treasury has no 'none'"),
        (
            ("work", "--programs", "treasury:number"),
            2,
            "expected a program, a list of programs or a dict of effects, treasury:number has int",
        ),
        (("work", "--programs", "absent:x"), 2, "the module 'absent' cannot be imported"),
        (("work", "--programs", "treasury.py"), 2, "names no program"),
        (("work", *ALL, "--grace", "-1"), 2, "expected seconds"),
    ],
)
def test_mistakes_are_reported_with_exit_code(
    folder: Path, arguments: tuple[str, ...], code: int, problem: str
) -> None:
    invoke("start", "treasurer@1", "{}", "--id", "a")
    result = CliRunner().invoke(runs, [*arguments])
    assert (result.exit_code, problem in result.stderr) == (code, True), result.output


def test_interrupted_effect_is_decided(folder: Path) -> None:
    with Runtime("sqlite:///runs.db") as runtime:
        runtime.start("lasting@1", id="a")
        invoke_killed_worker(runtime)
        work()
    assert json_of("list")["runs"][0]["waits"][0]["reason"] == "interrupted"
    assert json_of("answer", "a", "--allow", code=1)["error"]["type"] == "RunError"
    assert json_of("answer", "a", "effect", "--skip", code=1)["error"]["type"] == "NotWaitingError"
    invoke("answer", "a", "--skip", "--reason", "not needed", "--by", "ann")
    work()
    assert "decided by ann: skip" in invoke("show", "a").stdout
    assert json_of("show", "a")["run"]["error"]["message"] == "not needed"
    assert json_of("answer", "a", "--repeat", code=1)["error"]["type"] == "NotWaitingError"


def invoke_killed_worker(runtime: Runtime) -> None:
    """Leaves an effect that was begun, as a worker does that is killed."""

    class Killed(BaseException):
        pass

    def last(context: Any, payload: Any) -> None:
        raise Killed

    programs, _ = programs_and_effects(["treasury:team"])
    with Runtime(runtime.database, programs=programs, effects={"last": last}) as other:
        with pytest.raises(Killed):
            other.work()
        with runtime.database.writing() as connection:
            connection.exec_driver_sql("UPDATE abstractruntime_runs SET due_at = 0")


@contextmanager
def command(folder: Path, *arguments: str) -> Generator[subprocess.Popen[str]]:
    """Runs the real command during `with`; its entry point is that of the package's pyproject.toml."""
    info = folder / "found" / "abstractruntime_commands-1.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "entry_points.txt").write_text("[abstractcore.commands]\nruns = abstractruntime.commands:runs\n")
    path = os.pathsep.join([str(info.parent), *(each for each in sys.path if each)])
    process = subprocess.Popen(
        [sys.executable, "-m", "abstractcore", "runs", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_the_worker_and_gives_its_runs_back(folder: Path, number: int) -> None:
    invoke("start", "lasting@1", "--id", "a")
    with command(folder, "work", *ALL, "--grace", "0.01", "--quiet") as worker:
        assert worker.stdout is not None
        assert worker.stderr is not None
        assert worker.stderr.readline().startswith("ready: treasurer@1")
        assert worker.stdout.readline() == "begun\n"
        worker.send_signal(number)
        assert worker.wait(PATIENCE_SECONDS) == 0
    with Runtime("sqlite:///runs.db") as runtime:
        info = runtime.run("a").info
        assert (info.owner, info.inflight["state"]) == (None, "started")


@pytest.mark.process
def test_second_signal_needs_no_patience(folder: Path) -> None:
    invoke("start", "lasting@1", "--id", "a")
    with command(folder, "work", *ALL, "--grace", "600", "--metrics", "0.05") as worker:
        assert worker.stdout is not None
        assert worker.stderr is not None
        assert worker.stdout.readline() == "begun\n"
        assert worker.stderr.readline().startswith("ready: ")
        while json.loads(worker.stderr.readline())["active"] != 1:
            continue  # the first line may have been written before the run was taken
        worker.send_signal(signal.SIGTERM)
        worker.send_signal(signal.SIGINT)
        assert worker.wait(PATIENCE_SECONDS) == 0


@pytest.mark.process
def test_third_signal_ends_a_worker_whose_step_does_not_end(folder: Path) -> None:
    (folder / "endless.py").write_text(ENDLESS)
    invoke("start", "endless@1", "--id", "a")
    with command(folder, "work", "--programs", "endless") as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "begun\n"
        codes: list[int] = []
        for _ in range(600):  # each is sent when the one before was perhaps taken
            worker.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                codes.append(worker.wait(0.05))
                break
        assert codes == [-signal.SIGTERM]


def test_modules_alone_give_all_their_programs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTRACTRUNTIME_PROGRAMS", "treasury")
    monkeypatch.setenv("ABSTRACTRUNTIME_STORE", "other.db")
    assert invoke("work", "--until-idle", "--quiet").stderr == "ready: treasurer@1; 16 runs at once\n"
    assert (folder / "other.db").exists()


def test_timeline_has_the_time_of_each_effect_and_its_cost() -> None:
    def record(seq: int, kind: str, at: float, body: Any) -> Record:
        return Record("a", seq, kind, at, body, "", "")

    records = (
        record(1, "created", 10.0, {"program": "p@1"}),
        record(2, "step", 11.0, {"item": {"kind": "start"}, "effect": {"kind": "model", "key": "effect"}}),
        record(3, "retry", 13.0, {"attempt": 1, "error": {"type": "Busy", "message": "later"}}),
        record(4, "started", 20.0, {"attempt": 2, "why": "waited"}),
        record(5, "journal", 21.0, {"entry": {"kind": "request", "number": 1, "round": 0}}),
        record(
            6,
            "step",
            25.0,
            {"item": {"kind": "result"}, "used": {"tokens": 5, "dollars": "0.1"}, "ended": "completed"},
        ),
    )
    rows = timeline(records)
    assert [(row.after, row.seconds) for row in rows] == [
        (0.0, None), (1.0, None), (3.0, 2.0), (10.0, None), (11.0, None), (15.0, 5.0)
    ]  # fmt: skip
    assert [row.what for row in rows] == [
        "created: p@1",
        "start → begin model",
        "attempt 1 failed: Busy: later",
        "begin attempt 2 (waited)",
        "request 1 of round 1",
        "result → completed",
    ]
    assert (rows[-1].tokens, rows[-1].dollars) == (5, "0.1")
    assert described(record(7, "step", 1.0, None)) == "step (redacted)"
    assert described(record(7, "later", 1.0, {})) == "later"
    assert shortened({"a": "b" * 200}, 10) == '{"a": "bb…'


def test_events_of_a_loop_are_described() -> None:
    call = {"type": "tool_call", "name": "pay", "arguments_text": '{"to": "Ann", "euros": 80}'}
    entries = (
        ({"kind": "start"}, "loop: begin"),
        ({"kind": "request", "number": 2, "round": 1}, "request 2 of round 2"),
        ({"kind": "reply", "reply": {"parts": [call]}}, 'reply: calls pay(to="Ann", euros=80)'),
        ({"kind": "reply", "reply": {"parts": [{"type": "text", "text": "Done."}]}}, "reply: an answer"),
        ({"kind": "decision", "pending": [{"call": call}]}, "decision: pay waits"),
        ({"kind": "decision", "allowed": [{"call": call}]}, "decision: pay may run"),
        ({"kind": "intent", "call": call}, 'begin pay(to="Ann", euros=80)'),
        ({"kind": "step", "step": {"call": call, "outcome": "failed"}}, "pay ended: failed"),
        ({"kind": "end", "status": "suspended"}, "loop: suspended"),
        ({"kind": "later"}, "loop: later"),
    )
    shown = [described(Record("a", 1, "journal", 1.0, {"entry": entry}, "", "")) for entry, _ in entries]
    assert shown == [text for _, text in entries]
    assert shown_call({"name": "pay", "arguments_text": "{broken"}) == "pay({broken)"
