"""The agent on abstractruntime with SQLite: a call of a tool that is not read-only waits for approval by itself.

`python ours.py COMMAND`: `start`, `resume`, `approve`, or `answer paid` and `answer unpaid` for a call that was
interrupted. The lease is short, so that a dead worker is noticed in seconds instead of in half a minute.
"""

from __future__ import annotations

import sys
import time

from payment import ANSWER, ARGUMENTS, PROMPT, RUN_ID, ExternalSystems, report

from abstractcore import ModelCall, create_llm, tool
from abstractcore.testing import ScriptedReply
from abstractruntime import Run, Runtime
from abstractruntime.agents import Agent

SYSTEMS = ExternalSystems.from_environment()
LEASE_SECONDS = 2.0
POLL_SECONDS = 0.05


@tool
def pay(to: str, euros: int) -> str:
    """Pays somebody."""
    return SYSTEMS.pay(to, euros)


def model(call: ModelCall) -> ScriptedReply:
    """A scripted model: asks for the payment, then answers."""
    has_result = call.messages[-1].role == "tool"
    SYSTEMS.request_model(has_result=has_result)
    return ScriptedReply.text(ANSWER) if has_result else ScriptedReply.tool_call("pay", ARGUMENTS)


treasurer = Agent("treasurer", model=create_llm("scripted", replies=model), tools=[pay])


def work(runtime: Runtime) -> Run:
    """Works until the run has ended or waits for somebody; one that a dead worker held is due when its lease ends."""
    run = runtime.run(RUN_ID)
    while run.info.due_at is not None:
        if not runtime.work(until="idle"):
            time.sleep(POLL_SECONDS)
    return run


def approve(run: Run) -> None:
    """Gives the approval that the run waits for."""
    (wait,) = run.waits
    SYSTEMS.record_approval()
    wait.allow(by="ann")


def answer(run: Run, fact: str) -> None:
    """Says what became of a call that was interrupted."""
    (wait,) = run.waits
    if fact == "paid":
        wait.result("Ann has 80 euros", by="ann")
    else:
        wait.repeat(by="ann")


def main(command: str, *facts: str) -> None:
    """Works on the run until it has ended or waits for somebody, and reports which."""
    with Runtime(SYSTEMS.folder / "runs.sqlite", programs=[treasurer], lease_seconds=LEASE_SECONDS) as runtime:
        runtime.start(treasurer, PROMPT, id=RUN_ID)  # the same id is the same run
        run = work(runtime)
        if command == "start":
            SYSTEMS.reached("waiting")
        if command in ("start", "approve"):
            approve(run)
            SYSTEMS.reached("approved")
        elif command == "answer":
            answer(run, *facts)
        run = work(runtime)
        if run.status == "completed":
            report("completed", output=run.output)
        elif run.status == "waiting":
            report("interrupted" if run.waits[0].reason == "interrupted" else "waiting")
        else:
            report(run.status, error=run.error)


if __name__ == "__main__":
    main(*sys.argv[1:])
