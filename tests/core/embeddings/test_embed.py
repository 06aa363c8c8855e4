"""Texts as vectors: in order, within limits, in several requests, whatever the server does."""

from __future__ import annotations

import asyncio
import random
import threading
import tracemalloc
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from abstractcore import (
    AuthenticationError,
    BadRequestError,
    Budget,
    BudgetExceededError,
    CallInterruptedError,
    ConfigurationError,
    ContextOverflowError,
    ImagePart,
    Interruption,
    InvalidInputError,
    Price,
    RequestTimeoutError,
    ServerError,
    Services,
    UnknownOptionError,
    UnsupportedContentError,
    UnsupportedOptionError,
    Usage,
    create_llm,
    subscribe,
)
from abstractcore.ports import OperationResult
from abstractcore.schema import Blob, EmbedReply, PartialVectors, Vectors
from abstractcore.telemetry.call_records import EndedCall
from abstractcore.testing import VirtualClock
from tests.chaos_server import HANG, PATIENCE_SECONDS, ScriptedServer, answer
from tests.embedding_server import (
    DIMENSIONS,
    body_of,
    call,
    embedder,
    embeddings,
    error,
    rows_of,
    texts_in,
    vector_of,
)

PIXEL = Blob.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png")


@pytest.fixture
def services():
    """Pauses take no time here."""
    made = Services(environment={}, clock=VirtualClock())
    yield made
    made.close()


@pytest.fixture
def server():
    with ScriptedServer() as made:
        made.always_by(embeddings)
        yield made


def expected(texts, dimensions=DIMENSIONS):
    rows = np.array([vector_of(text, dimensions) for text in texts], dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_vectors_are_in_the_order_of_the_texts(call_style, server):
    texts = [f"text {n}" for n in range(100)]
    found = call(call_style, embedder(server, {"items": 7}), "embed", texts)
    assert np.allclose(found.vectors, expected(texts), atol=1e-6)
    assert (len(found), found.dimensions, found.model, found.normalized) == (100, DIMENSIONS, "embedder-1", True)
    assert sorted(map(len, texts_in(server))) == [2, *[7] * 14]
    assert found.usage.input == 100
    assert len(found.attempts) == 15
    assert found.vectors.dtype == np.float32
    assert np.array_equal(found[3], found.vectors[3])
    assert len(list(found)) == 100


def test_one_text_has_one_vector(call_style, server):
    assert np.allclose(call(call_style, embedder(server), "embed_one", "a cat"), expected(["a cat"])[0], atol=1e-6)
    assert server.requests[0].json == {"model": "embedder", "input": ["a cat"], "encoding_format": "base64"}


def test_ten_thousand_texts_have_exactly_one_right_vector_each(call_style, server, services):
    """5 % of the requests fail, some more are refused for their rate, and no response is in the order of the texts."""
    texts = [f"text {n}" for n in range(10_000)]
    chance = random.Random(5)
    attempts: dict[str, int] = {}

    def unreliable(request):
        body = request.json
        first = body["input"][0]
        attempts[first] = attempts.get(first, 0) + 1
        luck = chance.random()
        if attempts[first] < 3 and luck < 0.05:
            return [error(500, "the server failed")]
        if attempts[first] < 3 and luck < 0.1:
            return [error(429, "too many requests", retry_after="1")]
        rows = rows_of(body["input"])
        chance.shuffle(rows)
        return [answer(body_of(rows, len(rows)))]

    server.always_by(unreliable)
    llm = embedder(server, {"items": 50}, services=services, timeout=None)
    found = call(call_style, llm, "embed", texts)
    assert np.allclose(found.vectors, expected(texts), atol=1e-6)
    assert len(attempts) == 200
    assert max(attempts.values()) <= 3
    assert len(server.requests) == sum(attempts.values()) == len(found.attempts)
    assert len(server.requests) > 200
    assert found.usage.input == 10_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], "3 vectors were requested, and the response has 2"),
        (lambda rows: [*rows, rows[0]], "3 vectors were requested, and the response has 4"),
        (lambda rows: [rows[0], rows[1], rows[1]], "two vectors have the index 1"),
        (lambda rows: [rows[0], rows[1], {**rows[2], "index": 7}], "a vector has the index 7, of 3"),
        (lambda rows: [*rows[:2], {**rows[2], "index": None}], "a vector has the index None, of 3"),
        (lambda rows: [*rows[:2], {**rows[2], "embedding": "AAAA"}], "the vectors are invalid"),
        (lambda rows: [*rows[:2], {**rows[2], "embedding": "!"}], "not base64"),
        (lambda rows: [*rows[:2], {**rows[2], "embedding": None}], "the vectors are invalid"),
        (lambda rows: [{**row, "embedding": "AADAfwAAgD8="} for row in rows], "expected a finite number"),
        (lambda rows: [{**row, "embedding": [float("inf"), 1.0]} for row in rows], "the vectors are invalid"),
        (lambda rows: [{**row, "embedding": [1.0, "a"]} for row in rows], "the vectors are invalid"),
        (lambda rows: [{**row, "embedding": []} for row in rows], "the vectors are invalid"),
        (lambda rows: [{**row, "embedding": [0.0, 0.0]} for row in rows], "a vector has only zeros"),
    ],
)
def test_wrong_answer_is_an_error_and_never_a_short_list(call_style, server, change, message):
    server.always_by(lambda request: [answer(body_of(change(rows_of(request.json["input"])), 3))])
    with pytest.raises(ServerError, match=message):
        call(call_style, embedder(server, max_retries=0), "embed", ["a", "b", "c"])


def test_wrong_answer_is_asked_for_again(call_style, server, services):
    server.script(answer(body_of(rows_of(["a"]), 1)))
    found = call(call_style, embedder(server, services=services), "embed", ["a", "b"])
    assert np.allclose(found.vectors, expected(["a", "b"]), atol=1e-6)
    assert len(server.requests) == 2


def test_other_dimensions_than_requested_are_an_error(call_style, server):
    server.always_by(lambda request: [answer(body_of(rows_of(request.json["input"]), 1))])
    with pytest.raises(ServerError, match="vectors with 4 dimensions were requested, and these have 8"):
        call(call_style, embedder(server, max_retries=0), "embed", ["a"], dimensions=4)


def test_numbers_in_place_of_base64_are_read(call_style, server):
    server.always_by(lambda request: [answer(body_of(rows_of(request.json["input"], base64_of=False), 1))])
    assert np.allclose(call(call_style, embedder(server), "embed", ["a"]).vectors, expected(["a"]), atol=1e-6)


def test_failure_has_the_vectors_that_arrived(call_style, server):
    def fails_for_one(request):
        texts = request.json["input"]
        return [error(401, "no")] if "text 30" in texts else embeddings(request)

    server.always_by(fails_for_one)
    texts = [f"text {n}" for n in range(31)]
    with pytest.raises(AuthenticationError) as caught:
        call(call_style, embedder(server, {"items": 10}), "embed", texts)
    partial = caught.value.partial
    assert isinstance(partial, PartialVectors)
    assert set(partial.positions) <= set(range(30))
    assert len(partial.positions) == len(partial.vectors) > 0
    arrived = [texts[position] for position in partial.positions]
    assert np.allclose(partial.vectors.lists(), expected(arrived), atol=1e-6)


def test_refused_text_is_named_by_its_position_and_the_others_arrive(call_style, server):
    def refuses_one(request):
        texts = request.json["input"]
        return [error(400, "this input is invalid")] if "text 13" in texts else embeddings(request)

    server.always_by(refuses_one)
    texts = [f"text {n}" for n in range(20)]
    with pytest.raises(BadRequestError, match=r"inputs\[13\]: this input is invalid") as caught:
        call(call_style, embedder(server, {"items": 20}), "embed", texts)
    assert caught.value.partial.positions == tuple(n for n in range(20) if n != 13)
    assert len(server.requests) <= 11


def test_refusal_of_every_text_names_all(call_style, server):
    server.always(error(400, "this model does not embed"))
    with pytest.raises(BadRequestError, match=r"inputs\[0\] to inputs\[3\]: this model does not embed") as caught:
        call(call_style, embedder(server), "embed", ["a", "b", "c", "d"])
    assert caught.value.partial is None
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (["a", ""], r"inputs\[1\]: is empty"),
        (["a", " \n\t"], r"inputs\[1\]: has only white space"),
        (["a", "\ud800"], r"inputs\[1\]: lone surrogate"),
        (["a", None], r"inputs\[1\]: expected a text or a file, got NoneType"),
        (["a", 3], r"inputs\[1\]: expected a text or a file, got int"),
        (["a", {"b": 1}], r"inputs\[1\]: expected a text or a file, got dict"),
        (["a", [1, 2]], r"inputs\[1\]: expected a text, a file or parts"),
        (["a", []], r"inputs\[1\]: expected a text, a file or parts"),
        (["a", ["b", ""]], r"inputs\[1\]\[1\]: is empty"),
        (["a", ["b", ["c"]]], r"inputs\[1\]\[1\]: expected a text or a file, got \['c'\]"),
        ("a", r"inputs: expected a list of texts or files, got 'a'"),
        (b"a", r"inputs: expected a list"),
        ({"a": 1}, r"inputs: expected a list"),
        (7, r"inputs: expected a list"),
        ([], r"inputs: expected at least one"),
    ],
)
def test_bad_input_is_named_by_its_position_and_nothing_is_sent(call_style, server, inputs, message):
    with pytest.raises(InvalidInputError, match=message):
        call(call_style, embedder(server), "embed", inputs)
    assert server.requests == []


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"dimensions": 0}, InvalidInputError, "dimensions: expected a number of at least 1"),
        ({"dimensions": True}, InvalidInputError, "dimensions: expected"),
        ({"dimensions": 5}, UnsupportedOptionError, "has no vectors of 5 numbers.* 4, 8"),
        ({"purpose": "search"}, InvalidInputError, "purpose: unknown purpose 'search'"),
        ({"normalize": "yes"}, InvalidInputError, "normalize: expected True or False"),
        ({"truncate": 1}, InvalidInputError, "truncate: expected True or False"),
        ({"timeout": -1}, InvalidInputError, "timeout"),
        ({"temprature": 1}, UnknownOptionError, "temprature"),
        ({"temperature": 1}, InvalidInputError, "temperature: the operation 'embed' does not take it"),
    ],
)
def test_bad_options_are_named(call_style, server, options, kind, message):
    llm = embedder(server, {"dimensions": 8, "dimension_choices": [4, 8]})
    with pytest.raises(kind, match=message):
        call(call_style, llm, "embed", ["a"], **options)
    assert server.requests == []


def test_dimensions_are_sent_and_the_vectors_normalized(call_style, server):
    llm = embedder(server, {"dimensions": 8, "dimension_range": [2, 8], "normalized": True})
    found = call(call_style, llm, "embed", ["a"], dimensions=4)
    assert np.allclose(found.vectors, expected(["a"], 4), atol=1e-6)
    assert server.requests[0].json["dimensions"] == 4
    assert "dimensions" not in call_and_body(call_style, llm, server, dimensions=8)


def call_and_body(call_style, llm, server, **options):
    call(call_style, llm, "embed", ["a"], **options)
    return server.requests[-1].json


def test_vectors_are_left_as_the_model_has_them(call_style, server):
    raw = np.array([vector_of("a")], dtype=np.float32)
    found = call(call_style, embedder(server), "embed", ["a"], normalize=False)
    assert np.array_equal(found.vectors, raw)
    assert found.normalized is None
    trusted = call(call_style, embedder(server, {"dimensions": 8, "normalized": True}), "embed", ["a"])
    assert np.array_equal(trusted.vectors, raw)
    assert trusted.normalized is True


def test_purpose_becomes_the_prefix_that_the_model_needs(call_style, server):
    llm = embedder(server, {"prefixes": {"query": "query: ", "document": "passage: "}})
    assert call_and_body(call_style, llm, server, purpose="query")["input"] == ["query: a"]
    assert call_and_body(call_style, llm, server, purpose="document")["input"] == ["passage: a"]
    assert call_and_body(call_style, llm, server)["input"] == ["a"]
    found = call(call_style, llm, "embed", ["a"], purpose="code")
    assert [(each.code, each.sent) for each in found.warnings] == [("purpose_changed", "query")]
    with pytest.raises(UnsupportedOptionError, match="does not know this purpose"):
        call(call_style, llm, "embed", ["a"], purpose="clustering", strict=True)


def test_model_without_purposes_ignores_one(call_style, server):
    found = call(call_style, embedder(server, {"items": 10}), "embed", ["a"], purpose="query", strict=True)
    assert found.warnings == ()


def test_model_that_requires_a_purpose_says_so(call_style, server):
    llm = embedder(server, {"purposes": ["query", "document"], "requires_purpose": True})
    with pytest.raises(InvalidInputError, match=r"purpose: .* has to know what the vectors are for.*document, query"):
        call(call_style, llm, "embed", ["a"])
    with pytest.raises(UnsupportedOptionError, match="does not know the purpose 'clustering'"):
        call(call_style, llm, "embed", ["a"], purpose="clustering")


def test_megabyte_of_text_is_an_error_that_says_how_many_tokens(call_style, server):
    llm = embedder(server, {"item_tokens": 512})
    with pytest.raises(
        ContextOverflowError, match=r"inputs\[1\]: the text has about 234,000 tokens, .* takes 512"
    ) as caught:
        call(call_style, llm, "embed", ["a", "word " * 200_000])
    assert caught.value.context_tokens == 512
    assert server.requests == []


def test_long_text_is_cut_and_named(call_style, server):
    found = call(call_style, embedder(server, {"item_tokens": 512}), "embed", ["a", "word " * 9000], truncate=True)
    assert found.truncated == (1,)
    short, long = server.requests[0].json["input"]
    assert (short, long) == ("a", long)
    assert 1900 < len(long) < 2200
    assert long != "word " * 9000
    assert ("word " * 9000).startswith(long)


def test_text_that_is_longer_than_its_estimate_is_cut_further(call_style, server):
    def refuses_long(request):
        texts = request.json["input"]
        message = "This model's maximum context length is 100 tokens, however you requested 150 tokens"
        return [error(400, message)] if any(len(text) > 100 for text in texts) else embeddings(request)

    server.always_by(refuses_long)
    found = call(call_style, embedder(server, {"item_tokens": 100}), "embed", ["a", "b" * 380], truncate=True)
    assert found.truncated == (1,)
    assert server.requests[-1].json["input"] == ["b" * 100]
    with pytest.raises(ContextOverflowError, match=r"inputs\[1\]"):
        call(call_style, embedder(server, {"item_tokens": 100}), "embed", ["a", "b" * 380])


def test_requests_keep_the_limits_of_tokens_and_bytes(call_style, server):
    texts = ["word " * 100 for _ in range(20)]
    call(call_style, embedder(server, {"request_tokens": 600}), "embed", texts)
    assert {len(each) for each in texts_in(server)} == {2, 3} or {len(each) for each in texts_in(server)} == {3}
    server.requests.clear()
    call(call_style, embedder(server, {"request_bytes": 2000}), "embed", texts)
    assert all(len(request.body) < 2000 for request in server.requests)
    assert max(len(each) for each in texts_in(server)) == 3


def test_image_for_a_text_model_is_refused_by_its_position(call_style, server, tmp_path):
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + b"0" * 40)
    for image in (ImagePart(PIXEL), Path(picture), [ImagePart(PIXEL), "a"]):
        for rules in ({"items": 10}, None):
            with pytest.raises(UnsupportedContentError, match=r"inputs\[1\]"):
                call(call_style, embedder(server, rules), "embed", ["a", image])
    assert server.requests == []


def test_requests_have_records_below_one_of_the_whole(call_style, server):
    records = []
    with subscribe(records.append, records="all") as subscription:
        llm = embedder(server, {"items": 2}, tags={"job": "nightly"}, price=Price(input=2, output=0))
        found = call(call_style, llm, "embed", ["a", "b", "c"])
        subscription.flush()
    calls = [each for each in records if hasattr(each, "operation")]
    (whole,) = [each for each in records if not hasattr(each, "operation")]
    assert {each.operation for each in calls} == {"embed"}
    assert {each.parent_id for each in calls} == {whole.trace_id} == {found.trace_id}
    assert (whole.kind, whole.calls, whole.outcome, dict(whole.tags)) == ("batches", 2, "done", {"job": "nightly"})
    assert sum(each.cost for each in calls) == found.cost == Decimal("0.000006")
    assert [each.usage.input for each in calls] != []
    assert found.costs.known == found.cost


def test_single_request_has_one_record(call_style, server):
    records = []
    with subscribe(records.append, capture="full", records="all") as subscription:
        found = call(call_style, embedder(server), "embed", ["a"])
        subscription.flush()
    (record,) = records
    assert record.trace_id == found.trace_id
    assert record.result == {"count": 1, "dimensions": DIMENSIONS}


def test_failed_request_is_recorded_also_when_its_error_has_got_the_vectors_of_others(
    call_style, server, monkeypatch, caplog
):
    returned, make, records = threading.Event(), EndedCall.__init__, []

    def late(*args) -> None:
        assert returned.wait(PATIENCE_SECONDS)
        make(*args)

    monkeypatch.setattr(EndedCall, "__init__", late)
    llm = embedder(server, {"items": 1}, price=Price(input=1_000_000, output=0), budgets=[Budget(usd=4)])
    with subscribe(records.append, records="all") as subscription:
        with pytest.raises(BudgetExceededError) as found:
            call(call_style, llm, "embed", [f"text {number}" for number in range(40)])
        returned.set()
        subscription.flush()
    assert isinstance(found.value.partial, PartialVectors)
    outcomes = [each.outcome for each in records]
    assert outcomes.count("done") == len(server.requests)
    assert "failed" in outcomes
    assert caplog.records == []  # of a record that could not be made


def test_budget_holds_for_vectors(call_style, server):
    llm = embedder(server, {"items": 1}, price=Price(input=1_000_000, output=0), budgets=[Budget(usd=4)])
    texts = [f"text {number}" for number in range(40)]
    records = []
    with subscribe(records.append, records="all") as subscription:
        with pytest.raises(BudgetExceededError) as found:
            call(call_style, llm, "embed", texts)
        subscription.flush()
    partial = found.value.partial
    assert 0 < len(partial.positions) == len(server.requests) < 40
    assert np.allclose(
        partial.vectors.lists(), expected([texts[position] for position in partial.positions]), atol=1e-6
    )
    calls = [each for each in records if hasattr(each, "operation")]
    (whole,) = [each for each in records if not hasattr(each, "operation")]
    assert sum(each.outcome == "done" for each in calls) == len(server.requests)
    assert {each.outcome for each in calls} == {"done", "failed"}
    assert {each.parent_id for each in calls} == {whole.trace_id}
    assert whole.outcome == "failed"


def test_group_asks_other_members_with_the_same_model_only(call_style, server):
    with ScriptedServer() as broken:
        broken.always(error(503, "no"))
        first, second = embedder(broken, max_retries=0), embedder(server)
        found = call(call_style, create_llm([first, second]), "embed", ["a", "b"])
        assert np.allclose(found.vectors, expected(["a", "b"]), atol=1e-6)
        other = create_llm("openai-compatible", "another", base_url=f"{server.url}/v1", api_key="k")
        with pytest.raises(Exception, match="'embed' is an operation of embedder here"):
            call(call_style, create_llm([first, other]), "embed", ["a"])


def test_interruption_ends_all_requests(call_style, server):
    interruption = Interruption()

    def hang(request):
        if len(server.requests) > 2:
            interruption.set()
        return [HANG]

    server.always_by(hang)
    with pytest.raises(CallInterruptedError):
        call(call_style, embedder(server, {"items": 1}), "embed", ["a"] * 8, interruption=interruption)


def test_timeout_is_that_of_the_whole(call_style, server):
    server.always(HANG)
    with pytest.raises(RequestTimeoutError, match=r"timed out|no response"):
        call(call_style, embedder(server, {"items": 1}), "embed", ["a"] * 4, timeout=0.2)


def test_cancelled_task_closes_all_connections(server):
    server.always(HANG)

    async def cancel() -> None:
        task = asyncio.ensure_future(embedder(server, {"items": 1}).aembed(["a"] * 4))
        await asyncio.to_thread(server.wait_for_requests, 4)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    server.wait_for(lambda: not server.open, "the end of all connections")


def test_batches_of_an_iterator_are_in_order_and_read_as_they_are_needed(server):
    read: list[int] = []

    def lines():
        for n in range(1000):
            read.append(n)
            yield f"text {n}"

    llm = embedder(server, {"items": 50})
    batches = llm.embed_batches(lines())
    first = next(batches)
    assert len(first) == 400
    assert len(read) == 400
    rows = np.concatenate([first.vectors, *(each.vectors for each in batches)])
    assert np.allclose(rows, expected([f"text {n}" for n in range(1000)]), atol=1e-6)


def test_batches_of_an_async_iterator(server):
    async def lines():
        for n in range(500):
            yield f"text {n}"

    async def sizes(source):
        return [len(each) async for each in embedder(server, {"items": 50}).aembed_batches(source)]

    assert asyncio.run(sizes(lines())) == [400, 100]
    assert asyncio.run(sizes(["a", "b"])) == [2]
    with pytest.raises(InvalidInputError, match="expected a list"):
        asyncio.run(sizes("text"))


def test_provider_without_embeddings_says_what_it_has():
    with pytest.raises(UnsupportedOptionError, match="does not embed"):
        create_llm("anthropic/claude-opus-5-5", api_key="k").embed(["a"])


def test_group_without_embeddings_names_its_models():
    services = Services(environment={"ANTHROPIC_API_KEY": "k"})
    llm = create_llm(["anthropic/claude-opus-5-5", "anthropic/claude-sonnet-4-6"], services=services)
    expected = "anthropic/claude-opus-5-5 and anthropic/claude-sonnet-4-6 do not embed"
    with pytest.raises(UnsupportedOptionError, match=expected) as caught:
        llm.embed(["a"])
    assert "/text-embedding-3-" in str(caught.value)


def test_llm_without_a_model_embeds_by_the_embedded_one_for_that():
    llm = create_llm(tags={"job": "nightly"})
    embedder_of_it = llm.embedder()
    assert embedder_of_it is not None
    assert embedder_of_it.model == "all-minilm-l6-v2"
    assert llm.embedder() is embedder_of_it
    assert create_llm("local", model="smollm2-135m-instruct").embedder() is None
    llm.close()
    with pytest.raises(ConfigurationError, match="closed"):
        llm.embed(["a"])
    with pytest.raises(ConfigurationError, match="closed"):
        embedder_of_it.embed(["a"])


@pytest.mark.exhaustive
def test_million_texts_of_an_iterator_need_no_more_memory_than_a_few_thousand():
    """The memory of the last batches is that of the first, and less than one vector of each text."""

    def vectors(attempt, next):
        rows = np.full((len(attempt.encoded.items), 64), 0.125, np.float32)
        return OperationResult(EmbedReply(Vectors(rows.tobytes(), 64), Usage(len(rows), 0)))

    class Answers:
        async def around_attempt(self, attempt, next):
            return vectors(attempt, next)

    rules = {"items": 2048, "dimensions": 64, "normalized": True}
    llm = create_llm(
        "openai-compatible",
        "m",
        base_url="http://127.0.0.1:9/v1",
        api_key="k",
        facts={"embedding": rules},
        middleware=[Answers()],
    )
    tracemalloc.start()
    try:
        count = early = 0
        for number, batch in enumerate(llm.embed_batches(f"text {n}" for n in range(1_000_000))):
            count += len(batch)
            if number == 20:
                early = tracemalloc.get_traced_memory()[1]
                tracemalloc.reset_peak()
        late = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 1_000_000
    assert late < early * 1.2
    assert late < 64_000_000
