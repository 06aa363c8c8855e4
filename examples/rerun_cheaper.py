"""Would a cheaper model do? Kept calls of a dear model, asked again of a cheap one, without running a tool.

Needs no key: the models are scripted, with prices of our own. The command does the same with stored traces:
`abstractcore traces rerun --of scripted/large --model scripted/small --max-usd 0.20`.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from abstractcore import Budget, Price, create_llm, tool
from abstractcore.testing import ScriptedReply
from abstractcore.traces import TraceStore, estimate_rerun, find_questions, rerun


@dataclass
class Invoice:
    """What is read from an invoice."""

    number: str
    total: float


@tool(read_only=True)
def calendar(day: str) -> str:
    """Returns the meetings of a day."""
    print(f"(the calendar of {day} is read)")
    return "Budget meeting at 9.30, room 12"


look_up = ScriptedReply.tool_call("calendar", {"day": "Monday"})
large = create_llm(
    "scripted",
    model="large",
    replies=[look_up, "At 9.30.", '{"number": "A17", "total": 42.5}', "A lease is a contract for the use of a thing."],
    price=Price(input=200, output=1_000),
)
small = create_llm(
    "scripted",
    model="small",
    replies=[look_up, "At 9.30.", '{"number": "A17", "sum": 42.5}', "A lease is a contract."],
    price=Price(input=20, output=100),
    max_output_tokens=100,
)

with tempfile.TemporaryDirectory() as folder:
    store = TraceStore(Path(folder) / "traces.db")
    with store.keep("full"):
        large.generate("When is the meeting on Monday?", tools=[calendar], run_tools=True)
        large.generate("Invoice A17, total 42.50 euros", response_model=Invoice)
        large.generate("What is a lease?")

    questions = find_questions(store, model="scripted/large")[::-1]  # the oldest first
    estimate = estimate_rerun(small, questions)
    if estimate is not None:  # its prices are known
        print(f"{len(questions)} questions, about ${estimate.low:.4f}")

    with store.keep("full"), Budget(usd=0.2):
        print(f"{'answer':<12}{'cost':<10}{'before':<10}{'schema':<9}question")
        for result in rerun(small, questions):
            cost, before = result.cost or 0, result.question.costs.known
            schema = {True: "valid", False: "invalid", None: ""}[result.is_valid]
            words = result.question.call.messages[-1].text
            print(f"{result.verdict:<12}${cost:<9.4f}${before:<9.4f}{schema:<9}{words}")

    print(f"{len(store.calls(model='scripted/small'))} calls are kept with the tag rerun_of")
    store.close()
