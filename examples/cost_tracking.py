"""Cost tracking by team: a subscriber sums the tokens and the costs of all calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal

from abstractcore import CallRecord, Price, Usage, context, create_llm, subscribe


class CostTracker:
    """Sums usage and cost by the tag `team`, including the reported tokens of failed, cancelled and abandoned calls."""

    def __init__(self) -> None:
        self.usage: dict[str, Usage] = defaultdict(Usage)
        self.dollars: dict[str, Decimal] = defaultdict(Decimal)
        self.estimated: dict[str, Decimal] = defaultdict(Decimal)
        self.outcomes: dict[str, Counter[str]] = defaultdict(Counter)
        self.unknown: dict[str, list[str]] = defaultdict(list)

    def __call__(self, record: CallRecord) -> None:
        """Adds one call."""
        team = record.tags.get("team", "nobody")
        self.outcomes[team][record.outcome] += 1
        self.usage[team] += record.usage
        if record.cost is None and record.estimated_cost is None:
            self.unknown[team].append(record.cost_reason or "unknown cost")
        self.dollars[team] += record.cost or 0
        self.estimated[team] += record.estimated_cost or 0


# Models of the catalogue have their prices. These are our own: US dollars per million tokens.
small = create_llm("scripted", model="small", replies=["The meeting starts at 9.30."] * 3, price=Price("0.15", "0.60"))
large = create_llm("scripted", model="large", replies=["Bring the budget report."], price=Price(input=2.5, output=10))

tracker = CostTracker()
with subscribe(tracker):
    with context(tags={"team": "office"}):
        small.generate("When does the meeting start?")
        large.generate("What do I bring to the meeting?")
    with context(tags={"team": "sales"}):
        small.generate("When does the meeting start?")
        with small.stream("And where?") as stream:
            next(stream)  # abandoned after its first delta: its tokens are estimated

for team, usage in sorted(tracker.usage.items()):
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in tracker.outcomes[team].items())
    print(f"{team:<7}{usage.input or 0:>4} in{usage.output or 0:>4} out  ${tracker.dollars[team]:f}  {outcomes}")
    if tracker.estimated[team]:
        print(f"{'':<7}and about ${tracker.estimated[team]:f} for calls that ended without a report of their tokens")
    for reason in tracker.unknown[team]:
        print(f"{'':<7}one call without a cost: {reason}")
