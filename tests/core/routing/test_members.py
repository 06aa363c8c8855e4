"""What a group knows of its members: streams that break off, calls of the process that it was forked from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from abstractcore import (
    LLM,
    AbstractCoreError,
    BadRequestError,
    ConnectionFailedError,
    InvalidInputError,
    Routing,
    ServerError,
    Services,
    StreamInterruptedError,
    create_llm,
)
from abstractcore.testing import ScriptedReply, VirtualClock
from tests.core.tools.loops import STREAMED_WAYS, Way
from tests.forks import in_fork


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def services(clock: VirtualClock) -> Iterator[Services]:
    services = Services(environment={}, clock=clock, random=lambda: 0.0)
    yield services
    services.close()


Make = Callable[[str, Any], LLM]


@pytest.fixture
def make(services: Services) -> Make:
    def make(model: str, reply: Any) -> LLM:
        script = reply if callable(reply) else lambda call: reply
        return create_llm("scripted", model, replies=script, services=services, max_retries=0)

    return make


@pytest.mark.parametrize("name", STREAMED_WAYS)
@pytest.mark.parametrize(
    ("error", "is_left_alone"),
    [
        (StreamInterruptedError("cut"), True),
        (ServerError("gone"), True),
        (ConnectionFailedError("reset"), True),
        (BadRequestError("too much"), False),
    ],
)
def test_member_whose_streams_break_off_is_left_alone(
    name: str, error: Exception, is_left_alone: bool, make: Make, services: Services
):
    half = ScriptedReply(ScriptedReply.text("half an answer").pieces, then=error)
    llm = create_llm([make("one", half), make("two", "whole")], services=services)
    with Way.of(name) as way:
        with pytest.raises(AbstractCoreError):
            way.generate(llm, "hi")
        if is_left_alone:
            assert way.generate(llm, "hi").content == "whole"
        else:
            with pytest.raises(type(error)):
                way.generate(llm, "hi")


def test_time_of_a_call_that_ends_while_its_stream_is_read_is_no_failure(
    make: Make, services: Services, clock: VirtualClock
):
    llm = create_llm([make("one", "a long answer"), make("two", "never")], services=services)
    with pytest.raises(StreamInterruptedError), llm.stream("hi", timeout=10) as stream:
        for _ in stream:
            clock.advance(11)
    assert llm.generate("hi").model == "one"


def test_stream_that_its_reader_leaves_is_no_failure(make: Make, services: Services):
    llm = create_llm([make("one", "a long answer"), make("two", "never")], services=services)
    for _ in range(3):
        with llm.stream("hi") as stream:
            next(iter(stream))
    assert llm.generate("hi").model == "one"


@pytest.mark.process
@pytest.mark.parametrize("order", ["first", "least_busy"])
def test_forked_process_has_no_calls_that_run(order: Any, make: Make, services: Services, clock: VirtualClock):
    """Neither the probe of a member nor a running call of the parent keeps the child from asking it."""
    replies: list[Any] = [ServerError("down")]
    asked, ended = threading.Event(), threading.Event()

    def first(call: Any) -> Any:
        if replies:
            return replies.pop()
        asked.set()
        ended.wait()
        return "back"

    llm = create_llm([make("one", first), make("two", "hello")], services=services, routing=Routing(order=order))
    assert llm.generate("hi").content == "hello"
    clock.advance(31)
    probe = threading.Thread(target=llm.generate, args=("probe",))
    probe.start()
    asked.wait()

    def child() -> None:
        ended.set()
        assert llm.generate("hi").content == "back"

    in_fork(child)
    ended.set()
    probe.join()


@pytest.mark.parametrize(
    ("returned", "shown"),
    [(None, "None"), ([], "nothing"), ("one", "'one'"), ([None], "None"), ({1}, "{1}")],
)
def test_order_that_returns_no_member_is_refused(make: Make, services: Services, returned: Any, shown: str):
    llm = create_llm([make("one", "x")], services=services, routing=Routing(order=lambda call, members: returned))
    with pytest.raises(InvalidInputError, match=f"routing.order: the function returned {shown}"):
        llm.generate("hi")


def test_seconds_that_no_clock_has_are_refused():
    with pytest.raises(InvalidInputError, match=r"routing\.cooldown: expected a number of seconds above 0"):
        Routing(cooldown=10**400)
