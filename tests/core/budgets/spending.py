"""A process that spends a shared budget: `python -m tests.core.budgets.spending URL LIMIT [kill]`."""

from __future__ import annotations

import os
import signal
import sys
import time
from decimal import Decimal
from typing import Final

from abstractcore import Budget, BudgetExceededError, Price, create_llm
from abstractcore.testing import ScriptedReply

PRICE: Final = Price(input=1_000_000, output=1_000_000)


def budget_at(url: str, limit: str) -> Budget:
    """Returns the budget that the processes share."""
    return Budget(Decimal(limit), per=None, name="shared", ledger=url, max_wait=30)


def spend(url: str, limit: str) -> None:
    """Makes calls until one does not fit; writes what they cost."""
    llm = create_llm(
        "scripted",
        replies=lambda call: "one",
        price=PRICE,
        max_output_tokens=1,
        budgets=[budget_at(url, limit)],
    )
    spent = Decimal(0)
    try:
        while True:
            spent += llm.generate("hi").cost or 0
    except BudgetExceededError:
        sys.stdout.write(f"{spent}\n")


def die(url: str, limit: str) -> None:
    """Dies of SIGKILL while a stream has reserved a part."""
    llm = create_llm(
        "scripted",
        replies=lambda call: ScriptedReply.text("one two three"),
        price=PRICE,
        max_output_tokens=20,
        timeout=30,
        budgets=[budget_at(url, limit)],
    )
    next(iter(llm.stream("hi")))
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


if __name__ == "__main__":
    (die if sys.argv[3:] == ["kill"] else spend)(*sys.argv[1:3])
