"""`Index`: search over files and texts, in one SQLite file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeAlias, TypeVar, cast, get_args
from uuid import uuid4

from ..client import llm as llms
from ..concurrency import drive
from ..copying import NotCopied
from ..engine import Pipeline
from ..errors import InvalidInputError
from ..schema import SchemaError, Vectors
from ..schema.base_error import shown
from ..schema.calls import labels
from ..schema.json_values import check_text
from ..tools.tool import Tool
from .adding import Adding, GivenText, IndexReport, Progress, listed
from .folders import FoundFile, found_file, given_path
from .hits import Hit, hit_of
from .matching import VectorMatrix, fused, numpy
from .store import IndexedDocument, IndexFile, VectorStore
from .vectors import Embedder

T = TypeVar("T")
SearchMode: TypeAlias = Literal["both", "meaning", "words"]
"""How is searched: by vectors, by words, or by both."""
Where: TypeAlias = Mapping[str, "str | Sequence[str]"]
_LEAST_CHUNK_TOKENS: Final = 16
_MODES: Final = get_args(SearchMode)
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
        _check_chunk_tokens(chunk_tokens)
        if store is None:
            numpy()
        self._store = store
        self._file = IndexFile(path)
        self._embedder = Embedder(llm, self._file, chunk_tokens)
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
        of the text. `tags` are names with values, for `where` of searches.

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
        given = [ids] if isinstance(ids, str | os.PathLike) else ids
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
        again. Searches find the old vectors until all new ones are there.
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
        with their places. It changes nothing.
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
        given = None if tags is None else _checked_tags(tags)
        adding = self._adding(pipeline, self._embedder, self._file, on_progress, IndexReport())
        if isinstance(source, str | os.PathLike):
            _no_ids(ids)
            path = given_path(source, "source")
            if path.is_dir():
                found = await pipeline.runtime.call(listed, path, self._own_files(), adding.report, kind="files")
                await adding.files(found, given, folder=str(path))
            else:
                await adding.files(_of_paths([path], adding.report), given, folder=None)
            return adding.report
        items = _items(source)
        if all(isinstance(each, str) for each in items):
            await adding.texts(_texts(cast("Sequence[str]", items), ids, given or {}))
            return adding.report
        _no_ids(ids)
        paths = [given_path(each, f"source[{index}]") for index, each in enumerate(items)]
        await adding.files(_of_paths(paths, adding.report), given, folder=None)
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

    def _own_files(self) -> list[Path]:
        path = str(self.path)
        return [Path(f"{path}{ending}") for ending in ("", "-wal", "-shm", "-journal")]

    async def _search(self, pipeline: Pipeline, query: str, k: int, where: Where | None, mode: SearchMode) -> list[Hit]:
        _check_search(query, k, mode)
        tags = None if where is None else _allowed(where)
        call, most = pipeline.runtime.call, max(_CANDIDATES, 4 * k)
        near: list[tuple[int, float]] = []
        having: list[int] = []
        if mode != "words" and (await call(self._file.count, kind="files"))[1]:
            embedded = await self._embedder.embed([query], "query", pipeline)
            near = await call(self._nearest, embedded.data, most, tags, kind="files")
        if mode != "meaning":
            having = await call(self._file.with_words, query, most, tags, kind="files")
        similarity = dict(near)
        if mode == "both":
            best = fused([[number for number, _ in near], having], k)
        elif mode == "words":
            best = fused([having], k)
        else:
            best = near[:k]
        return await call(self._hits, query, best, similarity, kind="files")

    def _nearest(self, vector: Vectors, most: int, tags: Mapping[str, Sequence[str]] | None) -> list[tuple[int, float]]:
        among = None if tags is None else self._file.numbers(tags)
        return list((self._store or self._matrix).nearest(vector, most, among))

    def _hits(self, query: str, best: Sequence[tuple[int, float]], similarity: Mapping[int, float]) -> list[Hit]:
        chunks = self._file.chunks([number for number, _ in best])
        texts = {each.document: self._file.text(each.document) for each in chunks.values()}
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
        _check_chunk_tokens(chunk_tokens)
        report = IndexReport()
        path = self.path.with_name(f"{self.path.name}.new-{uuid4().hex[:8]}")
        new = IndexFile(path)
        try:
            embedder = Embedder(llm or self.llm, new, chunk_tokens or self._embedder.given_chunk_tokens)
            call = pipeline.runtime.call
            while not await call(self._file.take, new, self._store, kind="files"):
                stored = await call(self._file.missing_in, new, kind="files")
                adding = self._adding(pipeline, embedder, new, on_progress, report)
                await adding.stored(self._file.stored(stored), len(stored))
        finally:
            new.delete()
        self._embedder = Embedder(llm or self.llm, self._file, None)
        return report


def _check_chunk_tokens(tokens: int | None) -> None:
    if tokens is not None and (type(tokens) is not int or tokens < _LEAST_CHUNK_TOKENS):
        message = f"expected an integer of at least {_LEAST_CHUNK_TOKENS}, got {shown(tokens)}"
        raise InvalidInputError(message, path="chunk_tokens")


def _no_ids(ids: object) -> None:
    if ids is not None:
        raise InvalidInputError("is for texts: the id of a file is its path", path="ids")


def _items(source: object) -> Sequence[str | os.PathLike[str]]:
    if not isinstance(source, Sequence) or isinstance(source, bytes | bytearray):
        raise InvalidInputError(f"expected a path or a list, got {shown(source)}", path="source")
    items = cast("Sequence[Any]", source)
    for index, each in enumerate(items):
        if not isinstance(each, str | os.PathLike):
            raise InvalidInputError(f"expected a text or a Path, got {shown(each)}", path=f"source[{index}]")
    return items


def _texts(texts: Sequence[str], ids: Sequence[str] | None, tags: Mapping[str, str]) -> list[GivenText]:
    """Returns texts with their ids; raises `InvalidInputError` for ids that do not fit, and for paths."""
    if ids is None and texts and all(_is_file(text) for text in texts):
        hint = "Pass Path objects for files: index.add([Path(...), ...]). With ids=[...] they are texts."
        raise InvalidInputError(
            "these are names of files, and a list of str is a list of texts", path="source", hint=hint
        )
    if ids is not None and (isinstance(ids, str) or len(ids) != len(texts)):
        raise InvalidInputError(f"expected {len(texts)} ids, got {shown(ids)}", path="ids")
    made: dict[str, GivenText] = {}
    for index, text in enumerate(texts):
        try:
            check_text(text, f"source[{index}]")
            id = (
                hashlib.sha256(text.encode()).hexdigest()[:16]
                if ids is None
                else check_text(ids[index], f"ids[{index}]")
            )
        except SchemaError as error:
            raise InvalidInputError(error.message, path=error.path) from None
        if not text.strip():
            raise InvalidInputError("the text is empty", path=f"source[{index}]")
        if ids is not None and id in made:
            raise InvalidInputError(f"the id {shown(id)} occurs twice", path=f"ids[{index}]")
        made[id] = GivenText(id, text, tags)
    return list(made.values())


def _is_file(text: str) -> bool:
    try:
        return len(text) < 1000 and os.path.isfile(text)
    except ValueError:
        return False


def _of_paths(paths: Sequence[Path], report: IndexReport) -> list[FoundFile]:
    found: list[FoundFile] = []
    for path in paths:
        try:
            file = found_file(str(path), path.name)
        except OSError as error:
            report.failed[str(path)] = error.strerror or str(error)
            continue
        if file is None:
            report.failed[str(path)] = "it is no file"
        else:
            found.append(file)
    return found


def _checked_tags(tags: Mapping[str, str]) -> Mapping[str, str]:
    try:
        return cast("Mapping[str, str]", labels(tags, "tags"))
    except SchemaError as error:
        raise InvalidInputError(error.message, path=error.path) from None


def _allowed(where: Where) -> dict[str, Sequence[str]]:
    """Returns the values that each tag may have; raises `InvalidInputError` for anything else."""
    if not isinstance(where, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a mapping of tags, got {shown(where)}", path="where")
    allowed: dict[str, Sequence[str]] = {}
    for name, value in where.items():
        several: Any = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value  # pyright: ignore[reportUnnecessaryIsInstance]
        values: list[Any] = list(several)
        if not all(isinstance(each, str) for each in (name, *values)):
            raise InvalidInputError(f"expected texts, got {shown(value)}", path=f"where[{name!r}]")
        allowed[name] = values
    return allowed


def _check_search(query: object, k: object, mode: object) -> None:
    if not isinstance(query, str) or not query.strip():
        raise InvalidInputError(f"expected a question or words, got {shown(query)}", path="query")
    if type(k) is not int or not 1 <= k <= 1000:
        raise InvalidInputError(f"expected an integer from 1 to 1000, got {shown(k)}", path="k")
    if mode not in _MODES:
        raise InvalidInputError(f"expected one of {', '.join(_MODES)}, got {shown(mode)}", path="mode")
