"""`Ranked`: documents by how well they answer a query, ranked by a model for that, by vectors or by a model of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, overload

from ..concurrency import off_loop
from ..engine import Pipeline, Prepare
from ..errors import BadRequestError, InvalidInputError, ServerError
from ..outputs.decisions import Choices, Decision
from ..ports import Operation, RerankRules
from ..schema import (
    AttemptRecord,
    CallWarning,
    CostSource,
    GenerateResponse,
    RerankInput,
    RerankReply,
    SchemaError,
    Usage,
    shown,
    text_tokens,
)
from ..schema.amounts import counted
from ..schema.costs import CostSums, HasDeferredCost, defer_cost, total_cost
from ..schema.json_values import check_text
from ..schema.reprs import RichDisplay
from ..telemetry.costs import MARGIN
from .batches import BatchCalls, BatchLimits, prefix_error, run_all, split
from .inputs import too_long
from .results import Embeddings

if TYPE_CHECKING:
    from .jobs import EmbeddingJob

DocumentInput: TypeAlias = Any
"""A text, or an object whose attribute `text` is one, such as a hit of a search."""
RerankMethod = Literal["embeddings", "llm"]
"""How documents are ranked by a model that is not made for it."""
RERANK_METHODS: Final = ("embeddings", "llm")
_UNKNOWN: Final = RerankRules()
_USUAL_DOCUMENTS: Final = 32
_ANSWERS: Final = Choices(["yes", "no"])
_QUESTION: Final = """Query:
<query>
{query}
</query>

Document:
<document>
{document}
</document>

Is the document relevant to the query: does it answer it, or contain a part of the answer?"""


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document, its position in the list that was ranked, and its score: the higher, the better it answers. Scores
    of different models and methods have different ranges.
    """

    index: int
    score: float
    document: DocumentInput = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranked(HasDeferredCost, RichDisplay, Sequence[RankedDocument]):
    """Documents, the best first. `method` is "model", "embeddings" or "llm". `usage`, `attempts` and `cost`, in US
    dollars, are those of all requests.
    """

    results: tuple[RankedDocument, ...]
    provider: str
    model: str
    method: str
    usage: Usage = field(default_factory=Usage)
    warnings: tuple[CallWarning, ...] = ()
    attempts: tuple[AttemptRecord, ...] = ()
    trace_id: str = ""
    seconds: float = 0.0
    cost: Any = None
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()
    estimated_cost: Any = None
    cost_sums: CostSums | None = None

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, index: int) -> RankedDocument: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[RankedDocument]: ...

    def __getitem__(self, index: int | slice) -> RankedDocument | Sequence[RankedDocument]:
        return self.results[index]

    def __iter__(self) -> Iterator[RankedDocument]:
        return iter(self.results)

    def __display__(self) -> Iterator[object]:
        """Yields the best documents with their scores, and what all took."""
        from ..schema.displays import MOST_ROWS, DisplayTable, SmallPrint, shown_facts

        rows = [
            {"place": place, "position": each.index, "score": each.score, "document": _shown_document(each.document)}
            for place, each in enumerate(self.results[:MOST_ROWS], 1)
        ]
        yield DisplayTable(rows, len(self))
        yield SmallPrint([repr(self)[1:-1], shown_facts(self), *map(str, self.warnings)])

    def __repr__(self) -> str:
        documents = counted(len(self), "document")
        return f"<Ranked: {documents} by {self.provider}/{self.model}, method {self.method!r}>"


def _shown_document(document: DocumentInput) -> str:
    text = document if isinstance(document, str) else getattr(document, "text", None)
    return text if isinstance(text, str) else shown(document)


@dataclass(frozen=True, slots=True)
class RankRequest:
    """A query and its documents, as texts too; `top` is how many are wanted. It is checked when it is made: raises
    `InvalidInputError` with the position of what is wrong.
    """

    query: str
    documents: Sequence[DocumentInput]
    texts: Sequence[str]
    top: int

    @classmethod
    def of(cls, query: object, documents: object, top: object) -> RankRequest:
        """Returns the request with these arguments."""
        if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
            raise InvalidInputError(f"expected a list of texts, got {shown(documents)}", path="documents")
        given = list(cast("Iterable[Any]", documents))
        if not given:
            raise InvalidInputError("expected at least one document", path="documents")
        if top is not None and (not isinstance(top, int) or isinstance(top, bool) or top < 1):
            raise InvalidInputError(f"expected a number of at least 1, got {shown(top)}", path="top")
        texts = [_text(each, f"documents[{index}]") for index, each in enumerate(given)]
        return cls(_text(query, "query"), given, texts, len(given) if top is None else min(top, len(given)))

    def ranked(self, scores: Iterable[tuple[int, float]]) -> tuple[RankedDocument, ...]:
        """Returns the best documents by their scores; of equal ones the first."""
        best = sorted(scores, key=lambda each: (-each[1], each[0]))[: self.top]
        return tuple(RankedDocument(index, score, self.documents[index]) for index, score in best)


def _text(given: object, path: str) -> str:
    text = given if isinstance(given, str) else getattr(given, "text", None)
    if not isinstance(text, str):
        raise InvalidInputError(f"expected a text, got {type(given).__name__}", path=path)
    if not text.strip():
        raise InvalidInputError("has only white space" if text else "is empty", path=path)
    try:
        return check_text(text, "")
    except SchemaError as error:
        raise InvalidInputError(error.message, path=path, hint=error.hint) from None


@dataclass(frozen=True, slots=True)
class RerankJob:
    """Ranks by the operation of a model, `name`, in several requests if there are more documents than one takes."""

    operation: Operation[RerankInput, RerankReply]
    prepare: Prepare
    timeout: float | None
    rules: RerankRules | None
    name: str
    truncate: bool

    async def rank(self, pipeline: Pipeline, request: RankRequest) -> Ranked:
        """Returns the ranked documents; raises errors with the positions of documents."""
        runtime, rules = pipeline.runtime, self.rules or _UNKNOWN
        calls = BatchCalls(pipeline, self.operation, await self.prepare(runtime), self.timeout)
        tokens = await off_loop(runtime, sum(map(len, request.texts)) > 500_000, self._tokens, request, rules)
        limit = None if rules.request_tokens is None else rules.request_tokens / MARGIN
        limits = BatchLimits(rules.documents or _USUAL_DOCUMENTS, limit)
        batches = split(range(len(request.texts)), tokens, [0] * len(tokens), limits)
        scores: dict[int, float] = {}

        async def rank_batch(positions: Sequence[int]) -> None:
            documents = tuple(request.texts[position] for position in positions)
            top = None if request.top >= len(documents) else request.top
            try:
                reply: RerankReply = (await calls.request(documents=documents, top=top)).value
            except BadRequestError as error:
                raise prefix_error(error, "documents", positions) from None
            wrong = [each.index for each in reply.results if each.index >= len(documents)]
            if wrong or len(reply.results) < (top or len(documents)):
                raise ServerError(f"{top or len(documents):,} documents were to be ranked, and not all of them are")
            scores.update((positions[each.index], each.score) for each in reply.results)

        with calls.begin(len(batches)):
            await run_all(runtime, batches, rank_batch)
        ranked = Ranked(request.ranked(scores.items()), method="model", **calls.totals())
        calls.set_cost(ranked)
        return ranked

    def _tokens(self, request: RankRequest, rules: RerankRules) -> list[int]:
        """Returns the tokens of the documents, with those of the query, about; raises `ContextOverflowError` for a text
        that is certainly too long.
        """
        of_query, tokens = text_tokens(request.query), [text_tokens(each) for each in request.texts]
        limits = [(["query"], [of_query], rules.query_tokens)]
        limits.append(([f"documents[{index}]" for index in range(len(tokens))], tokens, rules.document_tokens))
        for paths, counts, limit in () if self.truncate else limits:
            for path, count in zip(paths, counts, strict=True):
                if limit is not None and count > limit * MARGIN:
                    raise too_long(path, count, limit, self.name)
        return [of_query + count for count in tokens]


async def rank_by_vectors(
    pipeline: Pipeline, request: RankRequest, of_query: EmbeddingJob, of_documents: EmbeddingJob
) -> Ranked:
    """Returns documents ranked by the cosine similarity of their vectors with that of the query."""
    query = await of_query.embed(pipeline, [request.query])
    documents = await of_documents.embed(pipeline, request.texts)
    scores = [each.score for each in sorted(documents.nearest(len(documents), query)[0])]
    ranked = Ranked(
        request.ranked(enumerate(scores)),
        documents.provider,
        documents.model,
        "embeddings",
        query.usage + documents.usage,
        tuple(dict.fromkeys((*query.warnings, *documents.warnings))),
        (*query.attempts, *documents.attempts),
        documents.trace_id,
        query.seconds + documents.seconds,
    )
    both: tuple[Embeddings, ...] = (query, documents)
    defer_cost(ranked, lambda: total_cost(both))
    return ranked


def relevance_question(query: str, document: str) -> str:
    """Returns the question whether a document is relevant."""
    return _QUESTION.format(query=query, document=document)


async def rank_by_decisions(
    pipeline: Pipeline,
    request: RankRequest,
    ask: Callable[[str, Choices], Any],
) -> Ranked:
    """Returns documents ranked by the probability of "yes"; `ask` returns a coroutine of the response to a question."""
    began = pipeline.runtime.now()
    responses: dict[int, GenerateResponse[Any]] = {}

    async def decide(position: int) -> None:
        question = relevance_question(request.query, request.texts[position])
        responses[position] = await ask(question, _ANSWERS)

    await run_all(pipeline.runtime, range(len(request.texts)), decide)
    decisions: dict[int, Decision[str]] = {each: _ANSWERS.decision(response) for each, response in responses.items()}
    found = [responses[position] for position in sorted(responses)]
    warnings = [warning for each in found for warning in each.warnings]
    if any(each.probabilities is None for each in decisions.values()):
        message = "the provider reports no probabilities: scores are 0 or 1, and equal ones keep their order"
        warnings.append(CallWarning("no_probabilities", "method", message))
    usages = [each.usage for each in found]
    ranked = Ranked(
        request.ranked((position, _score(each)) for position, each in decisions.items()),
        found[0].provider,
        found[0].model,
        "llm",
        sum(usages[1:], usages[0]),
        tuple(dict.fromkeys(warnings)),
        tuple(attempt for each in found for attempt in each.attempts),
        found[0].trace_id,
        pipeline.runtime.now() - began,
    )
    defer_cost(ranked, lambda: total_cost(found))
    return ranked


def _score(decision: Decision[str]) -> float:
    """Returns the probability of "yes", as far as it is known."""
    probabilities = decision.probabilities or {}
    if "yes" in probabilities:
        return probabilities["yes"]
    if "no" in probabilities:
        return 1 - probabilities["no"]
    return float(decision.choice == "yes")
