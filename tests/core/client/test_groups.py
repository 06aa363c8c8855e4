"""Groups of models: one LLM whose calls several others share."""

from __future__ import annotations

import copy
import logging
import pickle
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import (
    LLM,
    AbstractCoreError,
    AuthenticationError,
    BadRequestError,
    Budget,
    CallRecord,
    ContentFilterError,
    ContextOverflowError,
    FallbackExhaustedError,
    InvalidInputError,
    Member,
    ModelNotFoundError,
    OutputValidationError,
    Price,
    QuotaError,
    RateLimitError,
    ReasoningPart,
    Routing,
    ServerError,
    Services,
    UnknownOptionError,
    UnknownProviderError,
    UnsupportedContentError,
    create_llm,
    tool,
)
from abstractcore.testing import ScriptedReply, VirtualClock
from tests.core.tools.loops import WAYS, Way, calls

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645"
    "400000000049454e44ae426082"
)


@pytest.fixture(params=WAYS)
def way(request: Any) -> Iterator[Way]:
    """Whole and streamed answers, sync and async."""
    with Way.of(request.param) as way:
        yield way


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def services(clock: VirtualClock) -> Iterator[Services]:
    services = Services(environment={}, clock=clock, random=lambda: 0.0)
    yield services
    services.close()


Make = Callable[..., LLM]


@pytest.fixture
def make(services: Services) -> Make:
    def make(model: str, *replies: Any, **options: Any) -> LLM:
        script = replies[0] if len(replies) == 1 and callable(replies[0]) else list(replies)
        return create_llm("scripted", model, replies=script, services=services, **{"max_retries": 0, **options})

    return make


def test_user_with_a_second_vendor_gets_its_answer_when_the_first_is_down(way: Way, make: Make, services: Services):
    llm = create_llm([make("one", ServerError("down")), make("two", "hello")], services=services)
    response = way.generate(llm, "hi")
    assert (response.content, response.provider, response.model) == ("hello", "scripted", "two")
    failed, answered = response.attempts
    assert (failed.provider, failed.model, failed.error) == ("scripted", "one", "ServerError")
    assert (answered.provider, answered.model, answered.error) == ("scripted", "two", None)
    (warning,) = response.warnings
    assert (warning.code, warning.requested, warning.sent) == ("model_substituted", "scripted/one", "scripted/two")
    assert "scripted/one: ServerError: down" in warning.message


def test_user_with_two_keys_of_one_model_spreads_calls_over_them(services: Services):
    members = [Member("scripted/m", replies=["a", "c"]), {"model": "scripted/m", "replies": ["b", "d"]}]
    llm = create_llm(members, routing=Routing(order="spread"), services=services)
    assert [llm.generate("hi").content for _ in range(4)] == ["a", "b", "c", "d"]
    assert repr(llm) == "LLM(group of scripted/m, scripted/m#2)"


def test_second_key_of_a_model_is_named_when_it_answers(way: Way, services: Services):
    members = [Member("scripted/m", replies=[ServerError("down")]), Member("scripted/m", replies=["hello"])]
    response = way.generate(create_llm(members, services=services, max_retries=0), "hi")
    assert response.warnings[0].message.startswith("scripted/m#2 answered: scripted/m: ServerError: down")


def test_user_finds_every_cause_when_all_members_fail(way: Way, make: Make, services: Services):
    errors = [RateLimitError("slow down", retry_after=20), QuotaError("no credit"), ServerError("down")]
    llm = create_llm([make(f"m{n}", error) for n, error in enumerate(errors)], services=services)
    with pytest.raises(
        FallbackExhaustedError, match=r"m0: RateLimitError: slow down; .*m1: QuotaError.*m2: Ser"
    ) as info:
        way.generate(llm, "hi")
    causes = info.value.causes
    assert [each.member for each in causes] == ["scripted/m0", "scripted/m1", "scripted/m2"]
    assert [type(each.error) for each in causes] == [RateLimitError, QuotaError, ServerError]
    assert all(each.is_sent for each in causes)
    assert info.value.retryable
    assert info.value.retry_after == 20
    assert len(info.value.attempts) == 3


def test_failed_call_is_recorded_as_one_of_the_member_that_was_asked_last(way: Way, make: Make, services: Services):
    records: list[CallRecord] = []
    services.records.subscribe(records.append)
    for last in (ServerError("down"), BadRequestError("bad")):
        llm = create_llm([make("one", ServerError("down")), make("two", last)], services=services)
        with pytest.raises(AbstractCoreError):
            way.generate(llm, "hi")
    services.records.flush(10)
    assert [(each.provider, each.model, len(each.attempts)) for each in records] == [("scripted", "two", 2)] * 2
    assert [each.error and each.error.type for each in records] == ["FallbackExhaustedError", "BadRequestError"]


def test_first_member_answers_without_a_warning(way: Way, make: Make, services: Services):
    llm = create_llm([make("one", "hello"), make("two")], services=services)
    response = way.generate(llm, "hi")
    assert response.warnings == ()
    assert response.model == "one"
    assert [each.model for each in llm.members] == ["one", "two"]


@pytest.mark.parametrize("error", [BadRequestError("bad"), ContentFilterError("filtered")])
def test_error_of_the_request_itself_is_raised(way: Way, make: Make, services: Services, error: AbstractCoreError):
    llm = create_llm([make("one", error), make("two", "hello")], services=services)
    with pytest.raises(type(error)):
        way.generate(llm, "hi")


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (BadRequestError("bad"), "invalid_input"),
        (ContentFilterError("filtered"), "refusal"),
        (BadRequestError("bad"), BadRequestError),
    ],
)
def test_named_causes_let_the_next_member_answer(
    way: Way, make: Make, services: Services, error: AbstractCoreError, named: Any
):
    routing = Routing(fall_back_on=[named])
    llm = create_llm([make("one", error), make("two", "hello")], routing=routing, services=services)
    assert way.generate(llm, "hi").content == "hello"


def test_refusal_in_an_answer_lets_the_next_member_answer_if_it_is_named(make: Make, services: Services):
    refusal = ScriptedReply.text("I cannot.", finish_reason="refusal")
    members = [make("one", refusal, refusal), make("two", "hello")]
    routing = Routing(fall_back_on=["refusal"], order="first")
    assert create_llm(members, routing=routing, services=services).generate("hi").content == "hello"
    assert create_llm(members, services=services).generate("hi").content == "I cannot."


def test_invalid_answer_is_corrected_by_the_next_member_if_it_is_named(way: Way, make: Make, services: Services):
    members = [make("one", "x", "y"), make("two", "3")]
    routing = Routing(fall_back_on=["invalid_output"])
    response = way.generate(create_llm(members, routing=routing, services=services), "hi", response_model=int)
    assert (response.output, response.model) == (3, "two")
    with pytest.raises(OutputValidationError):
        way.generate(create_llm([make("one", "x", "y"), make("two", "3")], services=services), "hi", response_model=int)


def test_stream_that_has_begun_stays_with_its_member(make: Make, services: Services):
    cut = ScriptedReply(ScriptedReply.text("half an answer").pieces, then=ServerError("gone"))
    llm = create_llm([make("one", cut), make("two", "hello")], services=services)
    with pytest.raises(ServerError, match="gone"), llm.stream("hi") as stream:
        list(stream)


def test_member_that_cannot_take_a_file_is_skipped_before_anything_is_sent(way: Way, make: Make, services: Services):
    blind, seeing = make("one", "never"), make("two", "a picture", accepts=["image"])
    llm = create_llm([blind, seeing], services=services)
    response = way.generate(llm, "what is it?", media=[PNG], media_policy={"image": "native"})
    assert (response.model, len(response.attempts), len(blind.calls)) == ("two", 1, 0)
    assert "UnsupportedContentError" in response.warnings[-1].message
    plan = llm.plan("what is it?", media=[PNG], media_policy={"image": "native"})
    assert plan.warnings[0].code == "member_skipped"


def test_context_overflow_asks_members_with_a_larger_context_only(way: Way, make: Make, services: Services):
    facts = [{"context_tokens": size} for size in (1000, 500, 8000)]
    members = [
        make("one", ContextOverflowError("too long"), facts=facts[0]),
        make("two", "never", facts=facts[1]),
        make("three", "hello", facts=facts[2]),
    ]
    response = way.generate(create_llm(members, services=services), "hi")
    assert (response.content, len(members[1].calls)) == ("hello", 0)


def test_member_is_left_alone_and_probed_by_one_call(make: Make, services: Services, clock: VirtualClock):
    first = make("one", ServerError("down"), ServerError("down"), "back")
    llm = create_llm([first, make("two", lambda call: "hello")], services=services)

    def contents(count: int) -> list[str]:
        return [llm.generate("hi").content for _ in range(count)]

    assert contents(3) == ["hello"] * 3
    assert len(first.calls) == 1
    clock.advance(31)
    assert contents(3) == ["hello"] * 3
    assert len(first.calls) == 2
    clock.advance(59)
    assert contents(1) == ["hello"]
    assert len(first.calls) == 2
    clock.advance(2)
    assert contents(1) == ["back"]


def test_retry_after_is_kept_exactly(make: Make, services: Services, clock: VirtualClock):
    first = make("one", RateLimitError("slow", retry_after=100), "back")
    llm = create_llm([first, make("two", lambda call: "hello")], services=services)
    llm.generate("hi")
    clock.advance(99.9)
    assert llm.generate("hi").content == "hello"
    clock.advance(0.1)
    assert llm.generate("hi").content == "back"


@pytest.mark.parametrize("error", [AuthenticationError("bad key"), ModelNotFoundError("no such model")])
def test_unusable_member_is_not_asked_again_and_logged_once(
    make: Make, services: Services, clock: VirtualClock, error: AbstractCoreError, caplog: pytest.LogCaptureFixture
):
    first = make("one", lambda call: error)
    llm = create_llm([first, make("two", lambda call: "hello")], services=services)
    with caplog.at_level(logging.WARNING, "abstractcore"):
        for _ in range(3):
            assert llm.generate("hi").content == "hello"
            clock.advance(100_000)
    assert len(first.calls) == 1
    assert len([each for each in caplog.messages if "not asked any more" in each]) == 1


def test_rounds_of_a_loop_go_on_with_another_member_and_run_no_tool_twice(way: Way, make: Make, services: Services):
    runs: list[str] = []

    @tool
    def look(where: str) -> str:
        """Looks somewhere."""
        runs.append(where)
        return "a cat"

    call = ScriptedReply.text("", reasoning="mine") + calls(("look", {"where": "here"}))
    first = make("one", call, ServerError("down"))
    second = make("two", "There is a cat.")
    llm = create_llm([first, second], services=services)
    response = way.generate(llm, "What is here?", tools=[look], run_tools=True)
    assert (response.content, response.model, runs) == ("There is a cat.", "two", ["here"])
    (sent,) = second.calls
    parts = [part for message in sent.messages for part in message.parts]
    assert [part.origin for part in parts if isinstance(part, ReasoningPart)] == ["scripted/one"]


def test_rounds_of_a_loop_stay_with_the_member_that_began_it(make: Make, services: Services):
    @tool
    def look() -> str:
        """Looks."""
        return "a cat"

    members = [make(f"m{n}", calls(("look", {})), "done", calls(("look", {})), "done") for n in range(2)]
    llm = create_llm(members, routing=Routing(order="spread"), services=services)
    for _ in range(2):
        response = llm.generate("?", tools=[look], run_tools=True)
        assert len({each.model for each in response.attempts}) == 1


def test_session_stays_with_the_member_that_answered_last(make: Make, services: Services):
    members = [make(f"m{n}", lambda call: "hello") for n in range(3)]
    llm = create_llm(members, routing=Routing(order="spread"), services=services)
    assert {llm.generate("hi", tags={"session": "a"}).model for _ in range(4)} == {"m0"}
    free = create_llm(members, routing=Routing(order="spread", sticky=None), services=services)
    assert {free.generate("hi", tags={"session": "a"}).model for _ in range(3)} == {"m0", "m1", "m2"}


def test_cheapest_member_is_asked_first(make: Make, services: Services):
    prices = [Price(input=3, output=1), Price(input=1, output=9), None]
    members = [make(f"m{n}", lambda call: "hello", price=price) for n, price in enumerate(prices) if price]
    llm = create_llm(members, routing={"order": "cheapest"}, services=services)
    assert llm.generate("word " * 4000, max_output_tokens=1).model == "m1"
    assert llm.generate("hi", max_output_tokens=1000).model == "m0"


def test_function_chooses_members(way: Way, make: Make, services: Services):
    def by_length(call: Any, members: Any) -> Any:
        return members[1] if len(call.messages[0].text) > 10 else list(members)

    members = [make("small", lambda call: "s"), make("large", lambda call: "l")]
    llm = create_llm(members, routing=Routing(order=by_length), services=services)
    assert [way.generate(llm, text).content for text in ("hi", "a long question")] == ["s", "l"]


def test_each_member_is_charged_at_its_own_price(way: Way, make: Make, services: Services, clock: VirtualClock):
    dear = make("dear", ServerError("gone"), price=Price(input=1_000_000, output=0))
    cheap = make("cheap", "hello", price=Price(input=1, output=1))
    budget = Budget(10, per="day")
    records: list[CallRecord] = []
    with services.records.subscribe(records.append):
        llm = create_llm([dear, cheap], services=services, budgets=[budget])
        response = way.generate(llm, "hi")
    assert response.model == "cheap"
    assert response.cost == Decimal("0.000002")
    (record,) = records
    assert (record.provider, record.model, record.cost) == ("scripted", "cheap", response.cost)
    assert [each.model for each in record.attempts] == ["dear", "cheap"]
    assert budget.state(at=clock.time_of_day()).spent == response.cost


def test_defaults_of_a_member_hold_where_the_call_sets_nothing(make: Make, services: Services):
    member = make("one", "a", "b", temperature=0.25, system_prompt="Be brief.", tags={"team": "x"})
    llm = create_llm([member], services=services, max_output_tokens=7)
    llm.generate("hi")
    llm.generate("hi", temperature=1.0, system_prompt="Be long.", tags={"a": "b"})
    first, second = member.calls
    assert (first.sampling.temperature, first.sampling.max_output_tokens) == (0.25, 7)
    assert (first.messages[0].text, dict(first.tags)) == ("Be brief.", {"team": "x"})
    assert (second.sampling.temperature, second.messages[0].text) == (1.0, "Be long.")
    assert dict(second.tags) == {"team": "x", "a": "b"}


def test_middleware_of_a_group_is_around_calls_and_attempts_of_its_members(services: Services):
    seen: list[str] = []

    class Watching:
        async def around_call(self, context: Any, next: Any) -> Any:
            seen.append(f"call {context.input.provider}")
            return await next(context)

        async def around_attempt(self, attempt: Any, next: Any) -> Any:
            seen.append(f"attempt {attempt.context.input.model}")
            return await next(attempt)

    members = [Member("scripted/one", replies=[ServerError("down")]), Member("scripted/two", replies=["hello"])]
    llm = create_llm(members, services=services, middleware=[Watching()], max_retries=0)
    assert llm.generate("hi").content == "hello"
    assert seen == ["call group", "attempt one", "attempt two"]


def test_call_middleware_of_a_member_is_around_its_calls(make: Make, services: Services):
    class Upper:
        async def around_call(self, context: Any, next: Any) -> Any:
            context.call = context.call.with_(tags={"by": context.call.model})
            return await next(context)

    member = make("two", "hello", middleware=[Upper()])
    llm = create_llm([make("one", ServerError("down")), member], services=services)
    llm.generate("hi")
    assert dict(member.calls[0].tags) == {"by": "two"}


def test_closed_member_is_skipped(make: Make, services: Services):
    first, second = make("one", "never"), make("two", "hello")
    first.close()
    assert create_llm([first, second], services=services).generate("hi").content == "hello"


def test_group_closes_the_members_that_it_has_made(make: Make, services: Services):
    given = make("one", "still open")
    llm = create_llm([given, Member("scripted/two", replies=["x"])], services=services)
    made = llm.members[1]
    llm.close()
    assert given.generate("hi").content == "still open"
    with pytest.raises(AbstractCoreError, match="closed"):
        made.generate("hi")


def test_call_of_a_group_as_data_is_run_by_it(way: Way, make: Make, services: Services):
    llm = create_llm([make("one", ServerError("down")), make("two", "hello")], services=services)
    call = llm.build("hi")
    assert (call.provider, call.model) == ("group", "scripted/one,scripted/two")
    assert llm.run(call).content == "hello"


def test_group_is_copied_and_pickled_without_keys():
    llm = create_llm(["ollama/one", "ollama/two"], routing=Routing(order="spread"), temperature=0.5)
    for again in (copy.copy(llm), pickle.loads(pickle.dumps(llm))):
        assert repr(again) == "LLM(group of ollama/one, ollama/two)"
        assert again.build("hi").sampling.temperature == 0.5
    with_key = create_llm([Member("openai/gpt-5.4", key="sk-1234567890abcdef"), "ollama/two"])
    with pytest.raises(InvalidInputError, match="credential"):
        pickle.dumps(with_key)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "at least one model"),
        ([3], "expected the name of a model"),
        ([{"name": "x"}], "a mapping with the key 'model'"),
        ({"a": 1}, "expected a name or a list"),
    ],
)
def test_wrong_list_of_members_is_refused(given: Any, message: str):
    with pytest.raises(InvalidInputError, match=message):
        create_llm(given)


def test_group_in_a_group_and_one_twice_are_refused(make: Make, services: Services):
    one = make("one", "x")
    group = create_llm([one, make("two", "y")], services=services)
    with pytest.raises(InvalidInputError, match=r"provider\[1\]: a group cannot be a member of another"):
        create_llm([one, group], services=services)
    with pytest.raises(InvalidInputError, match="listed twice"):
        create_llm([one, one], services=services)
    with pytest.raises(UnknownProviderError, match="ollama"):
        create_llm([one, "olama/x"], services=services)
    assert create_llm([one], services=services).generate("hi").content == "x"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"api_key": "sk-123"}, InvalidInputError, "api_key: a group of models has no such option"),
        ({"routing": {"ordr": "first"}}, InvalidInputError, "routing.ordr: no such field"),
        ({"routing": {"order": "second"}}, InvalidInputError, "routing.order"),
        ({"routing": {"cooldown": 0}}, InvalidInputError, "routing.cooldown"),
        ({"routing": {"hedge_after": "p99"}}, InvalidInputError, "routing.hedge_after"),
        ({"routing": {"fall_back_on": "refusal"}}, InvalidInputError, "routing.fall_back_on"),
        ({"routing": {"fall_back_on": [ValueError]}}, InvalidInputError, r"routing.fall_back_on\[0\]"),
        ({"routing": 3}, InvalidInputError, "routing: expected a Routing"),
        ({"temprature": 1}, UnknownOptionError, "temperature"),
        ({"region": "x"}, UnknownOptionError, "Only other providers"),
    ],
)
def test_wrong_option_of_a_group_is_refused(options: Any, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        create_llm(["ollama/one", "ollama/two"], **options)


def test_routing_of_one_model_is_refused():
    with pytest.raises(InvalidInputError, match="there is one model only"):
        create_llm("ollama/one", routing=Routing())


def test_member_without_a_key_is_left_out_with_a_warning(make: Make, services: Services):
    llm = create_llm(["openai/gpt-5.4", make("two", "hello")], services=services)
    response = llm.generate("hi")
    assert (response.model, response.warnings[0].code) == ("two", "member_skipped")
    assert "OPENAI_API_KEY" in response.warnings[0].message
    with pytest.raises(AuthenticationError, match="no member of the group has a key"):
        create_llm(["openai/gpt-5.4", "anthropic/claude-opus-5-5"], services=services)


def test_operations_go_to_the_first_member_that_has_them(make: Make, services: Services):
    llm = create_llm([make("one"), make("two")], services=services)
    assert llm.count_tokens("hello").estimated
    with pytest.raises(AbstractCoreError, match="no operation"):
        llm.operate("embed", inputs=["x"])


def test_causes_hold_no_credential(services: Services):
    key = "sk-abcdefghijklmnopqrstuvwxyz"
    leaking = Member("scripted/one", replies=[ServerError(f"the key {key} is out")], headers={"x-api-key": key})
    llm = create_llm([leaking], services=services, max_retries=0)
    with pytest.raises(FallbackExhaustedError) as info:
        llm.generate("hi")
    assert key not in str(info.value) + str(info.value.causes[0].error) + repr(info.value.causes)


def test_unsupported_everywhere_names_each_member(make: Make, services: Services):
    llm = create_llm([make("one"), make("two")], services=services)
    with pytest.raises(FallbackExhaustedError) as info:
        llm.generate("?", media=[PNG], media_policy={"image": "native"})
    assert [type(each.error) for each in info.value.causes] == [UnsupportedContentError] * 2
    assert not any(each.is_sent for each in info.value.causes)
    with pytest.raises(FallbackExhaustedError, match="no member can make this call"):
        llm.plan("?", media=[PNG], media_policy={"image": "native"})
