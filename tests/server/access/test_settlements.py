"""What was sent counts: every way in which a call ends, for every limit of its key."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import Budget, ModelCall, Price, Usage
from abstractcore.limits import CallLeases, LimitReached
from abstractcore.ports import GuardContext, Refusal
from abstractcore_server import (
    CallLease,
    Grant,
    GuardSettings,
    ModelSettings,
    OpenAccess,
    ServerLimits,
    Settings,
    Settlement,
    server_services,
)
from abstractcore_server.access.settlements import Spending
from abstractcore_server.access.stored_keys import StoredKeys
from abstractcore_server.store import KeyLimits, Keys, Store
from tests.chaos_server import HANG, PATIENCE_SECONDS
from tests.leftovers import wait_until
from tests.server.accounts import Accounts
from tests.server.endings import ASK, ASKED_TOKENS, BEGUN, ENDINGS, MODEL, ROUNDS, Client, Ending
from tests.server.guard_doubles import Double, leaving
from tests.server.serving import Served, serving
from tests.server.tools.test_mcp import python

TOKENS = 10_000
NOW = 1_800_000_000.0
DOLLARS = Decimal(1000)


def refuse_requests(call: ModelCall, context: GuardContext) -> Refusal:
    return Refusal("no")


def refuse_bombs(piece: Any, context: GuardContext) -> Refusal | None:
    return Refusal("no") if "bomb" in piece.text else None


class Ledger(StoredKeys):
    """Keys of a database, and what the leases of their calls were settled with."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, now=lambda: NOW, unpriced=0.001)
        self.leases: list[Entry] = []

    async def begin(self, grant: Grant, call: ModelCall) -> CallLease:
        """Lets a call in."""
        entry = Entry(await super().begin(grant, call))
        self.leases.append(entry)
        return entry


class Entry:
    """A lease, and its settlements."""

    def __init__(self, lease: CallLease) -> None:
        self._lease = lease
        self.settlements: list[Settlement] = []

    async def settle(self, settlement: Settlement) -> None:
        """Notes a settlement."""
        await self._lease.settle(settlement)
        self.settlements.append(settlement)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store(tmp_path_factory.mktemp("settlements") / "server.db")
    yield store
    store.close()


@pytest.fixture(scope="module")
def ledger(store: Store) -> Iterator[Ledger]:
    ledger = Ledger(store)
    yield ledger
    assert {len(each.settlements) for each in ledger.leases} <= {1}, "a lease was settled twice, or never"


@pytest.fixture(scope="module")
def running(ledger: Ledger) -> Iterator[Served]:
    guarded = {"guarded-calls": ("calls", "check_call"), "guarded-answers": ("texts", "check_text")}
    settings = Settings(
        limits=ServerLimits(heartbeat_seconds=PATIENCE_SECONDS),
        models={**{name: ModelSettings((MODEL,)) for name in guarded}, "either": ModelSettings((MODEL, MODEL))},
        guards={name: GuardSettings(guard, models=(name,)) for name, (guard, _) in guarded.items()},
        mcp={"shop": python("shop.py")},
    )
    services = server_services(settings, environment={}, random=lambda: 0.0)
    services.registry.add_guard(Double("calls", ("check_call",), do=refuse_requests))
    services.registry.add_guard(Double("texts", ("check_text",), do=refuse_bombs))
    with serving(settings, services=services, access=ledger) as served:
        served.application.reload(trying_twice(served))
        yield served


def trying_twice(served: Served) -> Settings:
    """The settings of the server with a provider that is asked again, and with the price of a model."""
    settings = served.application.state.settings
    changes: dict[str, dict[str, Any]] = {
        "openai-responses": {"max_retries": 1},
        "openai-compatible": {"price": Price(2, 8)},
    }
    changed = {
        name: replace(given := settings.providers[name], options={**given.options, **more})
        for name, more in changes.items()
    }
    return replace(settings, providers={**settings.providers, **changed})


def limits_of(calls: int) -> dict[str, KeyLimits]:
    """Every limit of a key, each of which so many calls may use up."""
    return {
        "calls at once": KeyLimits(parallel=calls),
        "requests": KeyLimits(requests_per_minute=calls),
        "tokens": KeyLimits(tokens_per_minute=TOKENS),
    }


def settled(ledger: Ledger, before: int, calls: int) -> list[Settlement]:
    """The settlements of the calls of an ending."""
    assert wait_until(lambda: sum(len(each.settlements) for each in ledger.leases[before:]) == calls)
    assert len(ledger.leases) == before + calls
    return [settlement for each in ledger.leases[before:] for settlement in each.settlements]


def check_dollars(ledger: Ledger, name: str, found: list[Settlement]) -> None:
    """Checks what the calls of a key have counted of its limit of dollars, which reserves nothing any more."""
    state = Budget(DOLLARS, "month", name=f"key {name} per month", ledger=ledger.ledger).state()
    assert state.reserved == 0
    if not any(each.estimated for each in found):
        assert state.spent == sum(each.cost or 0 for each in found)
    elif all(each.cost != 0 for each in found) and found[0].cost is not None:
        assert state.spent > 0


def walked(served: Served, store: Store, ledger: Ledger, ending: Ending) -> list[Settlement]:
    """Lets the calls of an ending end, and checks what the next one meets at every limit; returns how they were
    settled.
    """
    keys, before = Keys(store, lambda: NOW), len(ledger.leases)
    name = f"key-{len(keys.all())}"
    limits = KeyLimits(100, TOKENS, ending.calls, usd_per_month=DOLLARS)
    client = Client(served, keys.create(name, limits=limits).secret)
    ending.drive(client)
    found = settled(ledger, before, ending.calls)
    check_dollars(ledger, name, found)
    used = sum((each.usage.input or 0) + (each.usage.output or 0) for each in found)
    assert used >= ending.least if ending.least else used == 0, found
    for limit, limits in limits_of(ending.calls).items():
        # One call may take all tokens of a minute while none are used.
        lease = CallLeases(store, lambda: NOW).begin(name, limits, TOKENS, 1.0)
        is_used_up = limit == "requests" or (limit == "tokens" and ending.least > 0)
        assert (isinstance(lease, LimitReached) and lease.limit) == (limit if is_used_up else False), (limit, lease)
        if not isinstance(lease, LimitReached):
            CallLeases(store, lambda: NOW).settle(lease, 0)
    served.begin_test()
    served.script("next")
    following = client.post("/v1/chat/completions", {**ASK, "model": "scripted", "max_tokens": TOKENS})
    assert following.status_code == (429 if ending.least else 200), following.text
    return found


@pytest.mark.parametrize("name", ENDINGS)
def test_ended_call_counts_for_every_limit(served: Served, store: Store, ledger: Ledger, name: str):
    walked(served, store, ledger, ENDINGS[name])


@pytest.mark.process
@pytest.mark.parametrize("name", ROUNDS)
def test_ended_rounds_count_for_every_limit(served: Served, store: Store, ledger: Ledger, name: str):
    (found,) = walked(served, store, ledger, ROUNDS[name])
    assert found.estimated


def test_the_walk_has_every_ending_and_every_limit():
    dollars = ("usd_per_day", "usd_per_month")
    assert (len(ENDINGS), len(ROUNDS), len(limits_of(1))) == (88, 4, len(fields(KeyLimits)) - len(dollars))


def test_answers_that_the_limit_has_no_room_for_cancel_those_that_were_sent(
    served: Served, store: Store, ledger: Ledger
):
    keys = Keys(store, lambda: NOW)
    key = keys.create("few", limits=KeyLimits(tokens_per_minute=1_500)).secret
    served.vendor.script(HANG)
    before = len(ledger.leases)
    response = Client(served, key).post("/v1/chat/completions", {**ASK, "n": 3})
    assert response.status_code == 429
    (found,) = settled(ledger, before, 1)
    assert found.outcome == "cancelled"


class Slow(OpenAccess):
    """Lets calls in when the test says so."""

    def __init__(self) -> None:
        self.begun, self.open, self.settled = threading.Event(), threading.Event(), threading.Event()
        self.settlements: list[Settlement] = []

    async def begin(self, grant: Grant, call: ModelCall) -> CallLease:
        """Lets a call in, in a thread, as access by a database does."""
        self.begun.set()
        await asyncio.to_thread(self.open.wait)
        return self

    async def settle(self, settlement: Settlement) -> None:
        """Notes a settlement."""
        self.settlements.append(settlement)
        self.settled.set()


def test_client_that_leaves_while_its_call_is_let_in_holds_no_lease():
    access = Slow()
    with serving(access=access) as served:
        with leaving(served, ASK):
            assert access.begun.wait(PATIENCE_SECONDS)
        assert wait_until(lambda: not served.application.state.metrics.counts.running)
        access.open.set()
        assert access.settled.wait(PATIENCE_SECONDS)
        assert not served.vendor.requests
    assert [(each.outcome, each.usage.input) for each in access.settlements] == [("cancelled", 0)]


@pytest.mark.parametrize("stream", [False, True])
def test_calls_that_run_when_the_server_ends_are_settled(stream: bool):
    accounts = Accounts()
    with ExitStack() as clients, serving(Settings(limits=ServerLimits(drain_seconds=0.05)), access=accounts) as served:
        served.vendor.script(*(BEGUN if stream else ()), HANG)
        asking = Client(served, "none").asking("/v1/chat/completions", {**ASK, "stream": stream})
        clients.enter_context(asking)
    (found,) = accounts.settled
    assert (found.outcome, found.usage.input) == ("cancelled", ASKED_TOKENS)


def test_lease_is_released_if_what_was_used_cannot_be_computed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def broken(spending: Spending, error: BaseException | None) -> Settlement:
        raise ValueError("no")

    monkeypatch.setattr(Spending, "settlement", broken)
    accounts = Accounts()
    with serving(access=accounts) as served:
        served.script("hello")
        assert Client(served, "none").post("/v1/chat/completions", {**ASK, "model": "scripted"}).status_code == 200
    (found,) = accounts.settled
    assert (found.outcome, found.usage, found.estimated) == ("done", Usage(), True)
    assert "cannot be computed" in caplog.text
