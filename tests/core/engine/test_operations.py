"""Operations other than chat: middleware, timeouts, costs, records and recordings."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
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
from abstractcore.schema import (
    NO_OPTIONS,
    Blob,
    CallWarning,
    Encoded,
    ImagePart,
    MediaPart,
    Message,
    ModelCall,
    ModelReply,
    OperationInput,
    ProviderOptions,
    TextPart,
    Usage,
    WireRequest,
    digest,
    from_data,
    to_data,
)
from abstractcore_providers.common.endpoints import FixedEndpoint, NoAuth
from abstractcore_providers.formats.openai_chat import OpenAIChat
from tests.chaos_server import HANG, answer, completion, failure

HEADERS = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class EmbeddingInput(OperationInput):
    """What is embedded, as OpenAI's API has it (https://platform.openai.com/docs/api-reference/embeddings)."""

    texts: tuple[str | ImagePart, ...]
    size: int = 2
    task: str | None = None
    provider_options: ProviderOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        OperationInput.__post_init__(self)
        object.__setattr__(self, "texts", tuple(self.texts))

    @property
    def files(self) -> tuple[MediaPart, ...]:
        return tuple(each for each in self.texts if isinstance(each, ImagePart))


@dataclass(frozen=True, slots=True)
class RerankInput(OperationInput):
    """A query with documents, as Cohere's API has it (https://docs.cohere.com/reference/rerank)."""

    query: str
    documents: tuple[str, ...]


ENCODED_IN: list[str] = []
"""The threads in which inputs were encoded."""


def encode_texts(given: EmbeddingInput) -> Encoded:
    ENCODED_IN.append(threading.current_thread().name)
    texts = [each if isinstance(each, str) else f"{len(each.blob.read())} bytes" for each in given.texts]
    body = {"model": given.model, "input": texts, "dimensions": given.size, **given.provider_options.get("vendor", {})}
    warnings = [] if given.task is None else [CallWarning("unsupported_option", "arguments.task", "no tasks here")]
    return Encoded(WireRequest("/embeddings", HEADERS, json.dumps(body).encode()), tuple(warnings))


def decode_vectors(response, given: EmbeddingInput) -> list[list[float]]:
    vectors = [item["embedding"] for item in json.loads(response.body)["data"]]
    if len(vectors) != len(given.texts):
        raise ServerError(f"{len(vectors)} vectors for {len(given.texts)} texts")
    return vectors


EMBED = Operation(
    "embed", EmbeddingInput, encode_texts, decode_vectors, lambda v: Usage(5, 0), to_record=lambda v: {"count": len(v)}
)


def encode_documents(given: RerankInput) -> Encoded:
    body = {"model": given.model, "query": given.query, "documents": given.documents}
    return Encoded(WireRequest("/rerank", HEADERS, json.dumps(body).encode()))


def decode_ranking(response, given: RerankInput) -> list[tuple[float, str]]:
    """The documents in their order, which the response names by their indexes."""
    results = json.loads(response.body)["results"]
    return [(each["relevance_score"], given.documents[each["index"]]) for each in results]


RERANK = Operation("rerank", RerankInput, encode_documents, decode_ranking)


class Embedding(OpenAIChat):
    """The chat format with embeddings and rankings beside it."""

    @property
    def operations(self):
        return {"embed": EMBED, "rerank": RERANK}


class Vendor:
    name, summary, options = "vendor", "embeds", {}

    def __init__(self, url: str) -> None:
        self.url = url

    def connect(self, config, services) -> ProviderSession:
        endpoint = FixedEndpoint(Address(self.url, NoAuth()))
        return ProviderSession("m", Embedding(), endpoint, ModelProfile(), price=Price(2, 8))


HI = {"texts": ["hi"]}
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
    result = operate(call_style, make(), "embed", arguments={"texts": ["hi"], "size": 3})
    assert (result.value, result.usage) == ([[0.5, 1.0]], Usage(5, 0))
    (request,) = server.requests
    assert (request.target, request.json) == ("/v1/embeddings", {"model": "m", "input": ["hi"], "dimensions": 3})


def test_operation_passes_both_middleware_rings(call_style, make, server):
    server.script(VECTORS)
    seen = []

    class Watching:
        async def around_call(self, context, next):
            seen.append(("call", context.operation.name, context.operation.is_chat))
            context.input = context.input.with_(model="other", texts=("changed",))
            return await next(context)

        async def around_attempt(self, attempt, next):
            seen.append(("attempt", attempt.operation.name, attempt.number, attempt.encoded.texts))
            return await next(attempt)

    operate(call_style, make(Watching()), "embed", arguments=HI)
    assert seen == [("call", "embed", False), ("attempt", "embed", 1, ("changed",))]
    assert server.requests[0].json == {"model": "other", "input": ["changed"], "dimensions": 2}


def test_middleware_may_answer_an_operation_without_a_request(call_style, make, server):
    class Cached:
        async def around_call(self, context, next):
            return OperationResult([[1.0]], Usage(5, 0)) if context.operation.name == "embed" else await next(context)

    assert operate(call_style, make(Cached()), "embed", arguments=HI).value == [[1.0]]
    assert server.requests == []


@pytest.mark.parametrize("ring", ["around_call", "around_attempt"])
def test_reply_and_operation_result_are_not_interchangeable(call_style, make, ring):
    class Answering:
        def __init__(self, answer) -> None:
            async def give(given, next):
                return answer

            setattr(self, ring, give)

    with pytest.raises(ConfigurationError, match=r"operation .embed. with a ModelReply"):
        operate(call_style, make(Answering(ModelReply((TextPart("x"),), "stop"))), "embed", arguments=HI)
    llm = make(Answering(OperationResult(1)))
    with pytest.raises(ConfigurationError, match=r"operation .chat. with a OperationResult"):
        call_style.generate(llm, "hi")
    with pytest.raises(ConfigurationError, match=r"operation .chat. with a OperationResult"):
        list(call_style.stream(llm, "hi"))


def test_failed_attempt_is_retried(call_style, make, server):
    server.script(failure(429, retry_after="0"))
    server.script(VECTORS)
    assert operate(call_style, make(), "embed", arguments=HI).value == [[0.5, 1.0]]
    assert len(server.requests) == 2


def test_operation_obeys_the_deadline(call_style, make, server):
    server.script(HANG)
    with pytest.raises(RequestTimeoutError):
        operate(call_style, make(max_retries=0), "embed", arguments=HI, timeout=0.2)


def test_operation_is_recorded_with_usage_and_cost(call_style, make, server, services):
    server.script(VECTORS)
    off, redacted, full = [], [], []
    subscribe = services.records.subscribe
    with subscribe(off.append), subscribe(redacted.append, "redacted"), subscribe(full.append, "full"):
        operate(call_style, make(), "embed", arguments={"texts": ["a secret text"]})
    assert [(each.operation, each.outcome, each.usage, each.cost) for each in off] == [
        ("embed", "done", Usage(5, 0), Decimal("0.00001"))
    ]
    assert [attempt.status for attempt in off[0].attempts] == [200]
    assert (off[0].result, off[0].call, off[0].input) == (None, None, None)
    assert (full[0].result, full[0].call, full[0].input) == ({"count": 1}, None, {"texts": ["a secret text"]})
    assert redacted[0].input == {"texts": ["[13 characters]"]}
    given = EmbeddingInput(("a secret text",), model="m", provider="vendor")
    assert {each.call_digest for each in (*off, *full, *redacted)} == {digest(given)}


def test_free_operation_costs_nothing_whatever_it_reports(call_style, make, server, services, monkeypatch):
    server.script(VECTORS)
    monkeypatch.setattr(Embedding, "operations", {"embed": replace(EMBED, is_free=True)})
    records = []
    with services.records.subscribe(records.append):
        operate(call_style, make(), "embed", arguments=HI)
    assert [(each.usage, each.cost, each.cost_source) for each in records] == [(Usage(5, 0), 0, "computed")]


def test_failed_operation_is_recorded_with_its_error(call_style, make, server, services):
    server.always(failure(500, "broken"))
    records = []
    with services.records.subscribe(records.append), pytest.raises(ServerError):
        operate(call_style, make(max_retries=0), "embed", arguments=HI)
    assert [(each.operation, each.outcome, each.error.type) for each in records] == [("embed", "failed", "ServerError")]


def test_operation_is_recorded_and_replayed(call_style, make, server, tmp_path, services):
    server.script(VECTORS)
    path = tmp_path / "tape.jsonl"
    first = operate(call_style, make(record(path)), "embed", arguments=HI)
    assert operate(call_style, make(replay(path)), "embed", arguments=HI) == first
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
    with pytest.raises(UnsupportedOptionError, match=r"no operation .speak.") as caught:
        operate(call_style, make(), "speak", "hi")
    assert caught.value.hint == "Its operations: embed, rerank."
    with pytest.raises(InvalidInputError, match=r"arguments: the operation .embed.: got an unexpected keyword"):
        operate(call_style, make(), "embed", arguments={**HI, "dimensions": 3})
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
        operate(call_style, make(), name, arguments=arguments)
    assert server.requests == []


def test_recording_an_answer_without_response_hints_at_middleware_order(call_style, make, tmp_path):
    class Cached:
        async def around_attempt(self, attempt, next):
            return OperationResult([[1.0]], Usage(5, 0))

    path = tmp_path / "tape.jsonl"
    with pytest.raises(CassetteError, match=r"Put record\(path\) last in the list of middleware"):
        operate(call_style, make(record(path), Cached()), "embed", arguments=HI)
    assert operate(call_style, make(Cached(), record(path)), "embed", arguments=HI).value == [[1.0]]


# Inputs that are no calls.


TEXTS = [f"text {number}" for number in range(2048)]


def vectors_of(count: int) -> bytes:
    data = [{"embedding": [float(number)]} for number in range(count)]
    return answer(json.dumps({"data": data}).encode(), content_type="application/json")


def test_texts_are_embedded_in_one_request_and_replayed(call_style, make, server, services, tmp_path):
    server.script(vectors_of(len(TEXTS)))
    path, seen = tmp_path / "tape.jsonl", []

    class Watching:
        async def around_call(self, context, next):
            seen.append(context.input)
            return await next(context)

        async def around_attempt(self, attempt, next):
            seen.append(attempt.encoded)
            return await next(attempt)

    first = operate(call_style, make(Watching(), record(path)), "embed", arguments={"texts": TEXTS})
    assert [vector for (vector,) in first.value] == [float(number) for number in range(2048)]
    (request,) = server.requests
    assert request.json["input"] == TEXTS
    assert seen[0] is seen[1]
    assert seen[0].texts == tuple(TEXTS)
    assert operate(call_style, make(replay(path)), "embed", arguments={"texts": TEXTS}) == first
    assert len(server.requests) == 1


def test_documents_are_ranked_and_replayed(call_style, make, server, tmp_path):
    ranking = {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]}
    server.script(answer(json.dumps(ranking).encode(), content_type="application/json"))
    path, arguments = tmp_path / "tape.jsonl", {"query": "capital?", "documents": ["Berne", "Vienna"]}
    first = operate(call_style, make(record(path)), "rerank", arguments=arguments)
    assert first.value == [(0.9, "Vienna"), (0.1, "Berne")]
    (request,) = server.requests
    assert request.json == {"model": "m", **arguments}
    assert operate(call_style, make(replay(path)), "rerank", arguments=arguments) == first


def test_input_is_given_as_data(call_style, make, server):
    llm, given = make(), EmbeddingInput(("hi",), model="m", provider="vendor")
    assert from_data(EmbeddingInput, to_data(given)) == given
    for operation in ("embed", EMBED):
        server.script(VECTORS)
        if call_style.name == "sync":
            result = llm.operate_call(operation, given)
        else:
            result = call_style.run(llm.aoperate_call(operation, given))
        assert result.value == [[0.5, 1.0]]
    with pytest.raises(InvalidInputError, match=r"call\.model: the input is for vendor/other, this LLM is vendor/m"):
        llm.operate_call("embed", given.with_(model="other"))
    with pytest.raises(InvalidInputError, match="the operation 'embed' expects a EmbeddingInput, got ModelCall"):
        llm.operate_call("embed", llm.build("hi"))


def test_options_of_an_input_are_those_of_the_llm_and_of_the_request(call_style, make, server, services):
    server.script(VECTORS)
    llm, records = make(provider_options={"vendor": {"user": "u"}}, tags={"a": "b"}, temperature=0.5), []
    with services.records.subscribe(records.append, "full"):
        operate(call_style, llm, "embed", arguments=HI, options={"tags": {"c": "d"}}, headers={"x-own": "1"})
    (request,) = server.requests
    assert (request.json["user"], request.headers["x-own"]) == ("u", "1")
    assert [(each.tags, each.input["texts"]) for each in records] == [({"a": "b", "c": "d"}, ["hi"])]


@pytest.mark.parametrize("given", [{"prompt": "hi"}, {"temperature": 0.5}, {"options": {"seed": 1}}], ids=str)
def test_what_an_input_has_no_field_for_is_refused(call_style, make, server, given):
    (path,) = given.get("options") or given
    with pytest.raises(InvalidInputError, match="the operation 'embed' does not take it") as caught:
        operate(call_style, make(), "embed", arguments=HI, **given)
    assert (caught.value.path, server.requests) == (path, [])


def test_invalid_value_of_an_argument_has_its_path(call_style, make, server):
    with pytest.raises(InvalidInputError, match=r"^tags\.a: expected text") as caught:
        operate(call_style, make(), "embed", arguments=HI, tags={"a": 1})
    assert (caught.value.path, server.requests) == ("tags.a", [])


def test_loss_is_a_warning_or_an_error_of_a_strict_input(call_style, make, server):
    server.script(VECTORS)
    arguments = {**HI, "task": "search"}
    assert [each.path for each in operate(call_style, make(), "embed", arguments=arguments).warnings] == [
        "arguments.task"
    ]
    with pytest.raises(UnsupportedOptionError, match="no tasks here"):
        operate(call_style, make(), "embed", arguments=arguments, strict=True)
    assert len(server.requests) == 1


def test_files_of_an_input_are_read_beside_the_event_loop(call_style, make, server, tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"12345")
    part = ImagePart(Blob.from_file(path, "image/png"))
    ENCODED_IN.clear()
    server.script(VECTORS)
    operate(call_style, make(), "embed", arguments={"texts": [part]})
    assert server.requests[0].json["input"] == ["5 bytes"]
    server.script(VECTORS)
    operate(call_style, make(), "embed", arguments=HI)
    files, texts = ENCODED_IN
    assert texts == threading.current_thread().name
    assert call_style.name == "sync" or files != texts


def test_context_without_a_call_says_so(call_style, make, server):
    class Reading:
        async def around_call(self, context, next):
            assert not context.operation.takes_call
            return context.call

    class Setting:
        async def around_call(self, context, next):
            context.call = ModelCall("m", (Message.user("hi"),))
            return await next(context)

    class Replacing:
        async def around_call(self, context, next):
            context.input = ModelCall("m", (Message.user("hi"),))
            return await next(context)

    for middleware in (Reading(), Setting()):
        with pytest.raises(ConfigurationError, match="the operation 'embed' has no call: its input is a Embedding"):
            operate(call_style, make(middleware), "embed", arguments=HI)
    with pytest.raises(ConfigurationError, match="the input of the operation 'embed' to a ModelCall: expected a Embed"):
        operate(call_style, make(Replacing()), "embed", arguments=HI)
    assert server.requests == []


def test_response_is_checked_against_its_input(call_style, make, server):
    server.script(VECTORS)
    with pytest.raises(ServerError, match="1 vectors for 2 texts"):
        operate(call_style, make(max_retries=0), "embed", arguments={"texts": ["a", "b"]})
