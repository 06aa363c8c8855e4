"""Costs: each response is charged by itself, exactly; None with a reason if something is not known."""

from __future__ import annotations

import decimal
import json
from dataclasses import replace
from decimal import Decimal

import pytest

from abstractcore import (
    Billing,
    InvalidInputError,
    MediaDecision,
    ModelReply,
    Price,
    ServerError,
    StreamInterruptedError,
    TextPart,
    Usage,
    create_llm,
    from_json,
    to_json,
)
from abstractcore.ports import Address, Charge, ModelProfile, ProviderSession, Terms
from abstractcore.registry import Registry
from abstractcore.schema import deltas_of
from abstractcore_providers.common.endpoints import FixedEndpoint, NoAuth
from abstractcore_providers.formats.openai_chat import OpenAIChat
from tests.chaos_server import (
    CUT,
    DONE,
    HANG,
    LAST_CHUNK,
    answer,
    chunk,
    completion,
    completion_body,
    delta,
    event,
    failure,
    stream_head,
    streamed,
)

PLAIN = Price(input=2, output=10)


class Vendor:
    """Chat completions at a price of 2 and 10 dollars a million tokens."""

    name, summary, options = "vendor", "costs", {}

    def __init__(self, url: str) -> None:
        self.url = url

    def connect(self, config, services) -> ProviderSession:
        endpoint = FixedEndpoint(Address(self.url, NoAuth()))
        return ProviderSession("m", OpenAIChat(), endpoint, ModelProfile(), price=PLAIN, terms=self.terms)

    def terms(self, call) -> Terms:
        return Terms(tier=call.tags.get("tier"))


PAID = Usage(input=3, output=2)
DOLLARS = Decimal("0.000026")
KEPT = ModelReply((TextPart("kept"),), "stop", usage=Usage(input=1_000_000, output=100_000))


class Cache:
    """Answers what it is asked a second time by itself, in the ring it is made for; `first` requests are made."""

    def __init__(self, first: int, *, streamed: bool = False) -> None:
        self._first = first
        self._streamed = streamed

    async def _answer(self, given, next):
        self._first -= 1
        if self._first >= 0:
            return await next(given)
        return Kept() if self._streamed else KEPT


class CallCache(Cache):
    around_call = Cache._answer


class AttemptCache(Cache):
    around_attempt = Cache._answer


class Kept:
    """A stream of the kept reply."""

    def __init__(self) -> None:
        self._deltas = deltas_of(KEPT)

    async def read(self):
        deltas, self._deltas = self._deltas, []
        return deltas

    async def close(self) -> None:
        """Nothing is held."""

    def abort(self) -> None:
        """Nothing is held."""


@pytest.fixture
def ask(call_style, server, services):
    """Makes a call with `middleware`, streamed or not; returns the response and the record."""
    services._registry = Registry()
    services._registry.add_provider(Vendor(f"{server.url}/v1"))
    records = []
    subscription = services.records.subscribe(records.append)

    def ask(*middleware, stream=False, **options):
        llm = create_llm("vendor", services=services, middleware=list(middleware), **options)
        if stream:
            with call_style.stream(llm, "hi") as deltas:
                list(deltas)
            response = deltas.response
        else:
            response = call_style.generate(llm, "hi")
        subscription.flush()
        return response, records.pop()

    yield ask
    subscription.close()


@pytest.mark.parametrize("kind", [CallCache, AttemptCache])
@pytest.mark.parametrize("kept_as_stream", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_reply_without_a_request_costs_nothing(ask, kind, stream, kept_as_stream):
    for each_record in ask(kind(0, streamed=kept_as_stream), stream=stream):
        assert (each_record.usage, each_record.cost, each_record.attempts) == (Usage(), 0, ())
        assert each_record.reply is None or each_record.reply.usage == KEPT.usage


@pytest.mark.parametrize("kind", [CallCache, AttemptCache])
@pytest.mark.parametrize("stream", [False, True])
def test_reply_after_a_request_costs_its_usage(ask, server, kind, stream):
    server.script(streamed("a") if stream else completion())
    for each_record in ask(kind(1), stream=stream):
        assert (each_record.usage, each_record.cost) == (PAID, DOLLARS)


def test_response_discarded_by_middleware_is_charged_and_its_replacement_is_not(ask, server):
    class Replacing:
        async def around_call(self, context, next):
            await next(context)
            return KEPT

    server.script(completion())
    for each_record in ask(Replacing()):
        assert (each_record.usage, each_record.cost) == (PAID, DOLLARS)


def test_cost_of_failed_attempts_is_unknown(ask, server):
    class Saving:
        async def around_call(self, context, next):
            try:
                return await next(context)
            except ServerError:
                return KEPT

    server.script(failure(500))
    for each_record in ask(Saving(), max_retries=0):
        assert (each_record.usage, each_record.cost, len(each_record.attempts)) == (Usage(), None, 1)
        assert (each_record.cost_source, each_record.cost_reason) == (None, "no response reported its tokens")


def test_abandoned_stream_costs_the_usage_reported_so_far(call_style, server, services):
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    services._registry = Registry()
    services._registry.add_provider(Vendor(f"{server.url}/v1"))
    server.script(stream_head() + chunk(delta("a", usage=usage)), HANG)
    records = []
    with services.records.subscribe(records.append):
        stream = call_style.stream(create_llm("vendor", services=services), "hi")
        next(stream)
        stream.close()
    assert [(record.usage, record.cost, record.cost_source) for record in records] == [(PAID, DOLLARS, "estimate")]


LONG = {"rates": {"input": "2", "output": "10"}, "when": [{"input_over": 200_000, "times": "2"}]}


class Twice:
    """Sends the request twice, and answers with the second response."""

    async def around_call(self, context, next):
        await read(await next(context))
        return await next(context)


async def read(answer) -> None:
    """Reads a streamed answer to its end."""
    while not isinstance(answer, ModelReply) and await answer.read():
        pass


def response_of(tokens: int, *, stream: bool = False, model: str = "m-1", **usage: object) -> bytes:
    """A response with so many tokens of input and none of output."""
    counts = {"prompt_tokens": tokens, "completion_tokens": 0, "total_tokens": tokens, **usage}
    if not stream:
        return answer({**completion_body(), "model": model, "usage": counts})
    events = [delta("a"), delta(finish_reason="stop"), event({"choices": [], "usage": counts}), DONE]
    return stream_head() + b"".join(map(chunk, events)) + LAST_CHUNK


@pytest.mark.parametrize("stream", [False, True])
def test_each_response_is_charged_by_itself(ask, server, stream):
    """Two requests of 150,000 tokens are not one of 300,000: the price of long contexts does not apply."""
    for _ in range(2):
        server.script(response_of(150_000, stream=stream))
    for each in ask(Twice(), stream=stream, price=LONG):
        assert (each.usage.input, each.cost, each.cost_source) == (300_000, Decimal("0.6"), "computed")
        assert len(each.price_rows) == 1


def test_sum_does_not_depend_on_the_decimal_context_of_the_program(call_style):
    exact = Decimal("0.123456789012345678901234567890123")
    usage = Usage(5, 5, billing=Billing(cost=exact))
    with decimal.localcontext() as context:
        context.prec = 3
        context.traps[decimal.Inexact] = True
        response = scripted(call_style, usage, usage, stream=False, price=FLEX)
    assert f"{response.cost:f}" == "0.246913578024691357802469135780246"


def test_price_rows_of_all_responses_are_named(ask, server):
    for tokens in (150_000, 250_000):
        server.script(response_of(tokens))
    for each in ask(Twice(), price=LONG):
        short, long = each.price_rows
        assert (each.cost, long) == (Decimal("1.3"), f"{short}:0")


def test_retried_attempt_without_a_response_costs_nothing(ask, server):
    server.script(failure(503, retry_after="0"))
    server.script(completion())
    for each in ask():
        assert (len(each.attempts), each.cost, each.cost_source) == (2, DOLLARS, "computed")


@pytest.mark.parametrize("stream", [False, True])
def test_response_without_usage_makes_the_cost_of_the_call_unknown(ask, server, stream):
    head = stream_head() + b"".join(map(chunk, [delta("a"), delta(finish_reason="stop"), DONE])) + LAST_CHUNK
    server.script(head if stream else answer({**completion_body(), "usage": None}))
    server.script(response_of(10, stream=stream))
    for each in ask(Twice(), stream=stream):
        assert (each.usage.input, each.cost, each.cost_source) == (10, None, None)
        assert each.cost_reason == "input tokens were not reported"


def test_stream_that_is_cut_before_its_usage_has_no_cost_with_the_reason(call_style, server, services):
    services._registry = Registry()
    services._registry.add_provider(Vendor(f"{server.url}/v1"))
    server.script(stream_head() + chunk(delta("a")), CUT)
    records = []
    with services.records.subscribe(records.append), pytest.raises(StreamInterruptedError):
        list(call_style.stream(create_llm("vendor", services=services), "hi"))
    assert [(record.outcome, record.cost, record.cost_reason) for record in records] == [
        ("failed", None, "input tokens were not reported")
    ]


FLEX = {"rates": {"input": "1", "output": "1"}, "when": [{"tier": ["flex"], "times": "0.5"}]}
SURE, REPORTED = Usage(1_000_000, 0), Usage(1_000_000, 0, billing=Billing(cost=Decimal("0.25")))
ESTIMATED = {"rates": {"input": "1", "output": "1"}, "sure": False}


def scripted(call_style, *usages: Usage, stream: bool, price: object):
    """Returns the response to a call that is answered with as many replies as there are usages."""
    replies = [ModelReply((TextPart("a"),), "stop", usage=usage) for usage in usages]
    llm = create_llm("scripted", replies=replies, middleware=[Twice()] * (len(usages) - 1), price=price)
    if not stream:
        return call_style.generate(llm, "hi")
    with call_style.stream(llm, "hi") as deltas:
        list(deltas)
    return deltas.response


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("usages", "price", "expected", "source"),
    [
        ((REPORTED, REPORTED), FLEX, "0.5", "vendor"),
        ((REPORTED, SURE), FLEX, "1.25", "computed"),
        ((SURE, REPORTED), ESTIMATED, "1.25", "estimate"),
        ((Usage(5, 5, billing=Billing(cost=Decimal(0))),), FLEX, "0", "vendor"),
        ((REPORTED, Usage(5, 5, billing=Billing(tier="scale"))), FLEX, None, None),
    ],
)
def test_weakest_source_of_the_responses_counts(call_style, usages, price, expected, source, stream):
    response = scripted(call_style, *usages, stream=stream, price=price)
    assert (response.cost, response.cost_source) == (None if expected is None else Decimal(expected), source)
    assert (response.cost_reason is None) == (expected is not None)
    assert response.usage == (usages[0] if len(usages) == 1 else usages[0] + usages[1])


def test_requested_tier_that_no_response_confirms_is_an_estimate(ask, server):
    server.script(response_of(1_000_000))
    for each in ask(price=FLEX, tags={"tier": "flex"}):
        assert (each.cost, each.cost_source) == (Decimal("0.5"), "estimate")


@pytest.mark.parametrize(
    ("usage", "expected", "reason"),
    [
        (None, 0, None),
        (Usage(5, 5), None, "no price is known for the conversion of a.png by 'captions'"),
        (Usage(5, 5, billing=Billing(cost=Decimal("0.5"))), Decimal("0.5"), None),
    ],
)
def test_conversion_of_a_file_costs_what_its_handler_reports(usage, expected, reason):
    """The scripted model costs nothing; a handler may have called a model of its own."""
    decision = MediaDecision(
        "messages[0].parts[0]", "a.png", "image/png", "image", "fallback", "why", "captions", usage=usage
    )

    class Converting:
        async def around_call(self, context, next):
            answer = await next(context)
            context.decisions = (decision,)
            return answer

    response = create_llm("scripted", replies=["a"], middleware=[Converting()]).generate("hi")
    assert (response.cost, response.cost_reason) == (expected, reason)


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        (Price(0.1, 0), "0.1"),
        (Price("0.1", "0"), "0.1"),
        (Price(Decimal("0.10"), 0, cached=5), "0.1"),
        (Price(0, 1e-7), "0"),
        ({"rates": {"input": "0.25"}}, "0.25"),
        (LONG, "4"),
    ],
)
def test_price_of_the_user_counts(ask, server, price, expected):
    server.script(response_of(1_000_000))
    for each in ask(price=price):
        assert (each.cost, each.cost_source) == (Decimal(expected), "computed")


@pytest.mark.parametrize(
    ("price", "message"),
    [
        (5, "price: expected a Price, got int"),
        ({}, "price.rates: missing"),
        ({"rates": {"input": 0.1}}, "price.rates.input: expected a decimal number as text, got float"),
        ({"rates": {"input": "1"}, "when": ["x"]}, "price.when[0]: there is no price set 'x'"),
    ],
)
def test_invalid_price_is_an_error_with_its_path(price, message):
    with pytest.raises(InvalidInputError) as caught:
        create_llm("scripted", replies=["a"], price=price)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (-1, "price.input: must not be negative"),
        (float("nan"), "price.input: nan is not a JSON number"),
        (float("inf"), "price.input: Infinity is not a JSON number"),
        ("1e999999999", "price.input: has more than 50 digits"),
        ("one", "price.input: expected a number such as '0.25'"),
        ("1_0", "price.input: expected a number such as '0.25'"),
        (True, "price.input: expected a number, got bool"),
        (None, "price.input: expected a number, got None"),
        pytest.param(10**5000, "price.input: expected a number such as '0.25'", id="of 5,000 digits"),
    ],
)
def test_invalid_number_in_a_price_is_an_error(given, message):
    with pytest.raises(InvalidInputError) as caught:
        Price(given, 1)
    assert str(caught.value).lower().startswith(message.lower())


def test_cost_is_written_and_read_exactly(ask, server):
    server.script(response_of(333_333))
    for each in ask(price=Price("0.123456789", 0)):
        assert json.loads(to_json(each))["cost"] == "0.041152221847737"
        assert from_json(to_json(each)) == each


@pytest.mark.parametrize("stream", [False, True])
def test_cost_is_not_computed_before_it_is_read(server, services, stream):
    charged = []

    class Counted:
        def pricing(self, provider, model):
            return self

        def charge(self, response):
            charged.append(response)
            return Charge(Decimal(1), "computed")

    class Unpriced(Vendor):
        def connect(self, config, services):
            return replace(super().connect(config, services), price=None)

    services._registry, services._catalogue = Registry(), Counted()
    services._registry.add_provider(Unpriced(f"{server.url}/v1"))
    server.script(streamed("a") if stream else completion())
    llm = create_llm("vendor", services=services)
    if stream:
        with llm.stream("hi") as deltas:
            list(deltas)
        response = deltas.response
    else:
        response = llm.generate("hi")
    assert (response.usage, charged) == (PAID, [])
    assert (response.cost, response.cost_source, [each.usage for each in charged]) == (1, "computed", [PAID])
