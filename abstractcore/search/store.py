"""`IndexFile`: the documents of an index, their chunks, words and vectors, in one SQLite file.

`VectorStore`: the port for vectors that are kept elsewhere.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, cast

from ..errors import SearchIndexError
from ..schema import EMPTY, MediaAnchor, Vectors, from_data, to_data
from ..stores.sqlite_files import Connection, SQLiteFile, SQLiteFileKind
from .chunks import Chunk

_TABLES: Final = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE revision (number INTEGER NOT NULL);
INSERT INTO revision VALUES (0);
CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    size INTEGER, modified INTEGER, sha256 TEXT NOT NULL, text BLOB NOT NULL, anchors BLOB NOT NULL, problem TEXT
);
CREATE TABLE tags (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (document, name)
) WITHOUT ROWID;
CREATE INDEX tags_by_value ON tags (name, value);
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    start INTEGER NOT NULL, stop INTEGER NOT NULL, context TEXT NOT NULL, vector BLOB
);
CREATE INDEX chunks_by_document ON chunks (document);
CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')
"""
_REPAIR: Final = "Give the path of another file, or remove this one and make the index anew."
_KIND: Final = SQLiteFileKind("index", 0x41434931, 1, _TABLES, SearchIndexError, _REPAIR)
_COLUMNS: Final = "id, name, sha256, text, anchors, size, modified, problem"
_WORD: Final = re.compile(r"\w+")
_MOST_WORDS: Final = 64


class VectorStore(Protocol):
    """Keeps the vectors of chunks by their numbers, which are never used twice. Its methods may be called from any
    thread, and block.
    """

    def put(self, numbers: Sequence[int], vectors: Vectors) -> None:
        """Keeps vectors, in place of others with the same numbers."""
        ...

    def remove(self, numbers: Sequence[int]) -> None:
        """Removes vectors; numbers that it does not have are ignored."""
        ...

    def nearest(self, vector: Vectors, most: int, among: Sequence[int] | None) -> Sequence[tuple[int, float]]:
        """Returns the numbers of up to `most` vectors with the largest inner product with the one in `vector`, and that
        product, the largest first; with `among`, of these numbers only.
        """
        ...


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document of an index. `id` is the path of a file, or the id of a text. `problem` says why a file is not found:
    its text could not be read; None for all others.
    """

    id: str
    name: str
    is_file: bool
    chunks: int
    tags: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    problem: str | None = None


class FileState(NamedTuple):
    """What is known of a file, to tell whether it has changed: its size, the time of its change and its hash, which is
    empty if the file is to be read again.
    """

    size: int
    modified: int
    sha256: str
    problem: str | None


@dataclass(slots=True)
class NewDocument:
    """A document to write: its text, with the places of its pieces in the file, and its chunks."""

    id: str
    name: str
    sha256: str
    text: str = ""
    anchors: Sequence[MediaAnchor] = ()
    chunks: Sequence[Chunk] = ()
    size: int | None = None
    modified: int | None = None
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    problem: str | None = None


class StoredChunk(NamedTuple):
    """A chunk with its document."""

    number: int
    chunk: Chunk
    document: int
    id: str
    name: str
    is_file: bool
    tags: Mapping[str, str]


class DocumentText(NamedTuple):
    """The text of a document, and the places of its pieces in the file."""

    text: str
    anchors: Sequence[MediaAnchor]


class IndexFile:
    """The file of an index. Several threads and processes may use it at once: a document is written as a whole."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = SQLiteFile(path, _KIND)
        self.path = self._file.path

    def settings(self) -> dict[str, str]:
        """Returns what the vectors were made with; empty for an index without vectors."""
        with self._file.reading() as connection:
            return dict(connection.execute("SELECT name, value FROM settings"))

    def set_settings(self, settings: Mapping[str, str]) -> None:
        """Notes what the vectors are made with."""
        with self._file.writing() as connection:
            connection.execute("DELETE FROM settings")
            connection.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())

    def states(self, ids: Sequence[str] | None = None, *, below: str | None = None) -> dict[str, FileState]:
        """Returns what is known of documents, by their ids: of all, of those named, or of files below a folder."""
        query = "SELECT id, size, modified, sha256, problem FROM documents"
        with self._file.reading() as connection:
            if ids is not None:
                query += " WHERE id IN (SELECT value FROM json_each(?))"
                rows = connection.execute(query, (json.dumps(list(ids)),)).fetchall()
            elif below is not None:
                prefix = os.path.join(below, "")
                query += " WHERE size IS NOT NULL AND substr(id, 1, ?) = ?"
                rows = connection.execute(query, (len(prefix), prefix)).fetchall()
            else:
                rows = connection.execute(query).fetchall()
        return {id: FileState(*state) for id, *state in rows}

    def write(self, documents: Sequence[NewDocument], vectors: Vectors | None, store: VectorStore | None) -> None:
        """Writes documents in one transaction, in place of those with the same ids; `vectors` are those of all their
        chunks, one after the other. With a `store` they are put there.
        """
        place = 0
        with self._changing() as connection:
            for document in documents:
                removed = self._remove(connection, [document.id])
                if store is not None and removed:
                    store.remove(removed)
                self._insert(connection, document, vectors, place, store)
                place += len(document.chunks)

    @staticmethod
    def _insert(
        connection: Connection,
        document: NewDocument,
        vectors: Vectors | None,
        place: int,
        store: VectorStore | None,
    ) -> None:
        """Writes a document; the vectors of its chunks begin at `place`."""
        text, anchors = _packed(document.text), _packed(_anchor_data(document.anchors))
        values = (document.id, document.name, document.sha256, text, anchors)
        values += (document.size, document.modified, document.problem)
        row = connection.execute(
            f"INSERT INTO documents ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values
        ).lastrowid
        tags = [(row, *tag) for tag in document.tags.items()]
        connection.executemany("INSERT INTO tags VALUES (?, ?, ?)", tags)
        if vectors is None:
            return
        size = 4 * vectors.dimensions
        own = vectors.data[place * size : (place + len(document.chunks)) * size]
        numbers: list[int] = []
        for index, chunk in enumerate(document.chunks):
            vector = own[index * size : (index + 1) * size] if store is None else None
            number = connection.execute(
                "INSERT INTO chunks (document, start, stop, context, vector) VALUES (?, ?, ?, ?, ?)",
                (row, chunk.start, chunk.end, chunk.context, vector),
            ).lastrowid
            numbers.append(cast("int", number))
            words = (number, chunk.words(document.text))
            connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", words)
        if store is not None and numbers:
            store.put(numbers, Vectors(own, vectors.dimensions))

    def touch(self, id: str, size: int, modified: int) -> None:
        """Notes the size and the time of a file whose content is the same."""
        with self._file.writing() as connection:
            connection.execute("UPDATE documents SET size = ?, modified = ? WHERE id = ?", (size, modified, id))

    def retag(self, id: str, tags: Mapping[str, str]) -> None:
        """Sets the tags of a document."""
        with self._file.writing() as connection:
            row = connection.execute("SELECT number FROM documents WHERE id = ?", (id,)).fetchone()
            if row is not None:
                connection.execute("DELETE FROM tags WHERE document = ?", row)
                connection.executemany("INSERT INTO tags VALUES (?, ?, ?)", [(row[0], *tag) for tag in tags.items()])

    def remove(self, ids: Sequence[str], store: VectorStore | None) -> int:
        """Removes documents; returns how many of them there were."""
        with self._changing() as connection:
            before = connection.execute("SELECT count(*) FROM documents").fetchone()[0]
            removed = self._remove(connection, ids)
            if store is not None and removed:
                store.remove(removed)
            return before - connection.execute("SELECT count(*) FROM documents").fetchone()[0]

    @staticmethod
    def _remove(connection: Connection, ids: Sequence[str]) -> list[int]:
        """Removes documents; returns the numbers of their chunks."""
        given = (json.dumps(list(ids)),)
        of = "SELECT number FROM documents WHERE id IN (SELECT value FROM json_each(?))"
        numbers = [row[0] for row in connection.execute(f"SELECT number FROM chunks WHERE document IN ({of})", given)]
        if numbers:
            listed = (json.dumps(numbers),)
            connection.execute("DELETE FROM words WHERE rowid IN (SELECT value FROM json_each(?))", listed)
        connection.execute("DELETE FROM documents WHERE id IN (SELECT value FROM json_each(?))", given)
        return numbers

    def documents(self) -> list[IndexedDocument]:
        """Returns all documents, by their ids."""
        with self._file.reading() as connection:
            rows = connection.execute(
                "SELECT d.number, id, name, size IS NOT NULL, problem, count(c.number) FROM documents d "
                "LEFT JOIN chunks c ON c.document = d.number GROUP BY d.number ORDER BY id"
            ).fetchall()
            tags = _tags(connection.execute("SELECT document, name, value FROM tags"))
        return [
            IndexedDocument(id, name, bool(is_file), chunks, tags.get(number, {}), problem)
            for number, id, name, is_file, problem, chunks in rows
        ]

    def count(self) -> tuple[int, int]:
        """Returns the numbers of documents and of chunks."""
        with self._file.reading() as connection:
            return connection.execute(
                "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks)"
            ).fetchone()

    def numbers(self, tags: Mapping[str, Sequence[str]] | None = None) -> list[int]:
        """Returns the numbers of all chunks, in order; with `tags`, of documents with one of the values of each."""
        condition, values = _having(tags)
        with self._file.reading() as connection:
            return [
                row[0] for row in connection.execute(f"SELECT number FROM chunks{condition} ORDER BY number", values)
            ]

    def vectors(self, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yields the numbers and vectors of the chunks with a number above `after`, in order."""
        with self._file.reading() as connection:
            query = "SELECT number, vector FROM chunks WHERE number > ? AND vector IS NOT NULL ORDER BY number"
            yield from connection.execute(query, (after,))

    def with_words(self, query: str, most: int, tags: Mapping[str, Sequence[str]] | None) -> list[int]:
        """Returns the numbers of up to `most` chunks with words of the query, the best by BM25 first."""
        words = list(dict.fromkeys(_WORD.findall(query.lower())))[:_MOST_WORDS]
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        condition, values = _having(tags)
        among = f" AND rowid IN (SELECT number FROM chunks{condition})" if condition else ""
        with self._file.reading() as connection:
            rows = connection.execute(
                f"SELECT rowid FROM words WHERE words MATCH ?{among} ORDER BY rank LIMIT ?", (match, *values, most)
            )
            return [row[0] for row in rows]

    def chunks(self, numbers: Sequence[int]) -> dict[int, StoredChunk]:
        """Returns chunks by their numbers; those that were removed meanwhile are missing."""
        with self._file.reading() as connection:
            rows = connection.execute(
                "SELECT c.number, start, stop, context, document, id, name, size IS NOT NULL "
                "FROM chunks c JOIN documents d ON d.number = c.document "
                "WHERE c.number IN (SELECT value FROM json_each(?))",
                (json.dumps(list(numbers)),),
            ).fetchall()
            given = json.dumps([row[4] for row in rows])
            query = "SELECT document, name, value FROM tags WHERE document IN (SELECT value FROM json_each(?))"
            tags = _tags(connection.execute(query, (given,)))
        return {
            number: StoredChunk(
                number, Chunk(start, stop, context), document, id, name, bool(is_file), tags.get(document, {})
            )
            for number, start, stop, context, document, id, name, is_file in rows
        }

    def text(self, document: int) -> DocumentText | None:
        """Returns the text of a document by its number; None if it was removed meanwhile."""
        with self._file.reading() as connection:
            row = connection.execute("SELECT text, anchors FROM documents WHERE number = ?", (document,)).fetchone()
        return None if row is None else DocumentText(_unpacked(row[0]), _anchors(_unpacked(row[1])))

    def missing_in(self, other: IndexFile) -> list[str]:
        """Returns the ids of documents that another index has not, or has with another text."""
        have = {id: state.sha256 for id, state in other.states().items()}
        return [id for id, state in self.states().items() if have.get(id) != state.sha256]

    def stored(self, ids: Sequence[str]) -> Iterator[NewDocument]:
        """Yields documents with their texts and without chunks, to be written again."""
        for id in ids:
            with self._file.reading() as connection:
                row = connection.execute(f"SELECT number, {_COLUMNS} FROM documents WHERE id = ?", (id,)).fetchone()
                if row is not None:
                    yield _document(connection, row[0], row[1:])

    def take(self, new: IndexFile, store: VectorStore | None) -> bool:
        """Replaces all that is here by the documents of another index with the same texts, in one transaction; does
        nothing and returns False if their texts are not the same.
        """
        with self._changing() as connection, new._file.reading() as other:
            texts = "SELECT id, sha256 FROM documents ORDER BY id"
            if connection.execute(texts).fetchall() != other.execute(texts).fetchall():
                return False
            removed = self._remove(connection, [id for (id,) in connection.execute("SELECT id FROM documents")])
            if store is not None and removed:
                store.remove(removed)
            connection.execute("DELETE FROM settings")
            rows = other.execute("SELECT name, value FROM settings").fetchall()
            connection.executemany("INSERT INTO settings VALUES (?, ?)", rows)
            for number, *row in other.execute(f"SELECT number, {_COLUMNS} FROM documents ORDER BY number"):
                document = _document(other, number, row)
                chunks = other.execute(
                    "SELECT start, stop, context, vector FROM chunks WHERE document = ? ORDER BY number", (number,)
                ).fetchall()
                document.chunks = [Chunk(*chunk[:3]) for chunk in chunks]
                data = b"".join(chunk[3] for chunk in chunks)
                vectors = Vectors(data, len(chunks[0][3]) // 4) if chunks else None
                self._insert(connection, document, vectors, 0, store)
        return True

    def revision(self) -> int:
        """Returns a number that is another one after each change of the documents."""
        with self._file.reading() as connection:
            return connection.execute("SELECT number FROM revision").fetchone()[0]

    @contextmanager
    def _changing(self) -> Generator[Connection]:
        """A transaction that changes documents."""
        with self._file.writing() as connection:
            connection.execute("UPDATE revision SET number = number + 1")
            yield connection

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def delete(self) -> None:
        """Closes the file, and deletes it."""
        self._file.close()
        for ending in ("", "-wal", "-shm"):
            Path(f"{self.path}{ending}").unlink(missing_ok=True)


def _having(tags: Mapping[str, Sequence[str]] | None) -> tuple[str, list[str]]:
    """Returns the condition that a chunk is of a document with tags, and its values."""
    if not tags:
        return "", []
    one = "document IN (SELECT document FROM tags WHERE name = ? AND value IN (SELECT value FROM json_each(?)))"
    values = [value for name, allowed in tags.items() for value in (name, json.dumps(list(allowed)))]
    return f" WHERE {' AND '.join([one] * len(tags))}", values


def _tags(rows: Any) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    for document, name, value in rows:
        found.setdefault(document, {})[name] = value
    return found


def _document(connection: Connection, number: int, row: Sequence[Any]) -> NewDocument:
    """Returns a document of its `_COLUMNS`, without chunks."""
    id, name, sha256, text, anchors, size, modified, problem = row
    query = "SELECT document, name, value FROM tags WHERE document = ?"
    tags = _tags(connection.execute(query, (number,))).get(number, {})
    texts = _unpacked(text), _anchors(_unpacked(anchors))
    return NewDocument(id, name, sha256, *texts, size=size, modified=modified, tags=tags, problem=problem)


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode(), 6)


def _unpacked(data: bytes) -> str:
    return zlib.decompress(data).decode()


def _anchor_data(anchors: Sequence[MediaAnchor]) -> str:
    return json.dumps([to_data(anchor) for anchor in anchors])


def _anchors(text: str) -> list[MediaAnchor]:
    return [from_data(MediaAnchor, each) for each in json.loads(text)]
