"""A group of models among budgets, caches, options and keys: what holds of one model holds of a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from abstractcore import (
    LLM,
    AuthenticationError,
    Budget,
    ConfigurationError,
    InvalidInputError,
    Member,
    Price,
    ResponseCache,
    ServerError,
    Services,
    create_llm,
)
from abstractcore.testing import VirtualClock
from tests.chaos_server import ScriptedServer, completion, failure
from tests.core.tools.loops import WAYS, Way

FREE, DEAR = Price(input=0, output=0), Price(input=1, output=1)


@pytest.fixture(params=WAYS)
def way(request: Any) -> Iterator[Way]:
    with Way.of(request.param) as way:
        yield way


@pytest.fixture
def services() -> Iterator[Services]:
    services = Services(environment={}, clock=VirtualClock(), random=lambda: 0.0)
    yield services
    services.close()


Make = Callable[..., LLM]


@pytest.fixture
def make(services: Services) -> Make:
    def make(model: str, reply: Any, **options: Any) -> LLM:
        script = reply if callable(reply) else lambda call: reply
        return create_llm("scripted", model, replies=script, services=services, max_retries=0, **options)

    return make


def test_answer_of_a_group_is_kept_for_equal_calls(way: Way, make: Make, services: Services):
    one, two = make("one", "first", temperature=0.5), make("two", "second")
    llm = create_llm([one, two], services=services, middleware=[ResponseCache()])
    answers = [way.generate(llm, prompt) for prompt in ("hi", "hi", "other")]
    assert [(each.content, each.model, len(each.attempts)) for each in answers] == [
        ("first", "one", 1),
        ("first", "one", 0),
        ("first", "one", 1),
    ]
    assert len(one.calls) == 2


def test_answer_of_a_substitute_is_not_kept(way: Way, make: Make, services: Services):
    two = make("two", "second")
    llm = create_llm([make("one", ServerError("down")), two], services=services, middleware=[ResponseCache()])
    assert [way.generate(llm, "hi").content for _ in range(2)] == ["second", "second"]
    assert len(two.calls) == 2


def test_answer_to_what_middleware_of_a_member_has_made_of_the_call_is_not_kept(make: Make, services: Services):
    class Changing:
        async def around_call(self, context: Any, next: Any) -> Any:
            context.call = context.call.with_(tools=(), messages=(*context.call.messages, *context.call.messages))
            return await next(context)

    one = make("one", "first", middleware=[Changing()])
    llm = create_llm([one], services=services, middleware=[ResponseCache()])
    llm.generate("hi")
    llm.generate("hi")
    assert len(one.calls) == 2


@pytest.mark.parametrize("second", [DEAR, FREE])
def test_model_for_calls_beyond_a_budget_answers_when_no_member_can(
    way: Way, make: Make, services: Services, second: Price
):
    cheap = make("cheap", "from the cheap one", price=FREE)
    budget = Budget(usd=1e-7, per="day", on_exceeded=cheap)
    members = [make("one", "never", price=DEAR), make("two", ServerError("down"), price=second)]
    llm = create_llm(members, services=services, budgets=[budget])
    response = way.generate(llm, "hi")
    assert (response.content, response.model, response.cost) == ("from the cheap one", "cheap", 0)
    (warning,) = response.warnings
    assert (warning.code, warning.sent) == ("model_substituted", "scripted/cheap")


@pytest.mark.parametrize(
    "option", [{"max_retries": 1}, {"limits": {"parallel": 1}}, {"proxy": "http://proxy.example:1"}, {"glyphs": True}]
)
def test_option_that_an_llm_created_before_cannot_take_is_refused(make: Make, services: Services, option: Any):
    (name,) = option
    with pytest.raises(InvalidInputError, match=f"{name}: a group has no part in the requests of an LLM"):
        create_llm([make("one", "x"), "ollama/two"], services=services, **option)


@pytest.mark.parametrize("name", ["services", "provider"])
def test_member_has_no_services_and_no_provider_of_its_own(name: str):
    with pytest.raises(InvalidInputError, match=f"member.{name}: a member has no such option"):
        Member("scripted/one", **{name: "x"})


def test_name_of_a_group_is_no_member(make: Make, services: Services):
    with pytest.raises(InvalidInputError, match=r"provider\[1\]: a group cannot be a member of another group"):
        create_llm([make("one", "x"), "auto"], services=services)


def test_wire_format_and_files_are_those_of_the_members(make: Make, services: Services):
    llm = create_llm([make("one", "x"), make("two", "x")], services=services)
    with pytest.raises(ConfigurationError, match="no wire format of its own"):
        llm.pipeline(sync=True).operation.encode(llm.build("hi"))
    with pytest.raises(ConfigurationError, match="no files of its own"):
        _ = llm.files
    assert create_llm([make("one", "x")], services=services).files.list() == ()


def test_each_member_may_renew_its_key(services: Services):
    """That one member has asked for its key again leaves another one its own attempt."""
    refused = failure(401, "bad key")
    with ScriptedServer() as first, ScriptedServer() as second:
        first.script(refused)
        first.script(refused)
        second.script(refused)
        second.script(completion("hello"))
        keys = iter(["key-of-one-1", "key-of-one-2", "key-of-two-1", "key-of-two-2"])
        members = [
            Member("openai-compatible/m", key=lambda: next(keys), base_url=f"{each.url}/v1") for each in (first, second)
        ]
        llm = create_llm(members, services=services, max_retries=0)
        response = llm.generate("hi")
    assert (response.content, [each.status for each in response.attempts]) == ("hello", [401, 401, 401, 200])


def test_member_whose_key_cannot_be_had_now_is_tried_again_later(services: Services):
    """A store of keys may be down for a while: no server has refused the key."""
    attempts: list[str] = []

    def key() -> str:
        attempts.append("asked")
        if len(attempts) == 1:
            raise OSError("the store of keys is down")
        return "key-of-the-store"

    with ScriptedServer() as server:
        server.script(completion("hello"))
        first = create_llm("openai-compatible/m", api_key=key, base_url=f"{server.url}/v1", services=services)
        llm = create_llm(
            [first, create_llm("scripted/two", replies=lambda call: "second", services=services)], services=services
        )
        assert [llm.generate("hi").content for _ in range(2)] == ["second", "second"]
        services.clock.sleep(31)
        assert llm.generate("hi").content == "hello"
    assert len(attempts) == 2


def test_all_members_without_keys_name_each_cause(services: Services):
    with pytest.raises(AuthenticationError, match=r"OPENAI_API_KEY.*ANTHROPIC_API_KEY"):
        create_llm(["openai/gpt-5.4", "anthropic/claude-opus-5-5"], services=services)
