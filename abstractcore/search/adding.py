"""`Adding`: documents read, divided, embedded and written; written once for sync and async calls."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from ..engine import Pipeline
from ..errors import (
    AbstractCoreError,
    BadRequestError,
    ContentFilterError,
    InvalidInputError,
    MediaError,
    ProviderError,
)
from ..ports import Conversion
from ..schema import CallProgress, CostSums, MediaPart, Usage, Vectors
from ..schema.reprs import ShortRepr
from .chunks import Chunk, chunks_of, halves
from .documents import FileState, NewDocument, VectorStore
from .folders import FoundFile, file_hash, files_in, found_file
from .store import IndexFile
from .vectors import Embedder

if TYPE_CHECKING:
    from ..embeddings import Embeddings

Progress: TypeAlias = Callable[[CallProgress], object]
"""Is called before each document: `what` is its name, `done` the number of documents before it, `total` that of all.
While a long one is embedded, it is called again: `what` then says how many of its parts are done.
"""
T = TypeVar("T")
_AT_ONCE: Final = 256
"""Chunks that are embedded together, and then written."""
_MOST_AT_ONCE: Final = 1_024
"""Chunks of a long document that are embedded together: more would need more memory."""


@dataclass(slots=True)
class IndexReport(ShortRepr):
    """What became of documents. `added`, `changed`, `unchanged` and `removed` are their ids, paths of files;
    `failed` has those that are not found, each with the reason; `shortened` those with parts that are longer than the
    model reads, whose vectors are of their beginnings. `chunks` were embedded, with `usage` and `cost`.
    """

    added: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])
    unchanged: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    shortened: list[str] = field(default_factory=list[str])
    chunks: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: CostSums = field(default_factory=CostSums)

    def __str__(self) -> str:
        counts = [("added", self.added), ("changed", self.changed), ("unchanged", self.unchanged)]
        counts += [("removed", self.removed), ("not read", list(self.failed))]
        return ", ".join(f"{len(ids):,} {name}" for name, ids in counts if ids) or "nothing to add"


class _FileChangedError(MediaError):
    """A file was written while it was read."""


class GivenText(NamedTuple):
    """A text that is added as such."""

    id: str
    text: str


class Adding:
    """One call of `Index.add`. Documents are written when the vectors of all their chunks are there, some together."""

    def __init__(
        self,
        file: IndexFile,
        store: VectorStore | None,
        embedder: Embedder,
        pipeline: Pipeline,
        on_progress: Progress | None,
        report: IndexReport,
    ) -> None:
        self.report = report
        self._file = file
        self._store = store
        self._embedder = embedder
        self._pipeline = pipeline
        self._runtime = pipeline.runtime
        self._loader = embedder.llm.media_loader()
        self._on_progress = on_progress
        self._waiting: list[NewDocument] = []
        self._new: set[str] = set()
        self._has_written = False
        self._done = self._total = 0
        self._settings: Mapping[str, str] = {}

    async def files(self, files: Sequence[FoundFile], tags: Mapping[str, str] | None, *, folder: str | None) -> None:
        """Adds files; of a `folder` that they are all of, those that are there no more are removed. Without `tags`,
        those that are there keep theirs.
        """
        known = await self._blocking(self._file.states, [found.path for found in files])
        for done, found in enumerate(files):
            self._show(done, len(files), found.name)
            state = known.get(found.path)
            if await self._has_changed(found, state):
                await self._add_file(found, state, tags)
                continue
            if tags is not None:
                await self._blocking(self._file.retag, found.path, tags)
            if state is None or state.problem is None:
                self.report.unchanged.append(found.path)
            else:
                self.report.failed[found.path] = state.problem
        await self._flush()
        self._show(len(files), len(files), "")
        if folder is not None:
            await self._blocking(self._remove_gone, {found.path for found in files}, folder)

    def _remove_gone(self, there: Set[str], folder: str) -> None:
        """Removes the files below a folder that are not there, unless they are where nothing could be read."""

        def is_unread(path: str) -> bool:
            parent = os.path.dirname(path)
            return path in self.report.failed or (parent != path and is_unread(parent))

        gone = [id for id in self._file.states(below=folder) if id not in there and not is_unread(id)]
        if gone:
            self._file.remove(gone, self._store)
            self.report.removed += gone

    async def texts(self, texts: Sequence[GivenText], tags: Mapping[str, str] | None) -> None:
        """Adds texts. Without `tags`, those that are there keep theirs."""
        known = await self._blocking(self._file.states, [text.id for text in texts])
        for done, given in enumerate(texts):
            self._show(done, len(texts), given.id)
            sha256 = hashlib.sha256(given.text.encode()).hexdigest()
            state = known.get(given.id)
            if state is not None and state.sha256 == sha256:
                if tags is not None:
                    await self._blocking(self._file.retag, given.id, tags)
                self.report.unchanged.append(given.id)
                continue
            await self._add(NewDocument(given.id, given.id, sha256, given.text, tags=tags), state)
        await self._flush()
        self._show(len(texts), len(texts), "")

    async def stored(self, file: IndexFile, numbers: Sequence[int]) -> None:
        """Adds documents of an index anew, with the texts that it has."""
        for done, number in enumerate(numbers):
            document = await self._blocking(file.stored, number)
            if document is None:
                continue
            self._show(done, len(numbers), document.name)
            if document.problem is None:
                await self._add(document, None)
            else:
                await self._write([document], None)
        await self._flush()

    async def _has_changed(self, found: FoundFile, state: FileState | None) -> bool:
        """Whether a file is not in the index as it is now."""
        if state is None or not state.sha256:
            return True
        if (state.size, state.modified) == (found.size, found.modified):
            return False
        try:
            sha256 = await self._blocking(file_hash, found.path)
        except OSError:  # which reading it reports
            return True
        if state.sha256 == sha256:
            await self._blocking(self._file.touch, found.path, found.size, found.modified)
        return state.sha256 != sha256

    async def _add_file(self, found: FoundFile, state: FileState | None, tags: Mapping[str, str] | None) -> None:
        """Adds a file, or notes why it is not found; what was read of it before is then removed. One that may be read
        another time, as when a package is installed, is noted without its hash.
        """
        document = NewDocument(found.path, found.name, "", size=found.size, modified=found.modified, tags=tags)
        try:
            document.sha256 = await self._blocking(file_hash, found.path)
            read = await self._read(found, document.sha256)
            document.text, document.anchors = read.text, read.anchors
            document.problem = None if read.text.strip() else "it has no text"
        except OSError as error:
            document.sha256, document.problem = "", error.strerror or str(error)
        except (BadRequestError, ContentFilterError) as error:  # of this file, such as a picture that is too small
            document.sha256, document.problem = "", error.message
        except (ProviderError, InvalidInputError):
            raise  # of the model that reads it, such as a wrong key: the next files would fail too
        except AbstractCoreError as error:
            document.problem = error.message
            if not isinstance(error, MediaError) or isinstance(error, _FileChangedError):
                document.sha256 = ""
        if document.problem is None:
            await self._add(document, state)
        else:
            self.report.failed[found.path] = document.problem
            await self._write([document], None)

    async def _read(self, found: FoundFile, sha256: str) -> Conversion:
        """Returns the text of a file. Raises `MediaError` if it has none, `_FileChangedError` if it was written."""
        part = await self._blocking(self._loader.load_one, Path(found.path), found.name)
        read = await self._text_of(part)
        after = await self._blocking(found_file, found.path, found.name)
        if after != found and await self._blocking(file_hash, found.path) != sha256:
            raise _FileChangedError("it changed while it was read", source=found.name)
        return read

    async def _text_of(self, part: MediaPart) -> Conversion:
        files = self._pipeline.files
        try:
            return await files.extract_text(part, self._runtime)
        except ProviderError:
            raise
        except MediaError:
            # Without a model that describes pictures, what is written or said in them is their text.
            return await files.extract_text(part, self._runtime, words_only=True)

    async def _add(self, document: NewDocument, state: FileState | None) -> None:
        tokens = await self._blocking(self._embedder.chunk_tokens)
        document.chunks = await self._blocking(chunks_of, document.text, document.anchors, tokens)
        self._waiting.append(document)
        if state is None:
            self._new.add(document.id)
        # The first one alone: a model that cannot embed is to fail before hours of recordings are transcribed.
        if not self._has_written or sum(max(1, len(each.chunks)) for each in self._waiting) >= _AT_ONCE:
            await self._flush()

    async def _flush(self) -> None:
        """Embeds and writes the documents that wait."""
        documents, self._waiting = self._waiting, []
        if not documents:
            return
        await self._write(documents, await self._embed(documents))
        self._has_written = True
        for document in documents:
            (self.report.added if document.id in self._new else self.report.changed).append(document.id)

    async def _write(self, documents: Sequence[NewDocument], vectors: Vectors | None) -> None:
        await self._blocking(self._file.write, documents, vectors, self._settings, self._store)

    async def _embed(self, documents: Sequence[NewDocument]) -> Vectors | None:
        """Returns the vectors of all chunks, one after the other; chunks that the model would cut are divided."""
        waiting = [(document, chunk) for document in documents for chunk in document.chunks]
        if not waiting:
            return None
        vectors: dict[str, dict[Chunk, bytes]] = {document.id: {} for document in documents}
        total, dimensions = len(waiting), 1
        while waiting:
            part, waiting = waiting[:_MOST_AT_ONCE], waiting[_MOST_AT_ONCE:]
            embedded = await self._embed_part(part)
            dimensions = embedded.dimensions
            waiting += self._keep(part, embedded, vectors)
            if waiting:
                name = f"{documents[-1].name}, {total - len(waiting):,} of {total:,} parts"
                self._show(self._done, self._total, name)
        for document in documents:
            document.chunks = sorted(vectors[document.id], key=lambda chunk: chunk.start)
        return Vectors(b"".join(vectors[each.id][chunk] for each in documents for chunk in each.chunks), dimensions)

    async def _embed_part(self, part: Sequence[tuple[NewDocument, Chunk]]) -> Embeddings:
        """Returns the vectors of some chunks, and counts them."""
        texts = [chunk.words(document.text) for document, chunk in part]
        embedded = await self._embedder.embed(texts, "document", self._pipeline)
        self._settings = await self._blocking(self._embedder.new_settings, embedded)
        self.report.usage += embedded.usage
        self.report.cost += embedded.costs
        self.report.chunks += len(texts)
        return embedded

    def _keep(
        self,
        part: Sequence[tuple[NewDocument, Chunk]],
        embedded: Embeddings,
        vectors: Mapping[str, dict[Chunk, bytes]],
    ) -> list[tuple[NewDocument, Chunk]]:
        """Keeps the vectors of chunks, and returns the halves of those that the model has cut."""
        size, cut = 4 * embedded.dimensions, {*embedded.truncated}
        longer: list[tuple[NewDocument, Chunk]] = []
        for place, (document, chunk) in enumerate(part):
            two = halves(document.text, chunk) if place in cut else None
            if two is not None:
                longer += [(document, each) for each in two]
                continue
            if place in cut and document.id not in self.report.shortened:
                self.report.shortened.append(document.id)
            vectors[document.id][chunk] = embedded.data.data[place * size : (place + 1) * size]
        return longer

    def _show(self, done: int, total: int, name: str) -> None:
        self._done, self._total = done, total
        if self._on_progress is not None:
            self._on_progress(CallProgress(done, total, name))

    async def _blocking(self, function: Callable[..., T], *arguments: object) -> T:
        return await self._runtime.call(function, *arguments, kind="files")


def listed(folder: Path, is_left_out: Callable[[str], bool], report: IndexReport) -> list[FoundFile]:
    """Returns the files of a folder but those left out; those that cannot be read are noted in the report."""

    def fail(path: str, problem: str) -> None:
        report.failed[path] = problem

    return list(files_in(folder, is_left_out, fail))
