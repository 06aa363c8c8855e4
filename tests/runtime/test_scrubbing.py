"""Keys in exceptions of tools, effects and steps: they are in no record, output, log or export."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore import ModelCall, tool
from abstractcore.testing import ScriptedReply, VirtualClock
from abstractruntime import Effect, FunctionProgram, Item, Program, RetryPolicy, Runtime, Step
from abstractruntime.agents import Agent
from abstractruntime.commands import runs
from abstractruntime.kinds import HttpEffect, ToolEffect
from tests.runtime.agents.treasury import results
from tests.runtime.test_kinds import echo_server

Make = Callable[..., Runtime]
OF_ENVIRONMENT = "environment-canary-0123456789"
OF_MODEL = "model-canary-0123456789"
OF_HEADER = "header-canary-0123456789"


def leaks(*given: Any) -> Any:
    """Raises an exception that quotes keys."""
    try:
        raise ConnectionError(f"Bearer {OF_ENVIRONMENT}")
    except ConnectionError as error:
        raise RuntimeError(f"the bank refuses the key {OF_ENVIRONMENT}") from error


def of_effect(kind: Any, payload: Any = None, retry: RetryPolicy | None = None) -> Callable[[], tuple[Program, Any]]:
    """Returns a program of one effect, whose error is that of the run, and its kinds."""

    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.do({}, Effect("leaks", payload, retry=retry))
        return Step.fail(item.error["message"], type=item.error["type"])

    return lambda: (FunctionProgram("leaky", step), {"leaks": kind})


def of_agent() -> tuple[Program, Any]:
    """Returns an agent whose tool quotes keys of the environment and of its model."""

    @tool(read_only=True)
    def pay() -> str:
        """Pays."""
        try:
            return leaks()
        except RuntimeError as error:
            error.add_note(OF_MODEL)
            raise ValueError(f"{error}, and {OF_MODEL}") from error

    def reply(call: ModelCall) -> ScriptedReply | str:
        return "It failed." if results(call) else ScriptedReply.tool_call("pay", {})

    headers = {"Authorization": f"Bearer {OF_MODEL}"}
    return Agent("leaky", model="scripted", replies=reply, headers=headers, tools=[pay]), None


def pay_tool() -> str:
    return leaks()


LEAKS: dict[str, Callable[[], tuple[Program, Any]]] = {
    "step": lambda: (FunctionProgram("leaky", leaks), None),
    "effect": of_effect(leaks),
    "effect that is tried again": of_effect(leaks, retry=RetryPolicy(attempts=2, seconds=1, errors=("RuntimeError",))),
    "tool": of_effect(ToolEffect([pay_tool]), {"name": "pay_tool", "arguments": {}}),
    "tool of an agent": of_agent,
}


@pytest.mark.parametrize("place", LEAKS)
def test_keys_that_an_exception_quotes_are_nowhere(
    make_runtime: Make, clock: VirtualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture, place: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("BANK_API_KEY", OF_ENVIRONMENT)
    program, effects = LEAKS[place]()
    runtime = make_runtime(program, effects=effects)
    run = runtime.start(program, "Pay!", id="a")
    runtime.work()
    clock.advance(10)
    runtime.work()
    assert run.info.ended
    said = str(run.error or [record.body for record in run.ledger()])
    assert "[scrubbed]" in said
    store = ["--store", str(tmp_path / "runs.db")]
    commands = [["show", "a"], ["show", "a", "--json"], ["list", "--json"], ["tail", "a"], ["tail", "a", "--json"]]
    shown = [CliRunner().invoke(runs, [*command, *store]).output for command in commands]
    assert all("leaky" in text or "step" in text for text in shown), shown
    run.export(tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip") as file:
        shown += [file.read(name).decode() for name in file.namelist()]
    shown += [path.read_bytes().decode("latin-1") for path in tmp_path.glob("runs.db*")]
    shown += [str(run.output), str(run.error), caplog.text]
    assert [text for text in shown if "canary" in text] == []


def test_header_that_is_refused_is_not_quoted(make_runtime: Make) -> None:
    with echo_server() as address:
        kind = HttpEffect([address], headers={"Authorization": f"Bearer {OF_HEADER}\n"})
        program, effects = of_effect(kind, {"url": address})()
        runtime = make_runtime(program, effects=effects)
        run = runtime.start(program)
        runtime.work()
    problem = r"Illegal header value b'Bearer [scrubbed]\n'"
    assert run.error == {"type": "LocalProtocolError", "message": problem}
