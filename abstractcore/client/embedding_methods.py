"""The methods of `LLM` for vectors of texts and files, and for documents ranked by a query."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Self, Unpack, cast

from ..concurrency import drive
from ..embeddings.options import VectorOptions
from ..errors import InvalidInputError, UnsupportedOptionError
from ..lazy_modules import LazyModule
from ..option_help import takes
from ..ports import EMBED, RERANK, EmbeddingRules, HasOperations, ModelCatalogue, ModelProfile
from ..schema import EmbedPurpose
from ..schema.base_error import shown
from .decision_methods import DecisionMethods
from .pipelines import Pipelines, PreparedRequest

if TYPE_CHECKING:
    from .. import embeddings
    from ..embeddings import inputs as embedding_inputs
    from ..embeddings import jobs, ranking
    from ..outputs.decisions import Choices
    from .options import CallRequest
else:
    embeddings = LazyModule("abstractcore.embeddings")
    embedding_inputs = LazyModule("abstractcore.embeddings.inputs")
    jobs = LazyModule("abstractcore.embeddings.jobs")
    ranking = LazyModule("abstractcore.embeddings.ranking")


class EmbeddingMethods(DecisionMethods):
    """`embed`, `embed_one`, `embed_batches`, `rerank` and their async versions."""

    provider: str
    model: str
    _arguments: Any

    if TYPE_CHECKING:

        @property
        def members(self) -> Sequence[Any]:
            """The LLMs that calls are shared among."""
            ...

        @property
        def profile(self) -> ModelProfile:
            """What is known of the model."""
            ...

    @takes(VectorOptions)
    def embed(
        self,
        inputs: Iterable[embedding_inputs.EmbeddingInput],
        *,
        dimensions: int | None = None,
        purpose: EmbedPurpose | None = None,
        normalize: bool = True,
        truncate: bool = False,
        **options: Unpack[VectorOptions],
    ) -> embeddings.Embeddings:
        """Returns a vector for each text or file, in their order.

        `inputs` are texts, and for models that take them files: paths (`pathlib.Path`), bytes, Pillow images, media
        parts, and lists of texts and files that have one vector together. They are sent in several requests at once,
        within the limits of the model, of which each is tried again alone. `dimensions` is the length of the vectors,
        None for the model's own. `purpose` says what they are for, to models that want to know: "query" for what is
        searched, "document" for where it is searched, "classification", "clustering", "similarity", "code", "question",
        "fact"; others ignore it. With `normalize`, they have the length 1. With `truncate`, texts that are too long are
        cut: `embeddings.truncated` has their positions.

        Raises `InvalidInputError` and `ContextOverflowError` with the position of an input that is empty or too long,
        `UnsupportedContentError` for a file that the model does not take, `UnsupportedOptionError` for dimensions that
        it does not have, and errors as `generate` does; `error.partial` has the vectors that arrived, as
        `PartialVectors`.
        """
        job, request, pipelines = self._embedding(dimensions, purpose, normalize, truncate, options)
        pipeline = pipelines.sync
        return drive(request.interruptible(job.embed(pipeline, inputs), pipeline))

    @takes(VectorOptions)
    async def aembed(
        self,
        inputs: Iterable[embedding_inputs.EmbeddingInput],
        *,
        dimensions: int | None = None,
        purpose: EmbedPurpose | None = None,
        normalize: bool = True,
        truncate: bool = False,
        **options: Unpack[VectorOptions],
    ) -> embeddings.Embeddings:
        """The async version of `embed`. Cancelling the task ends all requests."""
        job, request, pipelines = self._embedding(dimensions, purpose, normalize, truncate, options)
        pipeline = pipelines.asynchronous
        return await request.interruptible(job.embed(pipeline, inputs), pipeline)

    @takes(VectorOptions)
    def embed_one(
        self,
        input: embedding_inputs.EmbeddingInput,
        *,
        dimensions: int | None = None,
        purpose: EmbedPurpose | None = None,
        normalize: bool = True,
        truncate: bool = False,
        **options: Unpack[VectorOptions],
    ) -> Any:
        """Returns the vector of one text or file: an array of float32 if NumPy is installed, else a list. Raises errors
        as `embed` does.
        """
        job, request, pipelines = self._embedding(dimensions, purpose, normalize, truncate, options)
        pipeline = pipelines.sync
        return drive(request.interruptible(job.embed(pipeline, [input]), pipeline))[0]

    @takes(VectorOptions)
    async def aembed_one(
        self,
        input: embedding_inputs.EmbeddingInput,
        *,
        dimensions: int | None = None,
        purpose: EmbedPurpose | None = None,
        normalize: bool = True,
        truncate: bool = False,
        **options: Unpack[VectorOptions],
    ) -> Any:
        """The async version of `embed_one`."""
        job, request, pipelines = self._embedding(dimensions, purpose, normalize, truncate, options)
        pipeline = pipelines.asynchronous
        return (await request.interruptible(job.embed(pipeline, [input]), pipeline))[0]

    @takes(VectorOptions)
    def embed_batches(
        self,
        inputs: Iterable[embedding_inputs.EmbeddingInput],
        *,
        dimensions: int | None = None,
        purpose: EmbedPurpose | None = None,
        normalize: bool = True,
        truncate: bool = False,
        **options: Unpack[VectorOptions],
    ) -> Iterator[embeddings.Embeddings]:
        """Yields the vectors of inputs of any number, such as the lines of a file, some thousand at a time, in their
        order. No more of the inputs is read, and no more is in memory, than what is embedded at the time.

        Positions in errors and results, and the `timeout`, are those of one batch. Otherwise as `embed`.
        """
        job, request, pipelines = self._embedding(dimensions, purpose, normalize, truncate, options)
        pipeline = pipelines.sync
        for window in job.windows(inputs):
            yield drive(request.interruptible(job.embed(pipeline, window), pipeline))

    @takes(VectorOptions)
    async def aembed_batches(
        self,
        inputs: Iterable[embedding_inputs.EmbeddingInput] | AsyncIterable[embedding_inputs.EmbeddingInput],
        *,
        dimensions: int | None = None,
        purpose: EmbedPurpose | None = None,
        normalize: bool = True,
        truncate: bool = False,
        **options: Unpack[VectorOptions],
    ) -> AsyncIterator[embeddings.Embeddings]:
        """The async version of `embed_batches`; the inputs may be an async iterator."""
        job, request, pipelines = self._embedding(dimensions, purpose, normalize, truncate, options)
        pipeline = pipelines.asynchronous
        async for window in job.async_windows(inputs):
            yield await request.interruptible(job.embed(pipeline, window), pipeline)

    @takes(VectorOptions)
    def rerank(
        self,
        query: str,
        documents: Iterable[ranking.DocumentInput],
        *,
        top: int | None = None,
        method: ranking.RerankMethod | None = None,
        truncate: bool = False,
        **options: Unpack[VectorOptions],
    ) -> ranking.Ranked:
        """Returns the documents by how well they answer the query, the best first: `top` of them, None for all.

        `documents` are texts, or objects with a `text`. `method` is how: None by a model that ranks; "embeddings" by
        the similarity of vectors; "llm" by the probability that a model of text answers "yes" to whether the document
        answers the query, in a request for each document.

        Raises `UnsupportedOptionError` without a `method` for a model that does not rank, with models that do, and
        errors as `generate` does. `truncate` cuts documents that are longer than the model takes, instead of an error.
        """
        return drive(self._ranking(query, documents, top, method, truncate, options, sync=True))

    @takes(VectorOptions)
    async def arerank(
        self,
        query: str,
        documents: Iterable[ranking.DocumentInput],
        *,
        top: int | None = None,
        method: ranking.RerankMethod | None = None,
        truncate: bool = False,
        **options: Unpack[VectorOptions],
    ) -> ranking.Ranked:
        """The async version of `rerank`."""
        return await self._ranking(query, documents, top, method, truncate, options, sync=False)

    def embedded(
        self, texts: Sequence[str], purpose: EmbedPurpose, *, sync: bool
    ) -> Coroutine[Any, Any, embeddings.Embeddings]:
        """Returns the vectors of texts as `embed` does, in sync or in async calls: for the purpose, if the model knows
        it, and of length 1; texts that are too long are cut.
        """
        known = (self._model_for(EMBED).profile.embedding or EmbeddingRules()).named_purposes
        job, request, pipelines = self._embedding(None, purpose if purpose in known else None, True, True, {})
        pipeline = pipelines.sync if sync else pipelines.asynchronous
        return request.interruptible(job.embed(pipeline, texts), pipeline)

    def _embedding(
        self, dimensions: int | None, purpose: EmbedPurpose | None, normalize: bool, truncate: bool, options: Any
    ) -> tuple[jobs.EmbeddingJob, PreparedRequest, Pipelines]:
        """Returns what embeds with these settings, the request that all of its requests are like, and the pipelines of
        the model.
        """
        other = self.embedder()
        if other is not None:
            return other._embedding(dimensions, purpose, normalize, truncate, options)
        from ..embeddings.inputs import EmbedInputReader, EmbedSettings
        from ..embeddings.jobs import EmbeddingJob

        model = self._model_for(EMBED)
        profile, name = model.profile, f"{model.provider}/{model.model}"
        settings = EmbedSettings(dimensions, purpose, normalize, truncate).of_model(profile, name)
        rules = profile.embedding
        is_own = rules is not None and dimensions == rules.dimensions
        arguments = {
            "items": ("-",),
            "purpose": settings.purpose,
            "dimensions": None if is_own else dimensions,
            "truncate": truncate and (rules is None or rules.truncates is True),
        }
        operation, request = self._operation(EMBED, arguments, options)
        load = self._pipelines.media_loader().load_one
        reader = EmbedInputReader(settings, profile, name, load)
        cache, place = self._pipelines.embed_cache, repr(model)
        job = EmbeddingJob(operation, request.prepare, request.timeout, settings, profile, reader, cache, place)
        return job, request, self._pipelines

    async def _ranking(
        self, query: object, documents: object, top: object, method: object, truncate: bool, options: Any, *, sync: bool
    ) -> ranking.Ranked:
        from ..embeddings.ranking import RERANK_METHODS, RankRequest, RerankJob, rank_by_decisions, rank_by_vectors

        if method is not None and method not in RERANK_METHODS:
            hint = f"Use {' or '.join(map(repr, RERANK_METHODS))}, or leave it out for a model that ranks."
            raise InvalidInputError(f"unknown method {shown(method)}", path="method", hint=hint)
        pipeline = self._pipelines.sync if sync else self._pipelines.asynchronous
        wanted = RankRequest.of(query, documents, top)
        if method == "llm":

            def ask(question: str, choices: Choices) -> Any:
                return self._choosing(question, choices, options).response(pipeline)

            return await rank_by_decisions(pipeline, wanted, ask)
        if method == "embeddings":
            known = (self._model_for(EMBED).profile.embedding or EmbeddingRules()).named_purposes
            purposes: list[EmbedPurpose | None] = [each if each in known else None for each in _BOTH]
            (of_query, request, pipelines), (of_documents, _, _) = (
                self._embedding(None, purpose, True, truncate, options) for purpose in purposes
            )
            pipeline = pipelines.sync if sync else pipelines.asynchronous
            return await request.interruptible(rank_by_vectors(pipeline, wanted, of_query, of_documents), pipeline)
        model = self._model_for(RERANK)
        rules, name = model.profile.reranking, f"{model.provider}/{model.model}"
        arguments = {"query": wanted.query, "documents": ("-",), "top": None, "truncate": truncate}
        operation, request = self._operation(RERANK, arguments, options)
        job = RerankJob(operation, request.prepare, request.timeout, rules, name, truncate)
        return await request.interruptible(job.rank(pipeline, wanted), pipeline)

    def embedder(self) -> Self | None:
        """Returns the LLM of the provider's model for vectors, where the user has named no model; None for this one."""
        pipelines = self._pipelines
        name = None if pipelines.members else pipelines.session.embedding_model
        if name is None:
            return None
        self._preparer.check_open()
        if pipelines.embedder is None:
            made = replace(self._arguments, provider=self.provider, model=name).again()
            pipelines.embedder = pipelines.embedder or made
        return pipelines.embedder

    def _model_for(self, operation: str) -> Self:
        """Returns the LLM whose model has the operation: in a group the first one, for vectors that of `embedder`."""
        for each in self.members:
            model: Any = (each.embedder() if operation == EMBED else None) or each
            transpiler = model.transpiler
            if isinstance(transpiler, HasOperations) and operation in transpiler.operations:
                return model
        return self.members[0]

    def _operation(self, name: str, arguments: dict[str, Any], options: Any) -> tuple[Any, PreparedRequest]:
        """Returns an operation and its request; raises `UnsupportedOptionError` with models that have it."""
        try:
            return self._preparer.operation(name, None, arguments, cast("CallRequest", options), self)
        except UnsupportedOptionError as error:
            if self._has(name):
                raise
            raise self._without(name, error) from None

    def _has(self, name: str) -> bool:
        try:
            self._pipelines.find_operation(name)
        except UnsupportedOptionError:
            return False
        return True

    def _without(self, name: str, error: UnsupportedOptionError) -> UnsupportedOptionError:
        what, fact = _KINDS[name]
        found = _models_with(fact, self._pipelines.services.catalogue)
        hint = f"Use a model that does: {', '.join(found)}." if found else error.hint
        if name == RERANK:
            hint = f"{hint} Or rank by this model: method='embeddings' or method='llm'."
        names = [f"{each.provider}/{each.model}" for each in self.members]
        verb = "does" if len(names) == 1 else "do"
        return UnsupportedOptionError(f"{' and '.join(names)} {verb} not {what}.", hint=hint)


_BOTH: Final[tuple[EmbedPurpose, EmbedPurpose]] = ("query", "document")
_KINDS: Final = {EMBED: ("embed", "embedding"), RERANK: ("rank documents", "reranking")}
"""What a model does, and the fact of the catalogue that says so."""
_MOST_NAMES: Final = 8


def _models_with(fact: str, catalogue: ModelCatalogue) -> list[str]:
    """Returns a model of each provider, some of them, for which a fact is known. Reads the files of all providers."""
    from ..catalogue.catalogue import FileCatalogue

    found: list[str] = []
    if isinstance(catalogue, FileCatalogue):
        for provider in catalogue.providers:
            models = catalogue.models(provider)
            names = (name for name in models.names if models.alias(name) is None)
            first = next((name for name in names if getattr(models.entry(name).profile, fact) is not None), None)
            found += [] if first is None else [f"{provider}/{first}"]
    return found[:_MOST_NAMES]
