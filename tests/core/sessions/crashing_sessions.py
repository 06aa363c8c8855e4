"""Kills processes that talk in a session with tools, at random moments, and prints what was found after each.

`python -m` with a folder, the number of kills and a seed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from abstractcore import LLM, Message, ModelCall, ModelReply, Session, TextPart, ToolCall, create_llm
from abstractcore.schema import check_pairs

LONGEST_SECONDS = 0.2
KILLS_OF_ONE = 20
"""How often one session is cut off: in a long one, most kills would hit its opening."""


def answer(call: ModelCall) -> ModelReply:
    """Calls the tool for a question, and answers once it has its result."""
    last = call.messages[-1]
    if last.role == "user":
        return ModelReply((ToolCall("", "order", json.dumps({"item": last.text})),))
    return ModelReply((TextPart("ordered"),))


def model() -> LLM:
    """Returns a model that never runs out of replies."""
    return create_llm("scripted", replies=[answer] * 10_000)


class Orders:
    """The orders that the tool has placed, in a file: what happened in the world."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def order(self, item: str) -> str:
        """Orders an item."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, f"{item}\n".encode())
        os.close(descriptor)
        return f"ordered {item}"

    @property
    def placed(self) -> list[str]:
        """The orders, oldest first; the last one may be incomplete."""
        return self._path.read_text().splitlines() if self._path.exists() else []


def talk(folder: Path, ready: int) -> None:
    """Asks until it is killed; goes on with what an earlier process had begun. Closes `ready` after an exchange."""
    orders, done = Orders(folder / "orders"), folder / "done"
    with Session.open(folder / "talk.session", model(), tools=[orders.order], run_tools=True) as session:
        if session.loop is not None:
            placed = orders.placed
            asked = [(each, str((each.call.arguments or {})["item"])) for each in session.loop.pending]
            session.resume([each.result("ordered" if item in placed else "not ordered") for each, item in asked])
            acknowledge(done, session)
        while True:
            session.ask(f"item {len(session.exchanges)}")
            acknowledge(done, session)
            if ready >= 0:
                os.close(ready)
                ready = -1


def acknowledge(done: Path, session: Session) -> None:
    """Notes how many exchanges the program has been given."""
    fresh = done.with_suffix(".new")
    fresh.write_text(str(len(session.exchanges)))
    fresh.replace(done)


def checked(folder: Path) -> dict[str, Any]:
    """Returns what is wrong after a kill, by name; and the number of exchanges."""
    orders = Orders(folder / "orders").placed
    done = int((folder / "done").read_text()) if (folder / "done").exists() else 0
    path = folder / "talk.session"
    if not path.exists():
        return {"exchanges": 0, "problems": [] if done == 0 else ["the file is gone"]}
    with Session.open(path, model(), tools=[Orders(folder / "orders").order], run_tools=True) as session:
        whole = [each for each in session.exchanges if each.loop is None]
        problems = [str(fault) for each in whole for fault in check_pairs(each.messages, complete=True)]
        problems += ["not whole" for each in whole if each.messages[-1] != Message.assistant("ordered")]
        problems += [str(note) for note in session.notes]
        problems += [f"twice: {item}" for item, times in Counter(orders).items() if times > 1]
        problems += [f"{len(whole)} exchanges, {done} were acknowledged"] if len(whole) < done else []
        return {"exchanges": len(whole), "problems": problems, "cut": session.loop is not None}


def kill_one(folder: Path, seconds: float, *, after_exchange: bool) -> None:
    """Kills a process that talks after so long: since its begin, or since its first exchange."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            talk(folder, write)
        finally:
            os._exit(1)
    os.close(write)
    if after_exchange:
        os.read(read, 1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(read)
    assert os.WIFSIGNALED(status), "the process ended by itself"


def main(folder: Path, kills: int, seed: int) -> None:
    """Prints a line of JSON after each kill."""
    moments = random.Random(seed)
    warm = folder / "warm"
    warm.mkdir()
    with Session.open(warm / "talk.session", model(), tools=[Orders(warm / "orders").order], run_tools=True) as session:
        session.ask("item")  # imports what the processes need
    for number in range(kills):
        talked = folder / str(number // KILLS_OF_ONE)
        talked.mkdir(exist_ok=True)
        kill_one(talked, moments.uniform(0, LONGEST_SECONDS), after_exchange=number % 4 == 0)
        sys.stdout.write(f"{json.dumps(checked(talked))}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
