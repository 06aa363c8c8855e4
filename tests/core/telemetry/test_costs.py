"""Costs: exact if everything is known, else None."""

from __future__ import annotations

import pytest

from abstractcore import ModelReply, ServerError, TextPart, Usage, create_llm
from abstractcore.ports import Address, ModelProfile, Price, ProviderSession
from abstractcore.registry import Registry
from abstractcore.schema import deltas_of
from abstractcore.telemetry.costs import cost
from abstractcore_providers.common.endpoints import FixedEndpoint, NoAuth
from abstractcore_providers.formats.openai_chat import OpenAIChat
from tests.chaos_server import HANG, chunk, completion, delta, failure, stream_head, streamed

PLAIN = Price(input=2.0, output=10.0)
FINE = Price(input=2.0, output=10.0, cached=0.5, cache_written=2.5)
USAGE = Usage(input=1_000_000, output=100_000, cached=400_000, cache_written=200_000)


@pytest.mark.parametrize(
    ("usage", "price", "dollars"),
    [
        (Usage(input=1_000_000, output=100_000), PLAIN, 2.0 + 1.0),
        (USAGE, PLAIN, 2.0 + 1.0),
        (USAGE, FINE, 0.4 * 2.0 + 0.4 * 0.5 + 0.2 * 2.5 + 1.0),
        (Usage(input=0, output=0), PLAIN, 0.0),
        (Usage(input=1), PLAIN, None),
        (Usage(output=1), PLAIN, None),
        (Usage(), Price(0.0, 0.0), 0.0),
        (USAGE, None, None),
    ],
)
def test_cached_tokens_have_their_own_price_and_unknown_counts_cost_none(usage, price, dollars):
    assert cost(usage, price) == (None if dollars is None else pytest.approx(dollars))


class Vendor:
    """Chat completions at a price of 2 and 10 dollars a million tokens."""

    name, summary, options = "vendor", "costs", {}

    def __init__(self, url: str) -> None:
        self.url = url

    def connect(self, config, services) -> ProviderSession:
        endpoint = FixedEndpoint(Address(self.url, NoAuth()))
        return ProviderSession("m", OpenAIChat(), endpoint, ModelProfile(price=PLAIN))


PAID = Usage(input=3, output=2)
DOLLARS = pytest.approx((3 * 2.0 + 2 * 10.0) / 1_000_000)
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
        assert (each_record.usage, each_record.cost, each_record.attempts) == (Usage(), 0.0, ())
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
    assert [(record.usage, record.cost) for record in records] == [(PAID, DOLLARS)]
