"""An agent whose payment needs an approval, in processes of which one is killed while it pays.

Without arguments: the whole story, each command of it in a process of its own.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from abstractcore import ModelCall, ToolResult, tool
from abstractcore.testing import ScriptedReply
from abstractruntime import Runtime
from abstractruntime.agents import Agent

FOLDER = Path(os.environ.get("TREASURY", "."))
PAYMENTS = FOLDER / "payments.txt"


@tool(read_only=True)
def balance() -> int:
    """The balance of the account in euros."""
    return 250


@tool
def pay(to: str, euros: int) -> str:
    """Pays from the account."""
    if "--killed-before-paying" in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)
    with PAYMENTS.open("a", encoding="utf-8") as file:
        file.write(f"{euros} euros to {to}\n")
    if "--killed-after-paying" in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)
    return f"paid {euros} euros to {to}"


def reply(call: ModelCall) -> ScriptedReply | str:
    """Stands for a model, so that this runs offline: it looks at the balance, pays, and says what became of it."""
    results = [part.as_text for message in call.messages for part in message.parts if isinstance(part, ToolResult)]
    if not results:
        return ScriptedReply.tool_call("balance", {})
    if len(results) == 1:
        return ScriptedReply.tool_call("pay", {"to": "Ann", "euros": 80})
    return f"There were {results[0]} euros. The payment: {results[1]}."


# With a real model: Agent("treasurer", model="anthropic", tools=[balance, pay])
treasurer = Agent("treasurer", model="scripted", replies=reply, tools=[balance, pay])


def opened() -> Runtime:
    """Opens the database. Leases are short, so that nobody waits long for the run of a process that was killed."""
    return Runtime(f"sqlite:///{FOLDER / 'runs.db'}", programs=[treasurer], lease_seconds=1.0)


def start() -> None:
    """Creates the run: a row. The same id twice is one run."""
    with opened() as runtime:
        runtime.start(treasurer, "Pay Ann 80 euros.", id="invoice-17")


def work() -> None:
    """Works until the run waits for somebody, or has ended."""
    with opened() as runtime:
        run = runtime.run("invoice-17")
        runtime.work(until="idle")
        while not (run.waits or run.info.ended):  # a worker that was killed still has it, until its lease ends
            time.sleep(0.05)
            runtime.work(until="idle")


def show() -> None:
    """Prints what the run waits for, or its output."""
    with opened() as runtime:
        run = runtime.run("invoice-17")
        for wait in run.waits:
            print(f"waits: {wait.reason} {wait.call.name} {wait.call.arguments_text}")
        if run.info.ended:
            print(f"{run.status}: {run.output}")


def answer() -> None:
    """Allows the payment; of one that was cut off, looks whether it was made."""
    with opened() as runtime:
        for wait in runtime.run("invoice-17").waits:
            if wait.reason == "approval":
                wait.allow(by="ann")
            elif PAYMENTS.exists():
                wait.result("was paid", by="ann")
            else:
                wait.repeat(by="ann")


def tell() -> None:
    """Tells the story, each part of it in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for arguments in (
            ["start"], ["work"], ["show"], ["answer"], ["work", "--killed-after-paying"], ["work"], ["show"],
            ["answer"], ["work"], ["show"],
        ):  # fmt: skip
            print("$", *arguments, flush=True)
            ended = subprocess.run([sys.executable, __file__, *arguments], env={**os.environ, "TREASURY": folder})
            if ended.returncode < 0:
                print(f"killed by {signal.Signals(-ended.returncode).name}")
        print("payments:", Path(folder, PAYMENTS.name).read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    commands = {"start": start, "work": work, "show": show, "answer": answer}
    commands[sys.argv[1]]() if len(sys.argv) > 1 else tell()
