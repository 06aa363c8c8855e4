"""`IndexFile`: the documents of an index, their chunks, words and vectors, in one SQLite file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any, Final, cast
from uuid import uuid4

from ..errors import IndexMismatchError, SearchIndexError
from ..schema import Vectors
from ..stores.sqlite_files import Connection, SQLiteFile, SQLiteFileKind
from .chunks import Chunk
from .documents import (
    DocumentText,
    FileState,
    IndexedDocument,
    NewDocument,
    StoredChunk,
    VectorStore,
    anchor_data,
    anchors_of,
    packed,
    unpacked,
)

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
_KIND: Final = SQLiteFileKind("an index", 0x41434931, 1, _TABLES, SearchIndexError, _REPAIR)
_COLUMNS: Final = "id, name, sha256, text, anchors, size, modified, problem"
_WORD: Final = re.compile(r"\w+")
_MOST_WORDS: Final = 64
_ENDINGS: Final = ("", "-wal", "-shm", "-journal")
_NEW: Final = ".new-"
"""In the name of the file of an index that is made anew, with eight more characters."""


class IndexFile:
    """The file of an index. Several threads and processes may use it at once: a document is written as a whole."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = SQLiteFile(path, _KIND)
        self.path = self._file.path

    def owns(self, path: str) -> bool:
        """Returns whether a path without links is one of the files of this index."""
        own = os.path.realpath(self.path)
        rest = path.removeprefix(own)
        return path.startswith(own) and (rest in _ENDINGS or rest.startswith(_NEW))

    def new_file(self) -> IndexFile:
        """Returns an empty index beside this one, for its documents anew."""
        return IndexFile(self.path.with_name(f"{self.path.name}{_NEW}{uuid4().hex[:8]}"))

    def delete_left_files(self) -> None:
        """Deletes the files of `new_file` that were left by processes that were killed."""
        folder = self.path.absolute().parent
        for found in folder.glob(f"{escape(self.path.name)}{_NEW}????????"):
            with suppress(SearchIndexError, FileNotFoundError):
                if found.stat().st_size:  # otherwise another process is making it
                    left = IndexFile(found)
                    left.close() if left._file.is_used_by_others() else left.delete()

    def settings(self) -> dict[str, str]:
        """Returns what the vectors were made with; empty for an index without vectors."""
        with self._file.reading() as connection:
            return dict(connection.execute("SELECT name, value FROM settings"))

    def check(self, own: Mapping[str, str]) -> None:
        """Raises `IndexMismatchError` if the vectors of the index were made with other settings than these."""
        with self._file.reading() as connection:
            _check_settings(self.path, connection, own)

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

    def write(
        self,
        documents: Sequence[NewDocument],
        vectors: Vectors | None,
        settings: Mapping[str, str],
        store: VectorStore | None,
    ) -> None:
        """Writes documents in one transaction, in place of those with the same ids; `vectors` are those of all their
        chunks, one after the other, and `settings` what they were made with. With a `store` they are put there.

        Raises `IndexMismatchError`, and writes nothing, if the vectors of the index were made with others.
        """
        removed: list[int] = []
        place = 0
        with self._changing() as connection:
            if vectors is not None and not _check_settings(self.path, connection, settings):
                connection.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())
            for document in documents:
                tags = _tags_of(connection, document.id) if document.tags is None else document.tags
                removed += self._remove(connection, [document.id])
                number = self._insert(connection, document, tags)
                if vectors is not None:
                    end = place + len(document.chunks)
                    self._insert_chunks(
                        connection, number, document.text, document.chunks, _rows(vectors, place, end), store
                    )
                    place = end
        self._forget(removed, store)

    @staticmethod
    def _insert(connection: Connection, document: NewDocument, tags: Mapping[str, str]) -> int:
        """Writes a document without its chunks; returns its number."""
        text, anchors = packed(document.text), packed(anchor_data(document.anchors))
        values = (document.number, document.id, document.name, document.sha256, text, anchors)
        values += (document.size, document.modified, document.problem)
        row = connection.execute(
            f"INSERT INTO documents (number, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values
        ).lastrowid
        number = cast("int", row)
        connection.executemany("INSERT INTO tags VALUES (?, ?, ?)", [(number, *tag) for tag in tags.items()])
        return number

    @staticmethod
    def _insert_chunks(
        connection: Connection,
        document: int,
        text: str,
        chunks: Sequence[Chunk],
        vectors: Vectors,
        store: VectorStore | None,
    ) -> None:
        """Writes the chunks of a document with this number and text, and their vectors."""
        size = 4 * vectors.dimensions
        numbers: list[int] = []
        for index, chunk in enumerate(chunks):
            vector = vectors.data[index * size : (index + 1) * size] if store is None else None
            number = connection.execute(
                "INSERT INTO chunks (document, start, stop, context, vector) VALUES (?, ?, ?, ?, ?)",
                (document, chunk.start, chunk.end, chunk.context, vector),
            ).lastrowid
            numbers.append(cast("int", number))
            connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (number, chunk.words(text)))
        if store is not None and numbers:
            store.put(numbers, vectors)

    @staticmethod
    def _forget(numbers: Sequence[int], store: VectorStore | None) -> None:
        """Removes vectors from a store, after the transaction that removed their chunks: before, a transaction that is
        undone would leave chunks without vectors.
        """
        if store is not None and numbers:
            store.remove(numbers)

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
            count = before - connection.execute("SELECT count(*) FROM documents").fetchone()[0]
        self._forget(removed, store)
        return count

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

    def vectors(self, after: int = 0) -> list[tuple[int, bytes]]:
        """Returns the numbers and vectors of the chunks with a number above `after`, in order."""
        with self._file.reading() as connection:
            query = "SELECT number, vector FROM chunks WHERE number > ? AND vector IS NOT NULL ORDER BY number"
            return connection.execute(query, (after,)).fetchall()

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
        return None if row is None else DocumentText(unpacked(row[0]), anchors_of(unpacked(row[1])))

    def missing_in(self, other: IndexFile) -> list[int]:
        """Returns the numbers of documents that another index has not, or has as they were before."""
        with self._file.reading() as own, other._file.reading() as connection:
            return _missing(own, connection)

    def stored(self, number: int) -> NewDocument | None:
        """Returns a document with its number and text and without chunks, to be written again; None if it was removed
        meanwhile.
        """
        with self._file.reading() as connection:
            row = connection.execute(f"SELECT {_COLUMNS} FROM documents WHERE number = ?", (number,)).fetchone()
        if row is None:
            return None
        id, name, sha256, text, anchors, size, modified, problem = row
        texts = unpacked(text), anchors_of(unpacked(anchors))
        return NewDocument(id, name, sha256, *texts, size=size, modified=modified, problem=problem, number=number)

    def take(self, new: IndexFile, settings: Mapping[str, str], store: VectorStore | None) -> bool:
        """Replaces the chunks of all documents by those of another index, which has the documents with the same
        numbers, in one transaction. `settings` go before those of that index. Does nothing and returns False if it
        does not have all of them.
        """
        with self._changing() as connection, new._file.reading() as other:
            if _missing(connection, other):
                return False
            removed = [number for (number,) in connection.execute("SELECT number FROM chunks")]
            for table in ("chunks", "words", "settings"):
                connection.execute(f"DELETE FROM {table}")
            if made := dict(other.execute("SELECT name, value FROM settings")):
                connection.executemany("INSERT INTO settings VALUES (?, ?)", {**made, **settings}.items())
            for number, text in connection.execute("SELECT number, text FROM documents").fetchall():
                rows = other.execute(
                    "SELECT start, stop, context, vector FROM chunks WHERE document = ? ORDER BY number", (number,)
                ).fetchall()
                if rows:
                    vectors = Vectors(b"".join(row[3] for row in rows), len(rows[0][3]) // 4)
                    chunks = [Chunk(*row[:3]) for row in rows]
                    self._insert_chunks(connection, number, unpacked(text), chunks, vectors, store)
        self._forget(removed, store)
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
        for ending in _ENDINGS:
            Path(f"{self.path}{ending}").unlink(missing_ok=True)


def _check_settings(path: Path, connection: Connection, own: Mapping[str, str]) -> bool:
    """Returns whether an index has settings; raises `IndexMismatchError` if they are not its `own` ones. Chunks of
    several lengths do no harm.
    """
    stored = dict(connection.execute("SELECT name, value FROM settings"))
    if not stored:
        return False
    if stored.get("place") != own["place"]:
        raise IndexMismatchError(
            f"the vectors of {path} are {stored.get('place')}, and are looked for {own['place']}.",
            hint="Open it with the store= that it was made with, or embed all anew: index.rebuild().",
        )
    if any(stored.get(name) != own[name] for name in ("model", "dimensions")):
        raise IndexMismatchError(
            f"the vectors of {path} are of {stored.get('model')} with {stored.get('dimensions')} dimensions, those of "
            f"this LLM are of {own['model']} with {own['dimensions']}.",
            hint="Use that model, or embed all anew: index.rebuild(llm).",
        )
    return True


def _missing(own: Connection, other: Connection) -> list[int]:
    """Returns the numbers of documents that only the first of two files has."""
    there = {number for (number,) in other.execute("SELECT number FROM documents")}
    numbers = [number for (number,) in own.execute("SELECT number FROM documents ORDER BY number")]
    return [number for number in numbers if number not in there]


def _rows(vectors: Vectors, start: int, end: int) -> Vectors:
    size = 4 * vectors.dimensions
    return Vectors(vectors.data[start * size : end * size], vectors.dimensions)


def _having(tags: Mapping[str, Sequence[str]] | None) -> tuple[str, list[str | int]]:
    """Returns the condition that a chunk is of a document with all of these tags, and its values."""
    if not tags:
        return "", []
    pairs = json.dumps([[name, value] for name, allowed in tags.items() for value in {*allowed}])
    documents = (
        "SELECT document FROM json_each(?) AS wanted JOIN tags ON tags.name = json_extract(wanted.value, '$[0]') "
        "AND tags.value = json_extract(wanted.value, '$[1]') GROUP BY document HAVING count(*) = ?"
    )
    return f" WHERE document IN ({documents})", [pairs, len(tags)]


def _tags(rows: Any) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    for document, name, value in rows:
        found.setdefault(document, {})[name] = value
    return found


def _tags_of(connection: Connection, id: str) -> dict[str, str]:
    query = "SELECT t.name, value FROM tags t JOIN documents d ON d.number = t.document WHERE d.id = ?"
    return dict(connection.execute(query, (id,)))
