"""Cost tracking by team: a subscriber sums the tokens of all calls, with a price table of its own."""

from __future__ import annotations

from collections import Counter, defaultdict

from abstractcore import CallRecord, Usage, context, create_llm, subscribe

PRICES = {"small": (0.15, 0.60), "large": (2.50, 10.00)}
"""US dollars per million input and output tokens, by model."""


class CostTracker:
    """Sums usage and cost by the tag `team`, including the reported tokens of failed, cancelled and abandoned calls."""

    def __init__(self) -> None:
        self.usage: dict[str, Usage] = defaultdict(Usage)
        self.dollars: dict[str, float] = defaultdict(float)
        self.outcomes: dict[str, Counter[str]] = defaultdict(Counter)

    def __call__(self, record: CallRecord) -> None:
        """Adds one call."""
        team = record.tags.get("team", "nobody")
        price_in, price_out = PRICES.get(record.model, (0.0, 0.0))
        self.outcomes[team][record.outcome] += 1
        self.usage[team] += record.usage
        self.dollars[team] += (record.usage.input or 0) * price_in / 1e6 + (record.usage.output or 0) * price_out / 1e6


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
            next(stream)  # abandoned after its first delta: token counts are unknown

for team, usage in sorted(tracker.usage.items()):
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in tracker.outcomes[team].items())
    print(f"{team:<7}{usage.input or 0:>4} in{usage.output or 0:>4} out  ${tracker.dollars[team]:.6f}  {outcomes}")
