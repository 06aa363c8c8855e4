"""Operations other than chat: middleware, timeouts, costs, records and recordings."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import (
    CassetteError,
    ConfigurationError,
    InvalidInputError,
    RequestTimeoutError,
    ServerError,
    UnsupportedOptionError,
    create_llm,
    record,
    replay,
)
from abstractcore.ports import Address, ModelProfile, Operation, OperationResult, Price, ProviderSession
from abstractcore.registry import Registry
from abstractcore.schema import Encoded, ModelReply, TextPart, Usage, WireRequest
from abstractcore_providers.common.endpoints import FixedEndpoint, NoAuth
from abstractcore_providers.formats.openai_chat import OpenAIChat
from tests.chaos_server import HANG, answer, completion, failure


def decode_vectors(response) -> list[list[float]]:
    return [item["embedding"] for item in json.loads(response.body)["data"]]


def embed(*, size: int = 2) -> Operation[list[list[float]]]:
    """Embeddings as OpenAI's API has them (https://platform.openai.com/docs/api-reference/embeddings)."""

    def encode(call) -> Encoded:
        texts = [part.text for message in call.messages for part in message.parts]
        body = {"model": call.model, "input": texts, "dimensions": size}
        return Encoded(WireRequest("/embeddings", {"content-type": "application/json"}, json.dumps(body).encode()))

    return Operation(
        "embed", encode, decode_vectors, usage=lambda v: Usage(5, 0), to_record=lambda v: {"count": len(v)}
    )


class Embedding(OpenAIChat):
    """The chat format with embeddings beside it."""

    @property
    def operations(self):
        return {"embed": embed}


class Vendor:
    name, summary, options = "vendor", "embeds", {}

    def __init__(self, url: str) -> None:
        self.url = url

    def connect(self, config, services) -> ProviderSession:
        endpoint = FixedEndpoint(Address(self.url, NoAuth()))
        return ProviderSession("m", Embedding(), endpoint, ModelProfile(), price=Price(2, 8))


VECTORS = answer(b'{"data": [{"embedding": [0.5, 1.0]}]}', content_type="application/json")


@pytest.fixture
def make(server, services):
    services._registry = Registry()
    services._registry.add_provider(Vendor(f"{server.url}/v1"))
    services.random = lambda: 0.0
    return lambda *middleware, **options: create_llm(
        "vendor", services=services, middleware=list(middleware), **options
    )


def operate(call_style, llm, *arguments: Any, **options: Any) -> OperationResult[Any]:
    if call_style.name == "sync":
        return llm.operate(*arguments, **options)
    return call_style.run(llm.aoperate(*arguments, **options))


def test_operation_is_requested_by_name_with_its_arguments(call_style, make, server):
    server.script(VECTORS)
    result = operate(call_style, make(), "embed", "hi", arguments={"size": 3})
    assert (result.value, result.usage) == ([[0.5, 1.0]], Usage(5, 0))
    (request,) = server.requests
    assert (request.target, request.json) == ("/v1/embeddings", {"model": "m", "input": ["hi"], "dimensions": 3})


def test_operation_passes_both_middleware_rings(call_style, make, server):
    server.script(VECTORS)
    seen = []

    class Watching:
        async def around_call(self, context, next):
            seen.append(("call", context.operation.name, context.operation.is_chat))
            context.call = context.call.with_(model="other")
            return await next(context)

        async def around_attempt(self, attempt, next):
            seen.append(("attempt", attempt.operation.name, attempt.number))
            return await next(attempt)

    operate(call_style, make(Watching()), "embed", "hi")
    assert seen == [("call", "embed", False), ("attempt", "embed", 1)]
    assert server.requests[0].json["model"] == "other"


def test_middleware_may_answer_an_operation_without_a_request(call_style, make, server):
    class Cached:
        async def around_call(self, context, next):
            return OperationResult([[1.0]], Usage(5, 0)) if context.operation.name == "embed" else await next(context)

    assert operate(call_style, make(Cached()), "embed", "hi").value == [[1.0]]
    assert server.requests == []


@pytest.mark.parametrize("ring", ["around_call", "around_attempt"])
def test_reply_and_operation_result_are_not_interchangeable(call_style, make, ring):
    class Answering:
        def __init__(self, answer) -> None:
            async def give(given, next):
                return answer

            setattr(self, ring, give)

    with pytest.raises(ConfigurationError, match=r"operation .embed. with a ModelReply"):
        operate(call_style, make(Answering(ModelReply((TextPart("x"),), "stop"))), "embed", "hi")
    llm = make(Answering(OperationResult(1)))
    with pytest.raises(ConfigurationError, match=r"operation .chat. with a OperationResult"):
        call_style.generate(llm, "hi")
    with pytest.raises(ConfigurationError, match=r"operation .chat. with a OperationResult"):
        list(call_style.stream(llm, "hi"))


def test_failed_attempt_is_retried(call_style, make, server):
    server.script(failure(429, retry_after="0"))
    server.script(VECTORS)
    assert operate(call_style, make(), "embed", "hi").value == [[0.5, 1.0]]
    assert len(server.requests) == 2


def test_operation_obeys_the_deadline(call_style, make, server):
    server.script(HANG)
    with pytest.raises(RequestTimeoutError):
        operate(call_style, make(max_retries=0), "embed", "hi", timeout=0.2)


def test_operation_is_recorded_with_usage_and_cost(call_style, make, server, services):
    server.script(VECTORS)
    off, full = [], []
    with services.records.subscribe(off.append), services.records.subscribe(full.append, "full"):
        operate(call_style, make(), "embed", "a secret text")
    assert [(each.operation, each.outcome, each.usage, each.cost) for each in off] == [
        ("embed", "done", Usage(5, 0), Decimal("0.00001"))
    ]
    assert [attempt.status for attempt in off[0].attempts] == [200]
    assert (off[0].result, off[0].call) == (None, None)
    assert full[0].result == {"count": 1}
    assert full[0].call.messages[0].text == "a secret text"


def test_free_operation_costs_nothing_whatever_it_reports(call_style, make, server, services, monkeypatch):
    server.script(VECTORS)
    monkeypatch.setattr(Embedding, "operations", {"embed": lambda: replace(embed(), is_free=True)})
    records = []
    with services.records.subscribe(records.append):
        operate(call_style, make(), "embed", "hi")
    assert [(each.usage, each.cost, each.cost_source) for each in records] == [(Usage(5, 0), 0, "computed")]


def test_failed_operation_is_recorded_with_its_error(call_style, make, server, services):
    server.always(failure(500, "broken"))
    records = []
    with services.records.subscribe(records.append), pytest.raises(ServerError):
        operate(call_style, make(max_retries=0), "embed", "hi")
    assert [(each.operation, each.outcome, each.error.type) for each in records] == [("embed", "failed", "ServerError")]


def test_operation_is_recorded_and_replayed(call_style, make, server, tmp_path, services):
    server.script(VECTORS)
    path = tmp_path / "tape.jsonl"
    first = operate(call_style, make(record(path)), "embed", "hi")
    assert operate(call_style, make(replay(path)), "embed", "hi") == first
    assert len(server.requests) == 1


def test_chat_is_an_operation(call_style, make, server, services):
    server.script(completion("fine"))
    records, seen = [], []

    class Watching:
        async def around_call(self, context, next):
            seen.append((context.operation.name, context.operation.is_chat))
            return await next(context)

    with services.records.subscribe(records.append):
        assert call_style.generate(make(Watching()), "hi").content == "fine"
    assert seen == [("chat", True)]
    assert [each.operation for each in records] == ["chat"]


def test_unknown_operations_and_arguments_are_refused_before_sending(call_style, make, server):
    with pytest.raises(UnsupportedOptionError, match=r"no operation .embedd.") as caught:
        operate(call_style, make(), "embedd", "hi")
    assert "embed" in caught.value.hint
    with pytest.raises(UnsupportedOptionError, match=r"no operation .rerank.") as caught:
        operate(call_style, make(), "rerank", "hi")
    assert caught.value.hint == "Its operations: embed."
    with pytest.raises(InvalidInputError, match=r"arguments: the operation .embed.: got an unexpected keyword"):
        operate(call_style, make(), "embed", "hi", arguments={"dimensions": 3})
    assert server.requests == []


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (5, {}, r"operation: expected an operation's name, got int"),
        ([], {}, r"operation: expected an operation's name, got list"),
        (None, {}, r"operation: expected an operation's name, got NoneType"),
        ("chat", {}, r"operation: chat is not available here.*llm\.generate"),
        ("embed", [3], r"arguments: expected a mapping, got list"),
        ("embed", 3, r"arguments: expected a mapping, got int"),
        ("embed", None, r"arguments: expected a mapping, got NoneType"),
    ],
)
def test_invalid_operation_argument_types_are_invalid_input(call_style, make, server, name, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        operate(call_style, make(), name, "hi", arguments=arguments)
    assert server.requests == []


def test_recording_an_answer_without_response_hints_at_middleware_order(call_style, make, tmp_path):
    class Cached:
        async def around_attempt(self, attempt, next):
            return OperationResult([[1.0]], Usage(5, 0))

    path = tmp_path / "tape.jsonl"
    with pytest.raises(CassetteError, match=r"Put record\(path\) last in the list of middleware"):
        operate(call_style, make(record(path), Cached()), "embed", "hi")
    assert operate(call_style, make(Cached(), record(path)), "embed", "hi").value == [[1.0]]
