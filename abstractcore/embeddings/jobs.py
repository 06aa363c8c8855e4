"""`EmbeddingJob`: embeds lists of any length by one model, in sync or async calls."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Final, cast

from ..concurrency import off_loop
from ..engine import Pipeline, Prepare, refuse_losses
from ..errors import (
    AbstractCoreError,
    BadRequestError,
    ContextOverflowError,
    InvalidInputError,
    ServerError,
    UnsupportedContentError,
)
from ..ports import Answer, CacheHit, CallContext, EmbeddingRules, ModelProfile, Operation, OperationResult
from ..schema import (
    CallWarning,
    EmbedInput,
    EmbedItem,
    EmbedReply,
    PartialVectors,
    Usage,
    Vectors,
    digest,
    shown,
    text_tokens,
)
from ..telemetry.costs import MARGIN, saved_cost
from .batches import (
    AT_ONCE,
    BatchCalls,
    BatchLimits,
    async_windows,
    prefix_error,
    run_all,
    size_in_json,
    split,
    windows,
)
from .caching import CachedVector, EmbeddingCache
from .inputs import EmbeddingInput, EmbedInputReader, EmbedSettings, SizedItems, cut_to, within_limits
from .results import Embeddings
from .vector_math import normalized

_USUAL_ITEMS: Final = 32
"""The most items of a request to a server whose limit is unknown: TEI takes no more by default."""
_PARALLEL_ITEMS: Final = 256
"""A list is spread over more requests than it needs once each of them has so many items."""
_PART_OF_BYTES: Final = 0.9
_LARGE: Final = 500_000
"""Numbers and characters whose handling takes longer than an event loop should wait."""
_POSITION = re.compile(r"\Aitems\[([0-9]+)\]")
_UNKNOWN: Final = EmbeddingRules()


@dataclass(frozen=True, slots=True)
class EmbeddingJob:
    """What embeds lists: an operation of a model, the request whose input has the settings but other items, and how
    inputs become items. `place` says where the model is, for the keys of `cache`.
    """

    operation: Operation[EmbedInput, EmbedReply]
    prepare: Prepare
    timeout: float | None
    settings: EmbedSettings
    profile: ModelProfile
    reader: EmbedInputReader
    cache: EmbeddingCache | None
    place: str

    @property
    def rules(self) -> EmbeddingRules:
        """What the model takes."""
        return self.profile.embedding or _UNKNOWN

    async def embed(self, pipeline: Pipeline, inputs: Iterable[EmbeddingInput]) -> Embeddings:
        """Returns the vectors of all inputs.

        Raises the first error, with the vectors that arrived as `PartialVectors` in `partial`.
        """
        runtime = pipeline.runtime
        calls = BatchCalls(pipeline, self.operation, await self.prepare(runtime), self.timeout)
        given = checked_inputs(inputs)
        only_texts = all(isinstance(each, str) for each in given)
        is_large = only_texts and sum(map(len, given)) > _LARGE
        if only_texts:
            sized = await off_loop(runtime, is_large, self._sized, given)
        else:
            sized = await runtime.call(self._sized, given, kind="files")
        if calls.given.strict:
            refuse_losses(self.settings.warnings, calls.given)
        return await _EmbeddingRun(self, calls, sized).embeddings()

    def windows(self, inputs: Iterable[EmbeddingInput]) -> Iterator[list[EmbeddingInput]]:
        """Yields lists of inputs that take a few requests each."""
        return windows(_checked(inputs, Iterable), self._window)

    def async_windows(
        self, inputs: Iterable[EmbeddingInput] | AsyncIterable[EmbeddingInput]
    ) -> AsyncIterator[list[EmbeddingInput]]:
        """The same of inputs that may be an async iterator."""
        return async_windows(_checked(inputs, (Iterable, AsyncIterable)), self._window)

    @property
    def _window(self) -> int:
        return AT_ONCE * min(self.rules.items or _USUAL_ITEMS, _PARALLEL_ITEMS)

    def _sized(self, inputs: Sequence[EmbeddingInput]) -> SizedItems:
        return within_limits(self.reader.read(inputs), self.settings, self.profile, self.reader.name)

    def limits(self, count: int) -> BatchLimits:
        """Returns the limits of a request of a list of so many inputs: a long list takes several requests at once."""
        rules = self.rules
        tokens = None if rules.request_tokens is None else rules.request_tokens / MARGIN
        size = None if rules.request_bytes is None else int(rules.request_bytes * _PART_OF_BYTES)
        items = min(rules.items or _USUAL_ITEMS, max(_PARALLEL_ITEMS, -(-count // AT_ONCE)))
        return BatchLimits(items, tokens, size)


def checked_inputs(inputs: Any) -> list[EmbeddingInput]:
    """Returns inputs as a list; raises `InvalidInputError` for anything else, and for an empty one."""
    given = list(_checked(inputs, Iterable))
    if not given:
        raise InvalidInputError("expected at least one text or file", path="inputs")
    return given


def _checked(inputs: Any, kinds: Any) -> Any:
    if isinstance(inputs, str | bytes | Mapping) or not isinstance(inputs, kinds):
        hint = "Pass a list: llm.embed([...]); of a single one, llm.embed_one(...) returns the vector."
        raise InvalidInputError(
            f"expected a list of texts or files, got {shown(cast(object, inputs))}", path="inputs", hint=hint
        )
    return inputs


class _EmbeddingRun:
    """One list while it is embedded: `_rows` has the numbers of each vector that has arrived."""

    def __init__(self, job: EmbeddingJob, calls: BatchCalls, sized: SizedItems) -> None:
        self._job = job
        self._calls = calls
        self._runtime = calls.pipeline.runtime
        self._items = sized.items
        self._estimates = sized.tokens
        self._cut = sized.truncated
        self._rows: list[bytes | None] = [None] * len(sized.items)
        self._tokens: list[int | None] = [None] * len(sized.items)
        self._truncated: set[int] = set()
        self._warnings: list[CallWarning] = [*job.settings.warnings]
        self._keys: list[bytes] = []
        self._hits = 0

    async def embeddings(self) -> Embeddings:
        hits = await self._cached()
        missing = [position for position, row in enumerate(self._rows) if row is None]
        sizes = [size_in_json(item) for item in self._items] if self._job.rules.request_bytes else [0] * len(self._rows)
        batches = split(missing, self._estimates, sizes, self._job.limits(len(missing)))
        with self._calls.begin(len(batches) + bool(hits)):
            try:
                if hits:
                    await self._record_hits(hits)
                await run_all(self._runtime, batches, self._send)
            except AbstractCoreError as error:
                error.partial = self._partial()
                raise
        is_large = len(self._rows) * len(self._rows[0] or b"") > _LARGE
        return await off_loop(self._runtime, is_large, self._result)

    async def _send(self, positions: Sequence[int]) -> None:
        try:
            await self._request(positions)
        except BadRequestError as error:
            if error.message.startswith("inputs["):  # the provider has said which one
                raise
            await self._narrow(positions, error)

    async def _narrow(self, positions: Sequence[int], error: BadRequestError) -> None:
        """Finds the item that a request was refused for, by halves, whose vectors are kept. If both halves are
        refused, it is not one item alone. Raises the error with the positions.
        """
        while len(positions) > 1:
            middle = len(positions) // 2
            refused: list[tuple[Sequence[int], BadRequestError]] = []
            for half in (positions[:middle], positions[middle:]):
                try:
                    await self._request(half)
                except BadRequestError as other:
                    refused.append((half, other))
            if not refused:
                return
            if len(refused) > 1:
                break
            positions, error = refused[0]
        if len(positions) == 1 and await self._cut_further(positions[0], error):
            return
        raise prefix_error(error, "inputs", positions)

    async def _cut_further(self, position: int, error: BadRequestError) -> bool:
        """Embeds a shorter beginning of a text that is longer than its estimate, if texts may be cut; returns whether
        the provider has taken one. A text has no more tokens than bytes.
        """
        item, limit = self._items[position], self._job.rules.item_tokens
        if not (self._job.settings.truncate and isinstance(error, ContextOverflowError)):
            return False
        if limit is None or not isinstance(item, str):
            return False
        shorter = cut_to(item, min(int(limit / MARGIN), text_tokens(item) // 2))
        certain = item.encode()[:limit].decode("utf-8", "ignore")
        for text in (shorter, certain):
            self._items[position] = text
            try:
                await self._request([position])
            except ContextOverflowError:
                continue
            self._truncated.add(position)
            return True
        return False

    async def _request(self, positions: Sequence[int]) -> None:
        """Makes one request, and keeps its vectors."""
        items = tuple(self._items[position] for position in positions)
        try:
            result = await self._calls.request(items=items)
        except (UnsupportedContentError, InvalidInputError, BadRequestError) as error:
            found = _POSITION.match(error.message)
            if found is not None and int(found[1]) < len(positions):
                error.message = f"inputs[{positions[int(found[1])]}]{error.message[found.end() :]}"
            raise
        self._keep(positions, result.value)
        if self._keys:
            await self._store(positions, result.value)

    def _keep(self, positions: Sequence[int], reply: EmbedReply) -> None:
        """Keeps the vectors of a reply; raises `ServerError` unless there is one for each position."""
        vectors, rules = reply.vectors, self._job.rules
        if len(vectors) != len(positions):
            raise ServerError(f"{len(positions):,} vectors were requested, and {len(vectors):,} arrived")
        size = 4 * vectors.dimensions
        reports = bool(reply.truncated or reply.tokens)
        for index, position in enumerate(positions):
            self._rows[position] = vectors.data[index * size : (index + 1) * size]
            if reply.tokens:
                self._tokens[position] = reply.tokens[index]
            if index in reply.truncated or (position in self._cut and not (reports and rules.truncates)):
                self._truncated.add(position)

    async def _cached(self) -> dict[int, CachedVector]:
        """Returns what the cache has, by position, and keeps it."""
        cache = self._job.cache
        if cache is None:
            return {}
        is_large = sum(len(item) for item in self._items if isinstance(item, str)) > _LARGE
        self._keys = await off_loop(self._runtime, is_large, self._new_keys)
        found, failure = await self._runtime.call(cache.unless_failed, cache.find, self._keys)
        self._warn_of_cache(failure)
        hits = {position: found[key] for position, key in enumerate(self._keys) if key in found} if found else {}
        for position, hit in hits.items():
            self._rows[position], self._tokens[position] = hit.numbers, hit.tokens
            if hit.truncated:
                self._truncated.add(position)
        self._hits = len(hits)
        return hits

    def _new_keys(self) -> list[bytes]:
        given, settings = cast(EmbedInput, self._calls.given), self._job.settings
        asked = [self._job.place, given.model, given.dimensions, settings.purpose, given.truncate]
        options = {name: digest(each) for name, each in given.provider_options.items()}
        salt = blake2b(json.dumps([*asked, options], sort_keys=True).encode(), digest_size=32).digest()
        return [_key(item, salt) for item in self._items]

    async def _store(self, positions: Sequence[int], reply: EmbedReply) -> None:
        """Stores vectors. The tokens of each are its share of those of the request, unless they are reported."""
        cache, now = self._job.cache, self._calls.pipeline.clock.time_of_day()
        sizes = [size_in_json(self._items[position]) for position in positions]
        share = (reply.usage.input or 0) / sum(sizes)
        rows = {
            self._keys[position]: CachedVector(
                cast(bytes, self._rows[position]),
                round(size * share) if (count := self._tokens[position]) is None else count,
                now,
                position in self._truncated,
            )
            for position, size in zip(positions, sizes, strict=True)
        }
        if cache is not None:
            _, failure = await self._runtime.call(cache.unless_failed, cache.put, rows)
            self._warn_of_cache(failure)

    def _warn_of_cache(self, failure: str | None) -> None:
        if failure is not None and not any(each.code == "embed_cache_failed" for each in self._warnings):
            message = f"the cache of embeddings does not work, so that requests are made: {failure}"
            self._warnings.append(CallWarning("embed_cache_failed", "embed_cache", message))

    async def _record_hits(self, hits: dict[int, CachedVector]) -> None:
        """Makes a call whose answer the cache has, for records and middleware."""
        rows = Vectors(b"".join(each.numbers for each in hits.values()), self._dimensions(hits))
        usage = Usage(sum(each.tokens for each in hits.values()), 0)
        stored_at = max(each.stored_at for each in hits.values())

        async def answer(context: CallContext) -> Answer:
            context.cache_hit = CacheHit(stored_at, usage, context.input.model)
            return OperationResult(EmbedReply(rows, usage))

        items = tuple(self._items[position] for position in hits)
        await self._calls.request(self._calls.pipeline.performed_by(answer), items=items)

    def _dimensions(self, hits: dict[int, CachedVector]) -> int:
        lengths = {len(each.numbers) // 4 for each in hits.values()}
        if len(lengths) > 1:
            raise _mixed(lengths)
        return lengths.pop()

    def _partial(self) -> PartialVectors | None:
        """Returns the vectors that have arrived; None without any."""
        found = [(position, row) for position, row in enumerate(self._rows) if row is not None]
        if not found or len({len(row) for _, row in found}) > 1:
            return None
        vectors = Vectors(b"".join(row for _, row in found), len(found[0][1]) // 4)
        if self._normalizes(vectors):
            vectors = normalized(vectors)
        return PartialVectors(vectors, tuple(position for position, _ in found))

    def _normalizes(self, vectors: Vectors) -> bool:
        """Returns whether vectors are normalized here, since the vendor does not, or does not at this length."""
        rules = self._job.rules
        return self._job.settings.normalize and not (rules.normalized and vectors.dimensions == rules.dimensions)

    def _result(self) -> Embeddings:
        rows = cast("list[bytes]", self._rows)
        lengths = {len(row) // 4 for row in rows}
        if len(lengths) > 1:
            raise _mixed(lengths)
        vectors = Vectors(b"".join(rows), lengths.pop())
        is_normalized = True if self._job.settings.normalize else self._job.rules.normalized
        if self._normalizes(vectors):
            vectors = normalized(vectors)
        pricing = self._calls.pipeline.pricing
        saved = [saved_cost(each.cache_hit, pricing) for each in self._calls.contexts if each.cache_hit is not None]
        embeddings = Embeddings(
            vectors,
            normalized=is_normalized,
            tokens=() if None in self._tokens else tuple(cast("list[int]", self._tokens)),
            truncated=tuple(sorted(self._truncated)),
            cache_hits=self._hits,
            saved_cost=None if not saved or None in saved else sum(cast("list[Decimal]", saved), Decimal()),
            **self._calls.totals(self._warnings),
        )
        self._calls.set_cost(embeddings)
        return embeddings


def _mixed(lengths: set[int]) -> ServerError:
    shown_lengths = " and ".join(f"{each:,}" for each in sorted(lengths))
    return ServerError(
        f"the vectors have {shown_lengths} dimensions: they are not of one model.",
        hint="If the model has changed, clear the cache: EmbeddingCache(path).clear().",
    )


def _key(item: EmbedItem, salt: bytes) -> bytes:
    content = item if isinstance(item, str) else f"parts {digest(item)}"
    return blake2b(content.encode(), digest_size=16, key=salt).digest()
