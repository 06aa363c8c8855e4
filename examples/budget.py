"""Budgets: a limit for each user, a cheaper model when it is reached, and a hard limit around both.

Needs no key: the models are scripted, with prices of our own.
"""

from __future__ import annotations

from abstractcore import Budget, BudgetExceededError, Price, create_llm
from abstractcore.budgets import BudgetState

small = create_llm(
    "scripted", model="small", replies=lambda call: "About noon.", price=Price(input=1_000, output=4_000)
)


def warn(state: BudgetState) -> None:
    """Prints that most of a budget is spent; a program would send a message."""
    print(f"{state.group}: ${state.spent:.4f} of ${state.limit:.2f} are spent")


daily = Budget(usd=0.3, per="day", by="model", on_exceeded=small, warn_at=0.6, on_warning=warn)
users = Budget(usd=0.36, per="day", by="tag:user", name="users")
llm = create_llm(
    "scripted",
    model="large",
    replies=lambda call: "The meeting starts at noon.",
    price=Price(input=2_000, output=8_000),
    max_output_tokens=10,
    budgets=[daily, users],
)

try:
    while True:
        response = llm.generate("When does the meeting start?", tags={"user": "ann"})
        print(f"{response.model:<6}${response.cost:.4f}  {response.content}")
except BudgetExceededError as error:
    print(f"stopped: the budget of {error.group} has ${error.limit:.2f}, of which ${error.spent:.4f} is spent")

print(f"bob: {llm.generate('And where?', tags={'user': 'bob'}).model} answers")  # whose own budget is untouched
print(f"large: ${daily.state('scripted/large').spent:.4f}, small: ${daily.state('scripted/small').spent:.4f}")
