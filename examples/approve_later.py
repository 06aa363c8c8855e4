"""A tool call that a person approves later: the loop is saved, and goes on in another process."""

import subprocess
import sys
import tempfile
from pathlib import Path

from abstractcore import Deny, PendingCall, Suspend, ToolLoop, ToolPolicy, create_llm, from_json, to_json, tool
from abstractcore.testing import ScriptedReply


@tool(read_only=True)
def balance() -> int:
    """The balance of the account in euros."""
    return 250


@tool(destructive=True)
def pay(to: str, euros: int) -> str:
    """Pays from the account."""
    return f"paid {euros} euros to {to}"


TOOLS = [balance, pay]


def approve(pending: PendingCall) -> bool | Deny | Suspend:
    if pending.tool is not None and pending.tool.read_only:
        return True
    euros = (pending.call.arguments or {})["euros"]
    if not isinstance(euros, int | float) or euros > 100:
        return Deny("payments are limited to 100 euros")
    return Suspend("waits for the treasurer")


def ask(state: Path) -> None:
    """Runs until a call waits, and saves the state."""
    calls = ScriptedReply.tool_call("balance", {}) + ScriptedReply.tool_call("pay", {"to": "Ann", "euros": 80})
    llm = create_llm("scripted", replies=[calls])
    policy = ToolPolicy(approve=approve, journal=state.with_suffix(".journal"))
    response = llm.generate("Can we pay Ann 80 euros?", tools=TOOLS, run_tools=policy)
    for pending in response.pending:
        print("first process: ", pending.call.name, "waits")
    state.write_text(to_json(response.loop), encoding="utf-8")


def go_on(state: Path) -> None:
    """Answers what waits, days later."""
    loop = from_json(state.read_text(encoding="utf-8"), ToolLoop)
    for pending in loop.pending:
        print("second process:", pending.call.name, pending.call.arguments_text, "-", pending.note)
    llm = create_llm("scripted", replies=["Ann has been paid."])
    policy = ToolPolicy(approve=approve, journal=state.with_suffix(".journal"))
    response = llm.resume(loop, [pending.allow() for pending in loop.pending], tools=TOOLS, run_tools=policy)
    for step in response.tool_steps:
        print("second process:", step.call.name, "->", step.result.as_text)
    print("second process:", response.content)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        go_on(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            ask(Path(folder, "loop.json"))
            sys.stdout.flush()
            subprocess.run([sys.executable, __file__, str(Path(folder, "loop.json"))], check=True)
