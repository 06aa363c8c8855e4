"""Runs a tool loop in processes that are killed while they write its journal, until it has ended.

Usage: `python -m tests.core.tools.crashing_loops FOLDER sync|async PLAN`, where PLAN is JSON: for each run a list of
`[number of the event, point]`, one for each process; the last process is not killed. A point is "before" an event is
written, "torn" in its middle, or "after". Prints the outcomes as JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import threading
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from abstractcore import (
    FileJournal,
    JournalError,
    Suspend,
    ToolAnswer,
    ToolLoop,
    ToolPolicy,
    create_llm,
    to_json,
    tool,
)
from abstractcore.schema import JournalEntry, PendingCall
from abstractcore.testing import ScriptedReply

MOST_PROCESSES = 200


class KilledJournal(FileJournal):
    """A journal whose process is killed at an event."""

    def __init__(self, path: Path, number: int, point: str) -> None:
        super().__init__(path)
        self._left = number
        self._point = point
        self._counting = threading.Lock()

    def append(self, entry: JournalEntry) -> None:
        with self._counting:
            self._left -= 1
            dies = self._left == 0
            if dies and self._point == "torn":
                with self.path.open("ab") as file:
                    file.write(to_json(entry).encode()[:30])
            if not dies or self._point == "after":
                super().append(entry)
            if dies:
                os.kill(os.getpid(), signal.SIGKILL)


def effect(name: str) -> str:
    with Path("effects").open("a", encoding="utf-8") as file:
        file.write(f"{name}\n")
        file.flush()
        os.fsync(file.fileno())
    return f"{name} done"


@tool
def pay() -> str:
    """Pays. Must not run twice unknowingly."""
    return effect("pay")


@tool
def transfer() -> str:
    """Transfers, after approval from elsewhere."""
    return effect("transfer")


@tool(idempotent=True)
def save() -> str:
    """Saves."""
    return effect("save")


@tool(read_only=True)
def look() -> str:
    """Looks."""
    return effect("look")


TOOLS = [pay, transfer, save, look]


def reply(call: Any) -> ScriptedReply:
    """The model: what it says depends on the conversation alone."""
    round = sum(message.role == "assistant" for message in call.messages)
    if round == 0:
        first, *others = (ScriptedReply.tool_call(name, {}) for name in ("pay", "save", "look"))
        return sum(others, first)
    return ScriptedReply.tool_call("transfer", {}) if round == 1 else ScriptedReply.text("All done.")


def approve(pending: PendingCall) -> bool | Suspend:
    return Suspend() if pending.reason == "interrupted" or pending.call.name == "transfer" else True


def effects() -> Counter[str]:
    path = Path("effects")
    return Counter(path.read_text(encoding="utf-8").split()) if path.exists() else Counter()


def answer(pending: PendingCall) -> ToolAnswer:
    """An operator who looks whether an interrupted call has taken effect."""
    if pending.reason == "interrupted" and effects()[pending.call.name]:
        return pending.result("it was done")
    return pending.allow()


def noted(path: Path) -> ToolLoop | None:
    try:
        return FileJournal(path).loop()
    except JournalError as error:
        if "holds no loop" in str(error):
            return None
        raise


def advance(colour: str, number: int, point: str) -> None:
    """One process: begins the loop, or goes on from its journal."""
    path = Path("journal")
    loop = noted(path) if path.exists() else None
    request: Any = {
        "tools": TOOLS,
        "run_tools": ToolPolicy(approve=approve, journal=KilledJournal(path, number, point)),
    }
    llm = create_llm("scripted", replies=reply)
    if colour == "sync":
        if loop is None:
            llm.generate("Go.", **request)
        else:
            llm.resume(loop, [answer(each) for each in loop.pending], **request)
    elif loop is None:
        asyncio.run(llm.agenerate("Go.", **request))
    else:
        asyncio.run(llm.aresume(loop, [answer(each) for each in loop.pending], **request))


def in_child(function: Any, *arguments: Any) -> int:
    """Runs a function in a process of its own; returns its status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function(*arguments)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    return os.waitpid(child, 0)[1]


def run(folder: Path, colour: str, kills: list[tuple[int, str]]) -> dict[str, Any]:
    """Runs the loop to its end, and returns what happened."""
    folder.mkdir()
    os.chdir(folder)
    statuses: list[int] = []
    for process in range(MOST_PROCESSES):
        number, point = kills[process] if process < len(kills) else (0, "after")
        statuses.append(in_child(advance, colour, number, point))
        loop = noted(Path("journal")) if Path("journal").exists() else None
        if loop is not None and loop.status == "answered":
            break
    loop = noted(Path("journal"))
    assert loop is not None
    return {
        "status": loop.status,
        "answer": loop.replies[-1].text,
        "rounds": len(loop.replies),
        "results": [[step.call.name, step.outcome] for step in loop.steps],
        "effects": effects(),
        "killed": sum(os.WIFSIGNALED(status) for status in statuses),
        "failed": sum(os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0 for status in statuses),
    }


def preload() -> None:
    """Imports what a call needs, so that each process need not: it begins no thread, which would not be forked."""
    create_llm("scripted", replies=["-"]).generate("Go.", tools=TOOLS, run_tools=True, timeout=None)
    if threading.active_count() > 1:
        raise RuntimeError(f"threads before the first fork: {threading.enumerate()}")
    gc.collect()
    gc.freeze()  # a collection in a child would copy the memory that it shares


if __name__ == "__main__":
    home = Path(sys.argv[1]).resolve()
    plans = json.loads(sys.argv[3])
    preload()
    found = [run(home / str(index), sys.argv[2], plan) for index, plan in enumerate(plans)]
    sys.stdout.write(json.dumps(found))
