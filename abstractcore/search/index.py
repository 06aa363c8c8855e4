"""`Index`: search over files and texts, in one SQLite file."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar, cast

from ..client import llm as llms
from ..concurrency import drive
from ..copying import NotCopied
from ..engine import Pipeline
from ..errors import InvalidInputError
from ..schema.base_error import shown
from ..schema.displays import TableList
from ..tools.tool import Tool
from .adding import Adding, IndexReport, Progress, listed
from .arguments import (
    SearchMode,
    Where,
    allowed_tags,
    check_chunk_tokens,
    check_no_ids,
    check_search,
    checked_items,
    checked_tags,
    files_of,
    given_texts,
)
from .documents import IndexedDocument, VectorStore
from .folders import given_path
from .hits import Hit, hit_of
from .matching import VectorMatrix, fused, numpy
from .store import IndexFile
from .vectors import Embedder

if TYPE_CHECKING:
    from ..embeddings import Embeddings

T = TypeVar("T")
Tags: TypeAlias = "Mapping[str, Sequence[str]] | None"
_MOST_SEARCHES: Final = 10
_CANDIDATES: Final = 60
"""How many hits of each kind are merged, at least."""


class Index(NotCopied):
    """Documents that are searched by meaning and by words: `Index("notes.db", llm)`, with any LLM that has `embed`.

    The file is made if it is missing, readable for its owner only, and has the texts of all documents. Threads,
    processes and event loops may share it; searches find what others have added before. An index of another model, or
    of other settings, is refused with `IndexMismatchError` until `rebuild`.

    `chunk_tokens` is about how many tokens have one vector, at most what the model reads; default 200. `store` keeps
    the vectors elsewhere than in the file: see `VectorStore`. Raises `SearchIndexError` for a file that cannot be used,
    `MissingExtraError` without NumPy, `UnsupportedOptionError` for an LLM that cannot embed.
    """

    _holds = "an open file"
    _instead = "Make another one with the same path and LLM."

    def __init__(
        self,
        path: str | os.PathLike[str],
        llm: llms.LLM,
        *,
        chunk_tokens: int | None = None,
        store: VectorStore | None = None,
    ) -> None:
        if not isinstance(llm, llms.LLM):  # pyright: ignore[reportUnnecessaryIsInstance]
            hint = 'Create one: Index("notes.db", create_llm()).'
            raise InvalidInputError(f"expected an LLM, got {shown(llm)}", path="llm", hint=hint)
        check_chunk_tokens(chunk_tokens)
        if store is None:
            numpy()
        self._store = store
        self._file = IndexFile(path)
        self._embedder = Embedder(llm, self._file, chunk_tokens, in_store=store is not None)
        self._matrix = VectorMatrix(self._file)

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._file.path

    @property
    def llm(self) -> llms.LLM:
        """The model that embeds."""
        return self._embedder.llm

    @staticmethod
    def model_of(path: str | os.PathLike[str]) -> str | None:
        """Returns the provider and the model of the vectors in the file of an index, as "local/all-minilm-l6-v2"; None
        for one without vectors, or a file that does not exist. Blocks. Raises `SearchIndexError`.
        """
        if not os.path.exists(path):
            return None
        file = IndexFile(path)
        try:
            return file.settings().get("model")
        finally:
            file.close()

    def add(
        self,
        source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        ids: Sequence[str] | None = None,
        tags: Mapping[str, str] | None = None,
        on_progress: Progress | None = None,
    ) -> IndexReport:
        """Adds a folder with what is below it, a file, a list of `Path` objects, or a list of texts.

        Any file that `generate(media=[...])` reads as text: documents, tables, recordings, videos, pictures with text
        or with a `vision_model`. Files that have not changed are left as they are; of a folder that is added again, the
        files that are gone are removed. Names that begin with a dot are left out. A file that cannot be read is in
        `report.failed` with the reason, and is tried again the next time. `ids` are those of texts; by default the hash
        of the text. `tags` are names with values, for `where` of searches; without them, documents that are there keep
        theirs.

        Documents are written as they are embedded, so that an interrupted call goes on when it is made again.
        `on_progress` is called with the number of documents that are done, of all, and a name. Raises errors of `embed`
        with what is written already kept, `InvalidInputError` for a path that does not exist.
        """
        return self._drive(lambda pipeline: self._add(pipeline, source, ids, tags, on_progress))

    async def aadd(
        self,
        source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        ids: Sequence[str] | None = None,
        tags: Mapping[str, str] | None = None,
        on_progress: Progress | None = None,
    ) -> IndexReport:
        """The async version of `add`."""
        return await self._add(self.llm.pipeline(sync=False), source, ids, tags, on_progress)

    def search(self, query: str, k: int = 5, *, where: Where | None = None, mode: SearchMode = "both") -> list[Hit]:
        """Returns up to `k` parts of documents that answer the query, the best first.

        They are found by the cosine of vectors, compared with all, and by words (BM25); both rankings are merged by
        reciprocal rank. `mode` takes "meaning" or "words" alone, the latter without a call of the model. `where` takes
        documents with these tags only: `{"team": "sales"}`, or one of several values, `{"team": ["sales", "support"]}`.

        `hit.score` is from 0 to 1: the share of the score that the first place of all rankings has; with "meaning"
        it is the cosine. Raises `IndexMismatchError` for an index of another model, and as `embed` does.
        """
        return self._drive(lambda pipeline: self._search(pipeline, query, k, where, mode))

    async def asearch(
        self, query: str, k: int = 5, *, where: Where | None = None, mode: SearchMode = "both"
    ) -> list[Hit]:
        """The async version of `search`."""
        return await self._search(self.llm.pipeline(sync=False), query, k, where, mode)

    def remove(self, ids: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> int:
        """Removes documents by their ids, which are paths for files; returns how many there were. Blocks."""
        given = [ids] if isinstance(ids, str | os.PathLike) else checked_items(ids, "ids")
        names = [each if isinstance(each, str) else os.path.abspath(each) for each in given]
        absolute = [os.path.abspath(each) for each in names if "\0" not in each]
        return self._file.remove([*dict.fromkeys([*names, *absolute])], self._store)

    def documents(self) -> list[IndexedDocument]:
        """Returns all documents, also files that could not be read, each with the reason. Blocks."""
        return self._file.documents()

    def rebuild(
        self, llm: llms.LLM | None = None, *, chunk_tokens: int | None = None, on_progress: Progress | None = None
    ) -> IndexReport:
        """Divides and embeds all documents anew, with another model or another length of chunks. Files are not read
        again. Searches find the old vectors until all new ones are there; what others add or remove meanwhile is kept.
        """
        return self._drive(lambda pipeline: self._rebuild(pipeline, llm, chunk_tokens, on_progress), llm)

    async def arebuild(
        self, llm: llms.LLM | None = None, *, chunk_tokens: int | None = None, on_progress: Progress | None = None
    ) -> IndexReport:
        """The async version of `rebuild`."""
        pipeline = (llm or self.llm).pipeline(sync=False)
        return await self._rebuild(pipeline, llm, chunk_tokens, on_progress)

    def as_tool(self, *, name: str = "search_documents", k: int = 5) -> Tool[..., Any]:
        """Returns a tool that searches, for `generate(tools=[...], run_tools=True)`: the model gets parts of documents
        with their places. It changes nothing. `k` is how many parts a search returns.
        """

        def search(query: str) -> str:
            """Searches the user's documents, and returns the parts that answer the query best, with their places.

            Args:
                query: What to look for: a question, or words.
            """
            hits = self.search(query, k)
            return "\n\n".join(f"[{hit.where}]\n{hit.text}" for hit in hits) or "Nothing was found."

        return Tool(search, name=name, read_only=True)

    def close(self) -> None:
        """Closes the file; the LLM stays open."""
        self._file.close()

    def __len__(self) -> int:
        """The number of documents."""
        return self._file.count()[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Index({str(self.path)!r}, {self.llm!r})"

    def _drive(self, make: Callable[[Pipeline], Coroutine[Any, Any, T]], llm: llms.LLM | None = None) -> T:
        return drive(make((llm or self.llm).pipeline(sync=True)))

    async def _add(
        self,
        pipeline: Pipeline,
        source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        ids: Sequence[str] | None,
        tags: Mapping[str, str] | None,
        on_progress: Progress | None,
    ) -> IndexReport:
        given = None if tags is None else checked_tags(tags)
        await pipeline.runtime.call(self._file.delete_left_files, kind="files")
        adding = self._adding(pipeline, self._embedder, self._file, on_progress, IndexReport())
        if isinstance(source, str | os.PathLike):
            check_no_ids(ids)
            path = given_path(source, "source")
            if path.is_dir():
                found = await pipeline.runtime.call(listed, path, self._file.owns, adding.report, kind="files")
                await adding.files(found, given, folder=str(path))
            else:
                await adding.files(files_of([path], adding.report), given, folder=None)
            return adding.report
        items = checked_items(source, "source")
        if all(isinstance(each, str) for each in items):
            await adding.texts(given_texts(cast("Sequence[str]", items), ids), given)
            return adding.report
        check_no_ids(ids)
        paths = [given_path(each, f"source[{index}]") for index, each in enumerate(items)]
        await adding.files(files_of(paths, adding.report), given, folder=None)
        return adding.report

    def _adding(
        self,
        pipeline: Pipeline,
        embedder: Embedder,
        file: IndexFile,
        on_progress: Progress | None,
        report: IndexReport,
    ) -> Adding:
        store = self._store if file is self._file else None
        return Adding(file, store, embedder, pipeline, on_progress, report)

    async def _search(self, pipeline: Pipeline, query: str, k: int, where: Where | None, mode: SearchMode) -> list[Hit]:
        check_search(query, k, mode)
        tags = None if where is None else allowed_tags(where)
        call, embedded = pipeline.runtime.call, None
        if mode != "words" and (await call(self._file.count, kind="files"))[1]:
            embedded = await self._embedder.embed([query], "query", pipeline)
        return await call(self._found, query, embedded, k, tags, mode, kind="files")

    def _found(self, query: str, embedded: Embeddings | None, k: int, tags: Tags, mode: SearchMode) -> list[Hit]:
        """Returns the hits. If chunks are removed while it is searched, as by a process that embeds all anew, it is
        searched again.
        """
        hits: list[Hit] = []
        for _ in range(_MOST_SEARCHES):
            revision = self._file.revision()
            best, similarity = self._best(query, embedded, k, tags, mode)
            hits = self._hits(query, best, similarity)
            if len(hits) == len(best) or self._file.revision() == revision:
                break
        return TableList(hits)

    def _best(
        self, query: str, embedded: Embeddings | None, k: int, tags: Tags, mode: SearchMode
    ) -> tuple[list[tuple[int, float]], Mapping[int, float]]:
        """Returns the numbers and scores of the best chunks, and the similarities of those found by their vectors."""
        most = max(_CANDIDATES, 4 * k)
        near = [] if embedded is None else self._nearest(embedded, most, tags)
        if mode == "meaning":
            return near[:k], dict(near)
        rankings = [self._file.with_words(query, most, tags)]
        if mode == "both":
            rankings.insert(0, [number for number, _ in near])
        return fused(rankings, k), dict(near)

    def _nearest(self, query: Embeddings, most: int, tags: Tags) -> list[tuple[int, float]]:
        among = None if tags is None else self._file.numbers(tags)
        found = list((self._matrix if self._store is None else self._store).nearest(query.data, most, among))
        self._embedder.check(query)  # again: another process may have embedded all anew meanwhile
        return found

    def _hits(self, query: str, best: Sequence[tuple[int, float]], similarity: Mapping[int, float]) -> list[Hit]:
        chunks = self._file.chunks([number for number, _ in best])
        texts = {document: self._file.text(document) for document in {each.document for each in chunks.values()}}
        hits: list[Hit] = []
        for number, score in best:
            stored = chunks.get(number)
            text = None if stored is None else texts[stored.document]
            if stored is not None and text is not None:
                hits.append(hit_of(stored, text, query, score, similarity.get(number)))
        return hits

    async def _rebuild(
        self, pipeline: Pipeline, llm: llms.LLM | None, chunk_tokens: int | None, on_progress: Progress | None
    ) -> IndexReport:
        check_chunk_tokens(chunk_tokens)
        report = IndexReport()
        await pipeline.runtime.call(self._file.delete_left_files, kind="files")
        new = self._file.new_file()  # in no worker thread, which would make it after the call was cancelled
        try:
            tokens = chunk_tokens or self._embedder.given_chunk_tokens
            embedder = Embedder(llm or self.llm, new, tokens, in_store=False)
            place, call = {"place": self._embedder.place}, pipeline.runtime.call
            while not await call(self._file.take, new, place, self._store, kind="files"):
                numbers = await call(self._file.missing_in, new, kind="files")
                await self._adding(pipeline, embedder, new, on_progress, report).stored(self._file, numbers)
        finally:
            new.delete()
        self._embedder = Embedder(llm or self.llm, self._file, None, in_store=self._store is not None)
        return report
