"""Documents ranked by a model for that, by vectors, and by decisions of a model of text."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import (
    BadRequestError,
    ContextOverflowError,
    InvalidInputError,
    Price,
    Ranked,
    RankedDocument,
    ServerError,
    UnsupportedOptionError,
    create_llm,
)
from abstractcore.ports import RERANK, Operation
from abstractcore.schema import Encoded, RankedIndex, RerankInput, RerankReply, Usage, WireRequest, WireResponse
from tests.chaos_server import ScriptedServer, answer
from tests.embedding_server import call, embedder, embeddings, error

DOCUMENTS = ["cats meow", "dogs bark", "birds sing", "wolves howl and bark"]


def _encode(given: RerankInput) -> Encoded:
    body = {"query": given.query, "documents": list(given.documents), "top": given.top, "truncate": given.truncate}
    return Encoded(WireRequest("/rank", {"content-type": "application/json"}, json.dumps(body).encode()))


def _decode(response: WireResponse, given: RerankInput) -> RerankReply:
    data = json.loads(response.body)
    return RerankReply(tuple(RankedIndex(*each) for each in data["results"]), Usage(data["tokens"], 0), "ranker-1")


RANKING: Operation[Any, Any] = Operation(RERANK, RerankInput, _encode, _decode, usage=lambda reply: reply.usage)


@dataclass(frozen=True)
class Ranking:
    """A wire format that ranks: the tests of vendors' formats have theirs."""

    chat: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.chat, name)

    @property
    def operations(self) -> Any:
        return {**self.chat.operations, RERANK: RANKING}


def ranker(server: ScriptedServer, rules: dict[str, Any] | None = None, **options: Any):
    llm = embedder(server, facts={"reranking": rules or {}}, **options)
    session = llm._pipelines._session
    llm._pipelines._session = replace(session, transpiler=Ranking(session.transpiler))
    return llm


def by_barks(request: Any) -> list[bytes]:
    """The more often a document has the letters of the query, the better."""
    body = request.json
    scores = [(index, each.count("bark") + len(each) / 1000) for index, each in enumerate(body["documents"])]
    best = sorted(scores, key=lambda each: -each[1])[: body["top"]]
    return [answer({"results": best, "tokens": len(scores)})]


@pytest.fixture
def server():
    with ScriptedServer() as made:
        made.always_by(by_barks)
        yield made


def test_best_documents_come_first(call_style, server):
    ranked = call(call_style, ranker(server, price=Price(input=2, output=0)), "rerank", "bark", DOCUMENTS)
    assert isinstance(ranked, Ranked)
    assert [each.index for each in ranked] == [3, 1, 2, 0]
    assert [each.document for each in ranked[:2]] == ["wolves howl and bark", "dogs bark"]
    assert isinstance(ranked[0], RankedDocument)
    assert (ranked.method, ranked.model, ranked.usage.input, ranked.cost) == (
        "model",
        "ranker-1",
        4,
        Decimal("0.000008"),
    )
    assert [each.index for each in call(call_style, ranker(server), "rerank", "bark", DOCUMENTS, top=2)] == [3, 1]
    assert server.requests[-1].json["top"] == 2


def test_more_documents_than_a_request_takes_are_ranked_together(call_style, server):
    documents = [f"document {n} {'bark ' * (n % 7)}" for n in range(100)]
    ranked = call(call_style, ranker(server, {"documents": 9}), "rerank", "bark", documents, top=10)
    expected = sorted(range(100), key=lambda n: (-(n % 7) - len(documents[n]) / 1000, n))[:10]
    assert [each.index for each in ranked] == expected
    assert len(server.requests) == 12
    assert len(ranked.attempts) == 12


def test_objects_with_a_text_are_documents(call_style, server):
    @dataclass
    class Hit:
        text: str
        page: int

    hits = [Hit("cats", 1), Hit("bark", 2)]
    assert call(call_style, ranker(server), "rerank", "bark", hits)[0].document is hits[1]


@pytest.mark.parametrize("results", [[[0, 1.0]], [[0, 1.0], [7, 0.5]], [[0, 1.0], [0, 1.0]]])
def test_wrong_answer_is_an_error(call_style, server, results):
    server.always(answer({"results": results, "tokens": 1}))
    with pytest.raises(Exception, match=r"were to be ranked|occurs twice"):
        call(call_style, ranker(server, max_retries=0), "rerank", "q", ["a", "b"])


def test_refused_documents_are_named(call_style, server):
    server.always(error(400, "invalid document"))
    with pytest.raises(BadRequestError, match=r"documents\[0\] to documents\[1\]: invalid document"):
        call(call_style, ranker(server), "rerank", "q", ["a", "b"])


def test_text_that_is_too_long_is_named(call_style, server):
    llm = ranker(server, {"document_tokens": 100, "query_tokens": 20})
    with pytest.raises(ContextOverflowError, match=r"documents\[1\]: the text has about"):
        call(call_style, llm, "rerank", "q", ["a", "word " * 900])
    with pytest.raises(ContextOverflowError, match=r"query: the text has about"):
        call(call_style, llm, "rerank", "word " * 900, ["a"])
    assert server.requests == []
    assert len(call(call_style, llm, "rerank", "q", ["a", "word " * 900], truncate=True)) == 2
    assert server.requests[0].json["truncate"] is True


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("q", "a document"), {}, "documents: expected a list of texts"),
        (("q", []), {}, "documents: expected at least one document"),
        (("q", ["a", " "]), {}, r"documents\[1\]: has only white space"),
        (("q", ["a", 3]), {}, r"documents\[1\]: expected a text, got int"),
        (("q", ["a", "\udc00"]), {}, r"documents\[1\]: lone surrogate"),
        (("", ["a"]), {}, "query: is empty"),
        ((None, ["a"]), {}, "query: expected a text, got NoneType"),
        (("q", ["a"]), {"top": 0}, "top: expected a number of at least 1"),
        (("q", ["a"]), {"method": "magic"}, "method: unknown method 'magic'"),
    ],
)
def test_bad_input_is_named(call_style, server, arguments, options, message):
    with pytest.raises(InvalidInputError, match=message):
        call(call_style, ranker(server), "rerank", *arguments, **options)
    assert server.requests == []


def test_model_that_does_not_rank_says_what_to_use(call_style):
    with pytest.raises(UnsupportedOptionError, match=r"does not rank documents.*method='embeddings' or method='llm'"):
        call(call_style, create_llm("scripted", replies=[]), "rerank", "q", ["a"])


def test_vectors_rank_documents(call_style, server):
    server.always_by(embeddings)
    llm = embedder(server, {"prefixes": {"query": "query: "}}, price=Price(input=2, output=0))
    ranked = call(call_style, llm, "rerank", "dogs bark", [*DOCUMENTS, "query: dogs bark"], method="embeddings", top=2)
    assert ranked[0].index == 4
    assert ranked[0].score == pytest.approx(1.0)
    assert (ranked.method, len(ranked), ranked.usage.input) == ("embeddings", 2, 6)
    assert ranked.cost == Decimal("0.000012")


def test_decisions_rank_documents(call_style):
    def reply(call: Any) -> str:
        text = str(call.messages[-1].parts[0].text)
        return json.dumps({"value": "yes" if "bark" in text.partition("<document>")[2] else "no"})

    llm = create_llm("scripted", replies=reply)
    ranked = call(call_style, llm, "rerank", "Who makes noise?", DOCUMENTS, method="llm")
    assert [each.index for each in ranked] == [1, 3, 0, 2]
    assert [each.score for each in ranked] == [1.0, 1.0, 0.0, 0.0]
    assert ranked.method == "llm"
    assert [each.code for each in ranked.warnings] == ["no_probabilities"]


def test_failure_of_the_server_is_raised(call_style, server):
    server.always(error(500, "no"))
    with pytest.raises(ServerError):
        call(call_style, ranker(server, max_retries=0), "rerank", "q", ["a"])
