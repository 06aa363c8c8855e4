"""A chat of forty times its model's context, killed in the middle: nothing is lost or overflows, no tool runs twice.

Needs no key: the model is scripted, with a context of 2,000 tokens. A part of the program is killed as by `kill -9`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from abstractcore import ModelCall, ModelReply, Session, TextPart, ToolCall, create_llm
from abstractcore.schema import text_tokens

WINDOW = 2_000
QUESTION = "Note for day {}: " + "the harbour was calm, two ships came in, the light was mended. " * 12


def answer(call: ModelCall) -> ModelReply:
    """Stands for a model: writes summaries, orders lamps, and answers everything else."""
    last, system = call.messages[-1], call.messages[0]
    assert sum(text_tokens(message.text) for message in call.messages) <= WINDOW, "the context overflows"
    if system.role == "system" and "summaries" in system.text:
        return ModelReply((TextPart("Days passed; the harbour was calm."),))
    if last.role == "user" and last.text == "Order a lamp.":
        return ModelReply((ToolCall("", "order", '{"item": "lamp"}'),))
    if last.text == "Good morning.":
        return ModelReply((TextPart("Good morning to you."),))
    return ModelReply((TextPart("Ordered." if last.role == "tool" else "Noted."),))


def chat(folder: Path, *, dies: bool) -> None:
    """Talks in the session of a folder; the first time, the process is killed once the tool has run."""

    def order(item: str) -> str:
        """Orders an item."""
        with (folder / "orders.txt").open("a") as orders:
            orders.write(f"{item}\n")
        return "order 17"

    def reply(call: ModelCall) -> ModelReply:
        if dies and call.messages[-1].role == "tool":
            os._exit(9)  # as by `kill -9`: nothing is closed or flushed
        return answer(call)

    llm = create_llm("scripted", replies=reply, facts={"context_tokens": WINDOW})
    with Session.open(folder / "log.session", llm, tools=[order], run_tools=True) as session:
        if session.loop is not None:
            whole = [exchange for exchange in session.exchanges if exchange.loop is None]
            done = f"{len(whole)} exchange{'s' if len(whole) != 1 else ''}"
            print(f"killed after {done}, with {len(session.loop.steps)} tool call done: it goes on")
        if not session.exchanges:
            print(session.ask("Good morning.").content, flush=True)
        print(session.ask("Order a lamp.").content)
        asked = 0
        while asked < 40 * WINDOW:
            question = QUESTION.format(len(session.exchanges))
            session.ask(question, tools=[], run_tools=False)
            asked += text_tokens(question)
        orders = (folder / "orders.txt").read_text().split()
        print(f"{asked // WINDOW} times the context; orders: {', '.join(orders)}")
        print(f"all {len(session.history(full=True)) // 100 * 100}+ messages are kept, the model is given the latest")
        print(session.messages[0].text)


if len(sys.argv) > 1:
    chat(Path(sys.argv[1]), dies=True)
else:
    with tempfile.TemporaryDirectory() as name:
        killed = subprocess.run([sys.executable, __file__, name], check=False)
        print(f"the first process ended with {killed.returncode}")
        chat(Path(name), dies=False)
