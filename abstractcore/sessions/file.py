"""`SessionFile`: a session in a SQLite file, whole after every crash. docs/session-details.md has its tables."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from ..errors import ArtifactError, SchemaError, SessionBusyError, SessionError
from ..private_files import lock_file, private, unlock_file
from ..schema import Blob, JournalEntry, Message, TextPart, from_data, from_json, to_json
from ..schema.codec import json_of
from ..stores.artifacts import FileArtifactStore
from ..stores.sqlite_files import Connection, SQLiteFile, SQLiteFileKind
from .documents import exchange_data, group_data, lost_file, read_exchange, read_group, with_blobs, without_path
from .history import ContextGroup, SessionExchange, SessionHistory

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
_KIND: Final = SQLiteFileKind("a session", 0x41435331, 1, _TABLES, SessionError, "Restore it from a copy.")


class SessionFile:
    """The file of one session. It is locked for other processes until `close`, unless `read_only`.

    Methods block, may be called from any thread, and raise `SessionError`; `SessionBusyError` if the file is locked.
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self._process = os.getpid()
        self._held = None if read_only else locked(self.path)
        try:
            self._file = SQLiteFile(path, _KIND, read_only=read_only)
        except BaseException:
            self._unlock()
            raise
        self._folder = _folder_beside(self.path)
        self._beside = FileArtifactStore(self._folder)

    def setting(self, name: str) -> str | None:
        """Returns a setting: `id`, `system_prompt`."""
        with self._file.reading() as connection:
            found = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        if found is None or isinstance(found[0], str):
            return None if found is None else found[0]
        raise SessionError(f"{self.path} is damaged: the setting {name}: expected text, got {type(found[0]).__name__}.")

    def set(self, name: str, value: str | None) -> None:
        """Writes a setting; None removes it."""
        with self._writing() as connection:
            _set(connection, name, value)

    def history(self, *, with_messages: bool = True) -> SessionHistory:
        """Reads all exchanges and the latest compaction, perhaps without their messages; of exchanges that were undone,
        what they used.
        """
        with self._file.reading() as connection:
            messages = self._messages(connection) if with_messages else {}
            rows = connection.execute("SELECT number, details FROM exchanges WHERE NOT undone ORDER BY number")
            exchanges = self._exchanges(rows.fetchall(), messages)
            undone = connection.execute("SELECT number, details FROM exchanges WHERE undone ORDER BY number")
            spent = [each.without_messages() for each in self._exchanges(undone.fetchall(), messages)]
            kept = connection.execute("SELECT groups FROM compactions ORDER BY number DESC LIMIT 1").fetchone()
            summaries = connection.execute("SELECT usage FROM compactions").fetchall()
            groups = self._groups(kept[0], connection) if with_messages and kept is not None else []
        if messages:
            raise SessionError(f"{self.path} is damaged: there is no exchange {next(iter(messages))} for its messages.")
        if sum(group.exchanges for group in groups) > len(exchanges):
            raise SessionError(f"{self.path} is damaged: a summary stands for more exchanges than there are.")
        spent += self._exchanges([(0, usage) for (usage,) in summaries], {})
        return SessionHistory(exchanges, groups, spent)

    def write(self, exchanges: Sequence[SessionExchange], *, ends_loop: bool) -> None:
        """Writes exchanges in one transaction, those of the same number in place of others. With `ends_loop`, the
        journal of the tool loop that they end is removed.
        """
        with self._writing() as connection:
            for exchange in exchanges:
                messages = with_blobs(exchange.messages, partial(self._kept, connection))
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
        with self._writing() as connection:
            connection.execute("UPDATE exchanges SET undone = 1 WHERE number = ?", (number,))
            connection.execute("DELETE FROM journal")

    def clear(self, *, keep_system: bool) -> None:
        """Marks all exchanges as undone; they stay in the file."""
        with self._writing() as connection:
            connection.execute("UPDATE exchanges SET undone = 1")
            connection.execute("INSERT INTO compactions (groups, usage) VALUES ('[]', '{}')")
            connection.execute("DELETE FROM journal")
            if not keep_system:
                connection.execute("DELETE FROM settings WHERE name = 'system_prompt'")

    def compact(self, groups: Sequence[ContextGroup], spent: SessionExchange) -> None:
        """Writes the groups that stand for the first exchanges, and what writing them took."""
        with self._writing() as connection:
            data = [group_data(each, partial(self._kept, connection)) for each in groups]
            usage = exchange_data(spent, lambda blob: blob)
            del usage["messages"]
            connection.execute(
                "INSERT INTO compactions (groups, usage) VALUES (?, ?)", (json.dumps(data), json.dumps(usage))
            )

    def journal(self) -> list[JournalEntry]:
        """Returns the events of the tool loop that was begun last, none if it has ended."""
        with self._file.reading() as connection:
            rows = connection.execute("SELECT entry FROM journal ORDER BY number").fetchall()
        try:
            return [from_json(entry, JournalEntry) for (entry,) in rows]
        except SchemaError as error:
            raise SessionError(f"{self.path} is damaged: its journal: {error}") from None

    def note(self, entry: JournalEntry) -> None:
        """Writes an event of a tool loop; it is on the disk when this returns."""
        with self._writing(flush=True) as connection:
            connection.execute("INSERT INTO journal (entry) VALUES (?)", (to_json(entry),))

    def forget_loop(self) -> None:
        """Removes the events of a tool loop."""
        with self._writing() as connection:
            connection.execute("DELETE FROM journal")

    def copy_to(self, path: str | os.PathLike[str], settings: Mapping[str, str | None]) -> None:
        """Copies all that is written to the new file `path`, with the files beside it, and changes settings in it. The
        copy is on the disk when this returns.
        """
        target = Path(path)
        if target.exists():
            raise SessionError(f"{target} exists already.", hint="Give the path of a new file.")
        files: list[str] = []

        def change(copy: Connection) -> None:
            copy.execute("DELETE FROM journal")
            for name, value in settings.items():
                _set(copy, name, value)
            files.extend(sha256 for (sha256,) in copy.execute("SELECT sha256 FROM files WHERE content IS NULL"))

        self._file.copy_to(target, change)
        beside = FileArtifactStore(_folder_beside(target))
        try:
            for sha256 in files:
                beside.put(self._beside.get(sha256), "application/octet-stream")
        except ArtifactError as error:
            raise SessionError(f"{self.path} cannot be copied: {error.message}", hint=error.hint) from None

    def check_writable(self) -> None:
        """Raises `SessionError` for a file that is closed, read only, or of the process that forked this one."""
        if os.getpid() != self._process:
            hint = "Open it in this process, once the other one has closed it."
            raise SessionError(f"{self.path} was opened in another process.", hint=hint)
        self._file.check_open()
        if self.read_only:
            hint = "Open it without read_only=True, or use session.fork(), which is in memory."
            raise SessionError(f"{self.path} was opened to be read only.", hint=hint)

    def close(self) -> None:
        """Closes the file, and unlocks it."""
        self._file.close()
        self._unlock()

    def __repr__(self) -> str:
        return f"SessionFile({str(self.path)!r})"

    def _unlock(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            unlock_file(held, self._process)

    @contextmanager
    def _writing(self, *, flush: bool = False) -> Generator[Connection]:
        """As `SQLiteFile.writing`, in the process that has locked the file."""
        self.check_writable()
        with self._file.writing(flush=flush) as connection:
            yield connection

    def _messages(self, connection: Connection) -> dict[int, list[Message]]:
        """Returns the messages of each exchange. Most are one text, which has a column of its own: it is read fast."""
        found: dict[int, list[Message]] = {}
        last: int | None = None
        messages: list[Message] = []
        in_place = partial(self._found, connection)
        try:
            for number, role, text, written in connection.execute(
                "SELECT exchange, role, text, message FROM messages ORDER BY exchange, place"
            ):
                if number != last:
                    last, messages = number, []
                    found[number] = messages
                if written is None:
                    messages.append(Message(role, (TextPart(text),)))
                else:
                    messages += with_blobs([from_data(Message, json.loads(written))], in_place)
        except _DAMAGE as error:
            place = f"exchanges[{last}].messages[{len(messages)}]"
            raise SessionError(f"{self.path} is damaged: {place}: {error}") from None
        return found

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

    def _groups(self, text: str, connection: Connection) -> list[ContextGroup]:
        try:
            data = json.loads(text)
            if not isinstance(data, list):
                raise SchemaError("expected a list", "compacted")
            groups = [read_group(each, f"compacted[{index}]") for index, each in enumerate(cast("list[Any]", data))]
        except _DAMAGE as error:
            raise SessionError(f"{self.path} is damaged: {error}") from None
        in_place = partial(self._found, connection)
        return [replace(each, messages=with_blobs(each.messages, in_place)) for each in groups]

    def _kept(self, connection: Connection, blob: Blob) -> Blob | TextPart:
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
                try:
                    self._beside.put(content, blob.media_type)
                except ArtifactError as error:
                    raise SessionError(f"{self.path} cannot be written: {error.message}", hint=error.hint) from None
                content = None
            connection.execute("INSERT INTO files VALUES (?, ?, ?)", (blob.sha256, blob.size, content))
        return Blob.from_artifact(blob.sha256, blob.media_type, blob.size, name=blob.name)

    def _found(self, connection: Connection, blob: Blob) -> Blob:
        """Returns a blob with its content in place of the reference; one of another store is left as it is."""
        if blob.form != "artifact":
            return without_path(blob)
        row = connection.execute("SELECT content FROM files WHERE sha256 = ?", (blob.sha256,)).fetchone()
        if row is None:
            return blob
        if row[0] is not None:
            return Blob.from_bytes(row[0], blob.media_type, name=blob.name)
        assert blob.sha256 is not None
        place = self._folder / blob.sha256[:2] / blob.sha256
        return Blob("file", blob.media_type, location=str(place), sha256=blob.sha256, size=blob.size, name=blob.name)


def locked(path: Path) -> BinaryIO:
    """Returns the lock of a session file, held until it is closed; raises `SessionBusyError` if it is held already."""
    try:
        descriptor = private(f"{os.path.realpath(path)}.lock", os.O_RDWR | os.O_CREAT)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SessionError(f"{path} cannot be opened: {reason}.") from None
    held = os.fdopen(descriptor, "r+b", buffering=0)
    if not lock_file(held):
        held.close()
        hint = "Session.open(path, llm, read_only=True) reads it."
        raise SessionBusyError(f"{path} is open in another process, or in this one.", hint=hint)
    return held


def _folder_beside(path: Path) -> Path:
    """Returns the folder of large files: of two links to one file, and wherever the process goes, the same."""
    path = Path(os.path.realpath(path))
    return path.with_name(f"{path.name}.files")


def _read_all(texts: Sequence[str]) -> list[Any]:
    """Returns the data of JSON texts: read as one, which is faster, or else one by one. Raises `ValueError`."""
    with suppress(*_DAMAGE):
        found: list[Any] = json.loads(f"[{','.join(texts)}]")
        if len(found) == len(texts):
            return found
    return [json.loads(text) for text in texts]


def _set(connection: Connection, name: str, value: str | None) -> None:
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
