"""Tokens and dollars by team: a subscriber sums up the records of all calls, with a price table given by hand."""

from __future__ import annotations

from collections import Counter, defaultdict

from abstractcore import CallRecord, Usage, context, create_llm, subscribe

PRICES = {"small": (0.15, 0.60), "large": (2.50, 10.00)}
"""US dollars for a million tokens, in and out, by model."""


class CostTracker:
    """Sums usage and cost by the tag `team`. Failed, cancelled and left calls count too, as far as they came."""

    def __init__(self) -> None:
        self.usage: dict[str, Usage] = defaultdict(Usage)
        self.dollars: dict[str, float] = defaultdict(float)
        self.outcomes: dict[str, Counter[str]] = defaultdict(Counter)

    def __call__(self, record: CallRecord) -> None:
        """Take note of one call."""
        team = record.tags.get("team", "nobody")
        to_read, to_write = PRICES.get(record.model, (0.0, 0.0))
        self.outcomes[team][record.outcome] += 1
        self.usage[team] += record.usage
        self.dollars[team] += (record.usage.input or 0) * to_read / 1e6 + (record.usage.output or 0) * to_write / 1e6


small = create_llm("scripted", model="small", replies=["The meeting starts at 9.30."] * 3)
large = create_llm("scripted", model="large", replies=["Bring the budget report in two copies."])

tracker = CostTracker()
with subscribe(tracker):
    with context(tags={"team": "office"}):
        small.generate("When does the meeting start?")
        large.generate("What do I bring to the meeting?")
    with context(tags={"team": "sales"}):
        small.generate("When does the meeting start?")
        with small.stream("And where?") as stream:
            next(stream)  # left after its first delta: tokens are not known

for team, usage in sorted(tracker.usage.items()):
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in tracker.outcomes[team].items())
    print(f"{team:<7}{usage.input or 0:>4} in{usage.output or 0:>4} out  ${tracker.dollars[team]:.6f}  {outcomes}")
