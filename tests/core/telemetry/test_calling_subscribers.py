"""Subscribers that call models are not notified of calls that they caused."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from abstractcore import CallRecord, Services, create_llm
from tests.chaos_server import PATIENCE_SECONDS

MOST = 50
"""A subscriber without end is stopped here."""


@pytest.fixture
def services():
    services = Services(environment={})
    yield services
    services.close()


@pytest.fixture
def llm(services):
    return create_llm("scripted", replies=lambda call: "ok", services=services)


def prompts(llm) -> list[str]:
    return sorted(call.messages[-1].text for call in llm.calls)


def settled(services) -> None:
    """Wait until no notification causes another call."""
    for _ in range(MOST):
        assert services.records.flush(PATIENCE_SECONDS)


def calling(llm, name: str, way: str, heard: list[str]):
    """A subscriber that makes a call of each record it gets, in one of several ways."""

    def prompt(record: CallRecord) -> str:
        heard.append(record.tags.get("by", "user"))
        return f"{name} of {record.tags.get('by', 'user')}"

    def generate(text: str, record: CallRecord) -> None:
        if len(llm.calls) < MOST:
            llm.generate(text, tags={"by": f"{name}({record.tags.get('by', 'user')})"})

    async def agenerate(text: str, record: CallRecord) -> None:
        if len(llm.calls) < MOST:
            await llm.agenerate(text, tags={"by": f"{name}({record.tags.get('by', 'user')})"})

    def plain(record: CallRecord) -> None:
        generate(prompt(record), record)

    async def awaited(record: CallRecord) -> None:
        await agenerate(prompt(record), record)

    async def in_tasks(record: CallRecord) -> None:
        await asyncio.gather(asyncio.create_task(agenerate(prompt(record), record)))

    async def in_a_thread_of_the_loop(record: CallRecord) -> None:
        await asyncio.to_thread(generate, prompt(record), record)

    def in_a_thread(record: CallRecord) -> None:
        run = contextvars.copy_context().run
        thread = threading.Thread(target=run, args=(generate, prompt(record), record))
        thread.start()
        thread.join()

    def in_a_loop(record: CallRecord) -> None:
        asyncio.run(agenerate(prompt(record), record))

    def in_a_stream(record: CallRecord) -> None:
        if len(llm.calls) < MOST:
            with llm.stream(prompt(record), tags={"by": f"{name}({record.tags.get('by', 'user')})"}) as stream:
                list(stream)

    ways = (plain, awaited, in_tasks, in_a_thread_of_the_loop, in_a_thread, in_a_loop, in_a_stream)
    return {each.__name__: each for each in ways}[way]


WAYS = ("plain", "awaited", "in_tasks", "in_a_thread_of_the_loop", "in_a_thread", "in_a_loop", "in_a_stream")


@pytest.mark.parametrize("way", WAYS)
def test_subscriber_is_not_notified_of_its_own_calls(call_style, services, llm, way):
    heard: list[str] = []
    others: list[str] = []
    with (
        services.records.subscribe(calling(llm, "a", way, heard)),
        services.records.subscribe(lambda record: others.append(record.tags.get("by", "user"))),
    ):
        for _ in range(2):
            call_style.generate(llm, "hi")
        settled(services)
    assert prompts(llm) == ["a of user", "a of user", "hi", "hi"]
    assert heard == ["user", "user"]
    assert sorted(others) == ["a(user)", "a(user)", "user", "user"]


@pytest.mark.parametrize("way", WAYS)
def test_two_subscribers_that_make_calls_terminate(call_style, services, llm, way):
    """Each is notified of the other's call, once."""
    heard: dict[str, list[str]] = {"a": [], "b": [], "": []}
    subscriptions = [services.records.subscribe(calling(llm, name, way, heard[name])) for name in "ab"]
    subscriptions.append(services.records.subscribe(lambda record: heard[""].append(record.tags.get("by", "user"))))
    call_style.generate(llm, "hi")
    settled(services)
    for subscription in subscriptions:
        subscription.close()
    assert heard["a"] == ["user", "b(user)"]
    assert heard["b"] == ["user", "a(user)"]
    assert sorted(heard[""]) == ["a(b(user))", "a(user)", "b(a(user))", "b(user)", "user"]
    assert len(llm.calls) == 5


def test_function_subscribed_twice_is_one_subscriber(call_style, services, llm):
    heard: list[str] = []
    subscriber = calling(llm, "a", "plain", heard)
    with services.records.subscribe(subscriber), services.records.subscribe(subscriber, "full"):
        call_style.generate(llm, "hi")
        settled(services)
    assert heard == ["user", "user"]
    assert len(llm.calls) == 3


def test_bound_method_is_the_same_subscriber_each_time(call_style, services, llm):
    class Judge:
        heard = 0

        def judge(self, record: CallRecord) -> None:
            self.heard += 1
            if self.heard < MOST:
                llm.generate("judge")

    judge = Judge()
    with services.records.subscribe(judge.judge), services.records.subscribe(judge.judge):
        call_style.generate(llm, "hi")
        settled(services)
    assert judge.heard == 2


def test_plugin_subscriber_is_not_notified_of_its_own_calls(call_style, services, llm):
    heard: list[str] = []
    function = calling(llm, "a", "plain", heard)

    class Plugin:
        name, capture = "plugin", "off"

        def __call__(self, record: CallRecord) -> None:
            function(record)

    services.records.add(Plugin())
    call_style.generate(llm, "hi")
    settled(services)
    assert heard == ["user"]


def test_calls_of_other_services_cause_no_feedback_loop(call_style, services, llm):
    """A subscriber of two services that calls an LLM of either."""
    others = Services(environment={})
    other = create_llm("scripted", replies=lambda call: "ok", services=others)
    heard: list[str] = []

    def subscriber(record: CallRecord) -> None:
        heard.append(record.outcome)
        if len(heard) < MOST:
            llm.generate("one")
            other.generate("two")

    with services.records.subscribe(subscriber), others.records.subscribe(subscriber):
        call_style.generate(llm, "hi")
        for _ in range(3):
            settled(services)
            settled(others)
    others.close()
    assert heard == ["done"]


def test_stream_started_in_a_notification_and_finished_elsewhere_is_the_subscribers_own(services, llm):
    streams, heard = [], []
    begun = threading.Event()

    def begin(record: CallRecord) -> None:
        heard.append(record.outcome)
        if not streams:
            streams.append(llm.stream("one two three"))
            next(streams[0])
        begun.set()

    with services.records.subscribe(begin):
        llm.generate("hi")
        assert begun.wait(PATIENCE_SECONDS)
        list(streams[0])
        settled(services)
    assert heard == ["done"]
