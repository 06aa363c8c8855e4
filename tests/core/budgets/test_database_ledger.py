"""Budgets in a database: shared by processes, exact, and free of what a killed process has reserved."""

from __future__ import annotations

import multiprocessing
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from abstractcore import Budget, InvalidInputError, Price, create_llm
from abstractcore.budgets import DatabaseLedger, flush
from abstractcore.database import CommitUnknownError, Database, DatabaseError
from abstractcore.ports import Balance, BudgetAccount
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.budgets.spending import PRICE

ACCOUNT = BudgetAccount("team|2026-11-29|ann", 100, ends_at=1000.0)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.process)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/budgets.db"
        return
    url = request.getfixturevalue("postgresql").url
    yield url
    flush()
    database = Database(url)
    with database.writing() as connection:
        connection.execute(text("DROP TABLE IF EXISTS budget_accounts, budget_reservations, budgets_version"))
    database.close()


@pytest.fixture
def ledger(url: str) -> Any:
    ledger = DatabaseLedger(url)
    yield ledger
    ledger.close()


def reserved(ledger: DatabaseLedger, amount: int, now: float = 0.0, expires_at: float = 10.0) -> int:
    found = ledger.reserve(ACCOUNT, amount, now, expires_at)
    assert isinstance(found, int)
    return found


def test_reservation_is_settled_once(ledger: DatabaseLedger):
    first, second = reserved(ledger, 60), reserved(ledger, 40)
    assert ledger.reserve(ACCOUNT, 1, 0.0, 10.0) == Balance(0, 100)
    assert ledger.settle(ACCOUNT, first, 30) == Balance(30, 40)
    assert ledger.settle(ACCOUNT, first, 30) == Balance(30, 40)
    ledger.release(ACCOUNT, second)
    ledger.release(ACCOUNT, second)
    assert ledger.balance(ACCOUNT, 0.0) == Balance(30, 0)
    assert ledger.reserve(ACCOUNT, 71, 0.0, 10.0) == Balance(30, 0)


def test_reservation_expires_and_can_still_be_settled(ledger: DatabaseLedger):
    late = reserved(ledger, 80)
    assert ledger.reserve(ACCOUNT, 30, 9.9, 20.0) == Balance(0, 80)
    assert ledger.balance(ACCOUNT, 10.0) == Balance(0, 0)
    reserved(ledger, 30, 10.0, 20.0)
    assert ledger.balance(ACCOUNT, 10.0) == Balance(0, 30)
    assert ledger.settle(ACCOUNT, late, 50) == Balance(50, 30)


def test_account_warns_once_whoever_asks(ledger: DatabaseLedger, url: str):
    reserved(ledger, 1)
    other = DatabaseLedger(url)
    assert [ledger.mark_warned(ACCOUNT), other.mark_warned(ACCOUNT), ledger.mark_warned(ACCOUNT)] == [
        True,
        False,
        False,
    ]
    other.close()


def test_accounts_of_past_windows_are_deleted(ledger: DatabaseLedger):
    reserved(ledger, 60)
    tomorrow = BudgetAccount("team|later|ann", 100, ends_at=1e9)
    assert isinstance(ledger.reserve(tomorrow, 1, 5000.0, 5001.0), int)
    assert ledger.balance(ACCOUNT, 0.0).reserved == 60
    much_later = BudgetAccount("team|much later|ann", 100, ends_at=1e9)
    assert isinstance(ledger.reserve(much_later, 1, 100_000.0, 100_001.0), int)
    assert ledger.balance(ACCOUNT, 0.0) == Balance()


def test_amounts_beyond_any_limit_are_refused(ledger: DatabaseLedger):
    assert ledger.reserve(ACCOUNT, 10**30, 0.0, 10.0) == Balance()


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("step", ["reserve", "settle", "release"])
def test_step_whose_commit_is_unknown_is_made_once(
    ledger: DatabaseLedger, monkeypatch: pytest.MonkeyPatch, step: str, committed: bool
):
    held = reserved(ledger, 60)
    method = "_reserve" if step == "reserve" else "_end"
    make, calls = getattr(DatabaseLedger, method), list[Any]()

    def make_without_reply(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) > 1 or committed:
            made = make(*arguments)
        if len(calls) == 1:
            raise CommitUnknownError("lost")
        return made

    monkeypatch.setattr(DatabaseLedger, method, make_without_reply)
    if step == "reserve":
        id = reserved(ledger, 40)
        assert ledger.balance(ACCOUNT, 0.0) == Balance(0, 100)
        ledger.release(ACCOUNT, id)
        assert ledger.balance(ACCOUNT, 0.0) == Balance(0, 60)
    elif step == "settle":
        assert ledger.settle(ACCOUNT, held, 30, 10) == Balance(30, 0, 10)
    else:
        ledger.release(ACCOUNT, held)
        assert ledger.balance(ACCOUNT, 0.0) == Balance()
    assert len(calls) == (1 if step == "reserve" and committed else 2)


def test_database_of_the_first_version_gets_a_column(tmp_path: Path):
    path = tmp_path / "budgets.db"
    with sqlite3.connect(path) as old:
        old.execute(
            "CREATE TABLE budget_accounts (key TEXT PRIMARY KEY, spent BIGINT NOT NULL, reserved BIGINT NOT NULL, "
            "warned BOOLEAN NOT NULL, ends_at FLOAT)"
        )
        old.execute("CREATE TABLE budgets_version (version INTEGER PRIMARY KEY)")
        old.execute("INSERT INTO budgets_version VALUES (1)")
        old.execute("INSERT INTO budget_accounts VALUES (?, 20, 0, FALSE, NULL)", (ACCOUNT.key,))
    old.close()
    ledger = DatabaseLedger(path)
    assert ledger.settle(ACCOUNT, reserved(ledger, 60), 30, 10) == Balance(50, 0, 10)
    ledger.close()


def test_database_of_the_program_is_shared(tmp_path: Path):
    database = Database(tmp_path / "all.db")
    budget = Budget(5, name="team", ledger=database)
    assert budget.state().spent == 0
    database.close()
    assert Budget(5, name="team", ledger=tmp_path / "all.db").state().spent == 0


def test_path_may_be_a_text(tmp_path: Path):
    assert Budget(5, name="team", ledger=str(tmp_path / "all.db")).state().spent == 0
    assert (tmp_path / "all.db").exists()


def test_database_that_cannot_be_opened_is_an_error_and_no_call_passes(tmp_path: Path):
    (tmp_path / "text.db").write_text("no database, but a text that is long enough to be read as one" * 20)
    with pytest.raises(DatabaseError, match="not a SQLite database"):
        Budget(5, ledger=tmp_path / "text.db")
    budget = Budget(50, ledger=tmp_path / "budgets.db")
    llm = create_llm("scripted", replies=lambda call: "one", price=Price(1, 1), budgets=[budget])
    llm.generate("hi")
    flush()
    budget.ledger.close()  # type: ignore[attr-defined]
    for file in tmp_path.glob("budgets.db*"):
        file.unlink()
    (tmp_path / "budgets.db").mkdir()
    with pytest.raises(DatabaseError):
        llm.generate("hi")
    assert len(llm.calls) == 1


def test_ledger_of_another_kind_is_refused():
    with pytest.raises(InvalidInputError, match="expected a path, a URL or a ledger"):
        Budget(5, ledger=3)  # type: ignore[arg-type]


def spending(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.core.budgets.spending", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_group_of_any_text_has_an_account(ledger: DatabaseLedger):
    budget = Budget(5, by="tag:user", ledger=ledger)
    for group in ("a" * 100_000, "nul \0", "b|c", "%s ? :x", "\u202e", ""):
        assert budget.state(group).spent == 0


@pytest.mark.process
def test_missing_extra_is_named_and_other_budgets_need_none():
    code = """
import sys
sys.modules["sqlalchemy"] = None
from abstractcore import Budget, MissingExtraError
Budget(5)
try:
    Budget(5, ledger="sqlite:///budgets.db")
except MissingExtraError as error:
    print(error.hint)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install sqlalchemy" in done.stdout


@pytest.mark.process
def test_three_processes_never_spend_more_than_the_limit(url: str, ledger: DatabaseLedger):
    processes = [spending(url, "120") for _ in range(3)]
    spent = [Decimal(process.communicate(timeout=PATIENCE_SECONDS)[0]) for process in processes]
    state = Budget(120, name="shared", ledger=ledger).state()
    assert (state.spent, state.reserved) == (sum(spent), 0)
    assert 110 < state.spent <= 120


@pytest.mark.process
def test_killed_process_leaves_nothing_reserved(url: str, ledger: DatabaseLedger):
    with spending(url, "120", "kill") as process:
        assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    budget = Budget(120, name="shared", ledger=ledger)
    now = time.time()
    assert budget.state(at=now).reserved >= 20
    assert budget.state(at=now + 95).reserved == 0
    account = BudgetAccount("shared||", budget.limit)
    assert isinstance(ledger.reserve(account, budget.limit, now + 95, now + 99), int)


def make_one_call(url: str) -> None:
    """Makes a call in a process of its own, whose end comes right after it."""
    budget = Budget(120, name="shared", ledger=url)
    llm = create_llm("scripted", replies=lambda call: "one", price=PRICE, max_output_tokens=1, budgets=[budget])
    llm.generate("hi")


@pytest.mark.process
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_last_call_of_a_process_is_counted(url: str, ledger: DatabaseLedger, method: str):
    process = multiprocessing.get_context(method).Process(target=make_one_call, args=(url,))
    process.start()
    process.join(PATIENCE_SECONDS)
    state = Budget(120, name="shared", ledger=ledger).state()
    assert (state.spent, state.reserved) == (2, 0)
