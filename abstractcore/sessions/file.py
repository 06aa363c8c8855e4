"""`SessionFile`: a session in a SQLite file, which is whole after every crash. docs/sessions.md has its tables."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from ..errors import ArtifactError, SchemaError, SessionBusyError, SessionError
from ..private_files import lock_file, private, unlock_file
from ..schema import Blob, JournalEntry, Message, TextPart, from_data, from_json, to_json
from ..schema.codec import json_of
from ..stores.artifacts import FileArtifactStore
from .documents import exchange_data, group_data, lost_file, read_exchange, read_group, with_blobs, without_path
from .history import ContextGroup, SessionExchange, SessionHistory

VERSION: Final = 1
_APPLICATION: Final = 0x41435331
"""The id in the header of a SQLite file, by which `file` and others know what it is."""
_of_other_processes: Final = list[sqlite3.Connection]()
"""Connections of the process that this one was forked from: SQLite requires that they are not even closed here."""
_MOST_INSIDE: Final = 256 * 1024
"""Bytes of a file that is kept in the database; larger ones are beside it."""
_DAMAGE: Final = (SchemaError, ValueError, TypeError, RecursionError)
"""What reading the JSON of a row raises, if it is damaged: it may also be a number, or nested too deeply."""
_TABLES: Final = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE exchanges (number INTEGER PRIMARY KEY, details TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0);
CREATE TABLE messages (
    exchange INTEGER NOT NULL, place INTEGER NOT NULL, role TEXT NOT NULL, text TEXT, message TEXT,
    PRIMARY KEY (exchange, place)
) WITHOUT ROWID;
CREATE TABLE files (sha256 TEXT PRIMARY KEY, size INTEGER NOT NULL, content BLOB);
CREATE TABLE compactions (number INTEGER PRIMARY KEY, groups TEXT NOT NULL, usage TEXT NOT NULL);
CREATE TABLE journal (number INTEGER PRIMARY KEY, entry TEXT NOT NULL);
"""


class SessionFile:
    """The file of one session. It is locked for other processes until `close`, unless `read_only`.

    Methods block, may be called from any thread, and raise `SessionError`; `SessionBusyError` if the file is locked.
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        try:
            self._place = Path(os.path.realpath(path))  # of two links to one file, and wherever the process goes
        except ValueError as error:
            raise self._error(error) from None
        self.lock = threading.RLock()
        """Held for each use of the file."""
        self._process = os.getpid()
        self._held: BinaryIO | None = None
        self._beside = FileArtifactStore(_folder_beside(self._place))
        if not read_only:
            self._held = locked(self.path)
        try:
            self._connection: sqlite3.Connection | None = self._opened()
        except BaseException:
            self._unlock()
            raise

    def setting(self, name: str) -> str | None:
        """Returns a setting: `id`, `system_prompt`."""
        with self._working("read") as connection:
            found = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        if found is None or isinstance(found[0], str):
            return None if found is None else found[0]
        raise SessionError(f"{self.path} is damaged: the setting {name}: expected text, got {type(found[0]).__name__}.")

    def set(self, name: str, value: str | None) -> None:
        """Writes a setting; None removes it."""
        with self._transaction() as connection:
            _set(connection, name, value)

    def history(self, *, with_messages: bool = True) -> SessionHistory:
        """Reads all exchanges and the latest compaction, perhaps without their messages; of exchanges that were undone,
        what they used.
        """
        with self._working("read") as connection:
            connection.execute("BEGIN")
            try:
                messages = self._messages(connection) if with_messages else {}
                rows = connection.execute("SELECT number, details FROM exchanges WHERE NOT undone ORDER BY number")
                exchanges = self._exchanges(rows.fetchall(), messages)
                undone = connection.execute("SELECT number, details FROM exchanges WHERE undone ORDER BY number")
                spent = [each.without_messages() for each in self._exchanges(undone.fetchall(), messages)]
                kept = connection.execute("SELECT groups FROM compactions ORDER BY number DESC LIMIT 1").fetchone()
                summaries = connection.execute("SELECT usage FROM compactions").fetchall()
            finally:
                connection.execute("COMMIT")
        if messages:
            raise SessionError(f"{self.path} is damaged: there is no exchange {next(iter(messages))} for its messages.")
        groups = self._groups(kept[0]) if with_messages and kept is not None else []
        if sum(group.exchanges for group in groups) > len(exchanges):
            raise SessionError(f"{self.path} is damaged: a summary stands for more exchanges than there are.")
        spent += self._exchanges([(0, usage) for (usage,) in summaries], {})
        return SessionHistory(exchanges, groups, spent)

    def write(self, exchanges: Sequence[SessionExchange], *, ends_loop: bool) -> None:
        """Writes exchanges in one transaction, those of the same number in place of others. With `ends_loop`, the
        journal of the tool loop that they end is removed.
        """
        with self._transaction() as connection:
            for exchange in exchanges:
                messages = with_blobs(exchange.messages, lambda blob: self._kept(blob, connection))
                details = exchange_data(exchange, lambda blob: blob)
                del details["messages"]
                number = exchange.number
                connection.execute("INSERT OR REPLACE INTO exchanges VALUES (?, ?, 0)", (number, json.dumps(details)))
                connection.execute("DELETE FROM messages WHERE exchange = ?", (number,))
                rows = [(number, place, *_columns(message)) for place, message in enumerate(messages)]
                connection.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", rows)
            if ends_loop:
                connection.execute("DELETE FROM journal")

    def undo(self, number: int) -> None:
        """Marks an exchange as undone; it stays in the file."""
        with self._transaction() as connection:
            connection.execute("UPDATE exchanges SET undone = 1 WHERE number = ?", (number,))
            connection.execute("DELETE FROM journal")

    def clear(self, *, keep_system: bool) -> None:
        """Marks all exchanges as undone; they stay in the file."""
        with self._transaction() as connection:
            connection.execute("UPDATE exchanges SET undone = 1")
            connection.execute("INSERT INTO compactions (groups, usage) VALUES ('[]', '{}')")
            connection.execute("DELETE FROM journal")
            if not keep_system:
                connection.execute("DELETE FROM settings WHERE name = 'system_prompt'")

    def compact(self, groups: Sequence[ContextGroup], spent: SessionExchange) -> None:
        """Writes the groups that stand for the first exchanges, and what writing them took."""
        with self._transaction() as connection:
            data = [group_data(each, lambda blob: self._kept(blob, connection)) for each in groups]
            usage = exchange_data(spent, lambda blob: blob)
            del usage["messages"]
            connection.execute(
                "INSERT INTO compactions (groups, usage) VALUES (?, ?)", (json.dumps(data), json.dumps(usage))
            )

    def journal(self) -> list[JournalEntry]:
        """Returns the events of the tool loop that was begun last, none if it has ended."""
        with self._working("read") as connection:
            rows = connection.execute("SELECT entry FROM journal ORDER BY number").fetchall()
        try:
            return [from_json(entry, JournalEntry) for (entry,) in rows]
        except SchemaError as error:
            raise SessionError(f"{self.path} is damaged: its journal: {error}") from None

    def note(self, entry: JournalEntry) -> None:
        """Writes an event of a tool loop; it is on the disk when this returns."""
        with self._transaction(flush=True) as connection:
            connection.execute("INSERT INTO journal (entry) VALUES (?)", (to_json(entry),))

    def forget_loop(self) -> None:
        """Removes the events of a tool loop."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM journal")

    def copy_to(self, path: str | os.PathLike[str], settings: Mapping[str, str | None]) -> None:
        """Copies all that is written to the new file `path`, with the files beside it, and changes settings in it. The
        copy is on the disk when this returns.
        """
        target = Path(path)
        if target.exists():
            raise SessionError(f"{target} exists already.", hint="Give the path of a new file.")
        with self._working("read") as connection:
            os.close(private(str(target), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            copy = sqlite3.connect(target)
            try:
                copy.execute("PRAGMA synchronous = OFF")  # flushed once, below
                connection.backup(copy)
                with copy:
                    copy.execute("DELETE FROM journal")
                    for name, value in settings.items():
                        _set(copy, name, value)
            finally:
                copy.close()
            with open(target, "rb+") as written:
                os.fsync(written.fileno())
            rows = connection.execute("SELECT sha256 FROM files WHERE content IS NULL").fetchall()
        beside = FileArtifactStore(_folder_beside(Path(os.path.realpath(target))))
        for (sha256,) in rows:
            beside.put(self._beside.get(sha256), "application/octet-stream")

    def check_writable(self) -> None:
        """Raises `SessionError` for a file that is closed, read only, or of the process that forked this one."""
        self._check_process()
        if self._connection is None:
            raise self._closed()
        if self.read_only:
            hint = "Open it without read_only=True, or use session.fork(), which is in memory."
            raise SessionError(f"{self.path} was opened to be read only.", hint=hint)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            hint = "Open it in this process, once the other one has closed it."
            raise SessionError(f"{self.path} was opened in another process.", hint=hint)

    def _closed(self) -> SessionError:
        return SessionError(f"{self.path} is closed.", hint="Open it again with Session.open.")

    def close(self) -> None:
        """Closes the file, and unlocks it."""
        if os.getpid() != self._process:
            if self._connection is not None:
                _of_other_processes.append(self._connection)
            self._connection = None
            self._unlock()
            return
        with self.lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                with suppress(sqlite3.Error):  # a full disk: the log stays, and is read at the next opening
                    connection.close()
            self._unlock()

    def __repr__(self) -> str:
        return f"SessionFile({str(self.path)!r})"

    def _unlock(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            unlock_file(held, self._process)

    def _opened(self) -> sqlite3.Connection:
        exists = self._place.exists()
        if self.read_only and not exists:
            raise SessionError(f"{self.path} does not exist.")
        connection: sqlite3.Connection | None = None
        try:
            if not exists:
                os.close(private(str(self._place), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            uri = f"{self._place.as_uri()}?mode={'ro' if self.read_only else 'rw'}"
            connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=10)
            self._check_or_make(connection)
        except (OSError, sqlite3.Error) as error:
            if connection is not None:
                connection.close()
            raise self._error(error) from None
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        return connection

    def _check_or_make(self, connection: sqlite3.Connection) -> None:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application != _APPLICATION and (tables or self.read_only):
            raise SessionError(f"{self.path} is no session.", hint="Give the path of a new file.")
        if version > VERSION or (tables and version != VERSION):
            hint = "Install a later release of AbstractCore." if version > VERSION else "Restore it from a copy."
            raise SessionError(f"{self.path} has version {version}: this release reads version {VERSION}.", hint=hint)
        if self.read_only:
            return
        connection.execute("PRAGMA journal_mode = WAL")
        if not tables:
            header = f"PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {VERSION};"
            connection.executescript(f"BEGIN IMMEDIATE; {header} {_TABLES} COMMIT;")

    def _messages(self, connection: sqlite3.Connection) -> dict[int, list[Message]]:
        """Returns the messages of each exchange. Most are one text, which has a column of its own: it is read fast."""
        found: dict[int, list[Message]] = {}
        last: int | None = None
        messages: list[Message] = []
        try:
            for number, role, text, written in connection.execute(
                "SELECT exchange, role, text, message FROM messages ORDER BY exchange, place"
            ):
                if number != last:
                    last, messages = number, []
                    found[number] = messages
                messages.append(Message(role, (TextPart(text),)) if written is None else self._read_message(written))
        except _DAMAGE as error:
            place = f"exchanges[{last}].messages[{len(messages)}]"
            raise SessionError(f"{self.path} is damaged: {place}: {error}") from None
        return found

    def _read_message(self, written: str) -> Message:
        (message,) = with_blobs([from_data(Message, json.loads(written))], self._found)
        return message

    def _exchanges(self, rows: Sequence[tuple[int, str]], messages: dict[int, list[Message]]) -> list[SessionExchange]:
        """Returns exchanges of their numbers and details."""
        exchanges: list[SessionExchange] = []
        try:
            for (number, _), data in zip(rows, _read_all([details for _, details in rows]), strict=True):
                if type(data) is dict:
                    cast("dict[str, Any]", data)["number"] = number
                exchanges.append(
                    read_exchange(cast(object, data), f"exchanges[{number}]", tuple(messages.pop(number, ())))
                )
        except _DAMAGE as error:
            raise SessionError(f"{self.path} is damaged: {error}") from None
        return exchanges

    def _groups(self, text: str) -> list[ContextGroup]:
        try:
            data = json.loads(text)
            if not isinstance(data, list):
                raise SchemaError("expected a list", "compacted")
            groups = [read_group(each, f"compacted[{index}]") for index, each in enumerate(cast("list[Any]", data))]
        except _DAMAGE as error:
            raise SessionError(f"{self.path} is damaged: {error}") from None
        return [replace(each, messages=with_blobs(each.messages, self._found)) for each in groups]

    def _kept(self, blob: Blob, connection: sqlite3.Connection) -> Blob | TextPart:
        """Keeps the content of a blob once, and returns the reference to it; of a file that was deleted or changed
        since it was added, a note.
        """
        if blob.form not in ("bytes", "file"):
            return blob
        assert blob.sha256 is not None
        assert blob.size is not None
        known = connection.execute("SELECT 1 FROM files WHERE sha256 = ?", (blob.sha256,)).fetchone()
        if known is None:
            try:
                content: bytes | None = blob.read()
            except (OSError, SchemaError) as error:
                return lost_file(blob, error)
            if blob.size > _MOST_INSIDE:
                self._beside.put(content, blob.media_type)
                content = None
            connection.execute("INSERT INTO files VALUES (?, ?, ?)", (blob.sha256, blob.size, content))
        return Blob.from_artifact(blob.sha256, blob.media_type, blob.size, name=blob.name)

    def _found(self, blob: Blob) -> Blob:
        """Returns a blob with its content in place of the reference; one of another store is left as it is."""
        if blob.form != "artifact" or self._connection is None:
            return without_path(blob)
        row = self._connection.execute("SELECT content FROM files WHERE sha256 = ?", (blob.sha256,)).fetchone()
        if row is None:
            return blob
        if row[0] is not None:
            return Blob.from_bytes(row[0], blob.media_type, name=blob.name)
        assert blob.sha256 is not None
        place = _folder_beside(self._place) / blob.sha256[:2] / blob.sha256
        return Blob("file", blob.media_type, location=str(place), sha256=blob.sha256, size=blob.size, name=blob.name)

    @contextmanager
    def _transaction(self, *, flush: bool = False) -> Generator[sqlite3.Connection]:
        """A transaction that writes all or nothing. It survives the death of the process; with `flush`, which takes
        milliseconds, that of the machine too. Without it, the last transactions may be missing then.
        """
        with self._working("written") as connection:
            self.check_writable()
            connection.execute(f"PRAGMA synchronous = {'FULL' if flush else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has ended the transaction already
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _working(self, verb: str) -> Generator[sqlite3.Connection]:
        self._check_process()
        with self.lock:
            if self._connection is None:
                raise self._closed()
            try:
                yield self._connection
            except (OSError, sqlite3.Error, ArtifactError) as error:
                raise self._error(error, verb) from None

    def _error(self, error: Exception, verb: str = "opened") -> SessionError:
        return _file_error(self.path, error, verb)


def locked(path: Path) -> BinaryIO:
    """Returns the lock of a session file, held until it is closed; raises `SessionBusyError` if it is held already."""
    try:
        descriptor = private(f"{os.path.realpath(path)}.lock", os.O_RDWR | os.O_CREAT)
    except (OSError, ValueError) as error:
        raise _file_error(path, error, "opened") from None
    held = os.fdopen(descriptor, "r+b", buffering=0)
    if not lock_file(held):
        held.close()
        hint = "Session.open(path, llm, read_only=True) reads it."
        raise SessionBusyError(f"{path} is open in another process, or in this one.", hint=hint)
    return held


def _file_error(path: Path, error: Exception, verb: str) -> SessionError:
    name = getattr(error, "sqlite_errorname", "")
    reason = getattr(error, "strerror", None) or str(error)
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return SessionError(f"{path} is damaged: {reason}.", hint="Restore it from a copy.")
    return SessionError(f"{path} cannot be {verb}: {reason}.")


def _folder_beside(path: Path) -> Path:
    """Returns the folder of large files."""
    return path.with_name(f"{path.name}.files")


def _read_all(texts: Sequence[str]) -> list[Any]:
    """Returns the data of JSON texts: read as one, which is faster, or else one by one. Raises `ValueError`."""
    with suppress(*_DAMAGE):
        found: list[Any] = json.loads(f"[{','.join(texts)}]")
        if len(found) == len(texts):
            return found
    return [json.loads(text) for text in texts]


def _set(connection: sqlite3.Connection, name: str, value: str | None) -> None:
    if value is None:
        connection.execute("DELETE FROM settings WHERE name = ?", (name,))
    else:
        connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))


def _columns(message: Message) -> tuple[str, str | None, str | None]:
    """Returns the role of a message, and its text, or its JSON if it is not one plain text."""
    part = message.parts[0]
    if (
        len(message.parts) == 1
        and isinstance(part, TextPart)
        and message == Message(message.role, (TextPart(part.text),))
    ):
        return message.role, part.text, None
    return message.role, None, json_of(message).decode()
