"""The programs of the crash matrix, and what they change outside: lines of a file, on the disk before they count."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from abstractruntime import Child, Effect, EffectContext, FunctionEffect, FunctionProgram, Item, Send, Step, Wait
from abstractruntime.json_documents import JSON
from tests.runtime.crashes.boundaries import passed


@dataclass(frozen=True)
class Outside:
    """A file that stands for the world: a payment is a line of it."""

    file: Path

    def do(self, what: str) -> None:
        """Appends a line, and waits for the disk."""
        descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, f"{what}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def done(self) -> Counter[str]:
        """Returns how often each thing was done."""
        return Counter(self.file.read_text(encoding="utf-8").splitlines()) if self.file.exists() else Counter()

    def effects(self) -> dict[str, FunctionEffect]:
        """Returns the kinds `pay`, of which nobody knows after a crash whether it was done, and `look`."""

        def act(context: EffectContext, payload: JSON) -> JSON:
            passed("in the effect, before its work")
            self.do(payload)
            passed("in the effect, after its work")
            return f"did {payload}"

        return {"pay": FunctionEffect(act, "ask"), "look": FunctionEffect(act, "repeat")}


def _order(state: JSON, item: Item) -> Step:
    """Looks, pays, asks for an approval while its child audits, looks again."""
    if item.kind == "start":
        name = item.payload
        sends = (Send(f"price:{name}", 80),)
        return Step.do({"name": name, "then": "pay"}, Effect("look", f"look {name}"), sends=sends)
    name = state["name"]
    match state["then"]:
        case "pay":
            return Step.do({**state, "then": "ask", "looked": item.payload}, Effect("pay", f"pay {name}"))
        case "ask":
            waits = Wait("approval", "approval", asked={"euros": 80}), Wait("audit", "child")
            asking = {**state, "then": "collect", "paid": item.payload, "got": {}}
            return Step.wait(asking, *waits, children=(Child("audit", "audit", name),))
        case "collect":
            got = {**state["got"], item.key: item.payload}
            if len(got) == 2:
                return Step.do({**state, "then": "end", "got": got}, Effect("look", f"look again {name}"))
            missing = Wait("audit", "child") if item.key == "approval" else Wait("approval", "approval")
            sends = (Send("go", True, run=f"{name}/audit"),) if item.key == "approval" else ()
            return Step.wait({**state, "got": got}, missing, sends=sends)
        case _:
            return Step.complete([state["paid"], state["got"], item.payload], state=state, sends=(Send(f"end:{name}"),))


def _audit(state: JSON, item: Item) -> Step:
    """Waits for the price, pays the auditor, and waits for the word of its parent."""
    match item.kind, item.key:
        case "start", _:
            return Step.wait({"name": item.payload}, Wait(f"price:{item.payload}", "event"))
        case "event", "go":
            return Step.complete(state["paid"], state=state)
        case "event", _:
            return Step.do({**state, "price": item.payload}, Effect("pay", f"pay the auditor of {state['name']}"))
        case _:
            return Step.wait({**state, "paid": item.payload}, Wait("go", "event"))


def _payments(state: JSON, item: Item) -> Step:
    """Makes as many payments as its input says, one after the other."""
    name, left = (item.payload["name"], item.payload["count"]) if item.kind == "start" else state
    if item.kind == "result" and item.error is not None:
        return Step.fail(f"{item.error['type']}: {item.error['message']}", state=state)
    return (
        Step.do([name, left - 1], Effect("pay", f"pay {name} {left}")) if left else Step.complete("paid", state=state)
    )


ORDER = FunctionProgram("order", _order)
AUDIT = FunctionProgram("audit", _audit)
PAYMENTS = FunctionProgram("payments", _payments)
PROGRAMS = {f"{each.name}@{each.version}": each for each in (ORDER, AUDIT, PAYMENTS)}
