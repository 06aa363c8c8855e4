"""Sessions in files: one transaction an exchange, files once, one writer, and errors that say what is wrong."""

from __future__ import annotations

import json
import sqlite3
import stat
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    LLM,
    Blob,
    ImagePart,
    Message,
    ModelReply,
    Session,
    SessionBusyError,
    SessionError,
    Suspend,
    ToolCall,
    ToolPolicy,
    create_llm,
)
from abstractcore.schema import Billing, CostSums, Usage
from abstractcore.sessions import SessionExchange
from abstractcore.sessions.file import SessionFile

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}

DEEP = "[" * 100_000
PATH_OF_A_FILE = json.dumps(
    {
        "role": "user",
        "parts": [
            {
                "type": "document",
                "blob": {"form": "file", "media_type": "text/plain", "location": "/etc/hosts", "sha256": "0" * 64},
            }
        ],
    }
)


def scripted(*replies: Any) -> LLM:
    return create_llm("scripted", replies=[*replies], max_retries=0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talk.session"


def image(size: int) -> ImagePart:
    return ImagePart(Blob.from_bytes(b"\x89PNG\r\n\x1a\n" + bytes(size), "image/png", name="photo.png"))


def test_exchanges_are_there_after_opening_again(path: Path):
    with Session.open(path, scripted("one", "two"), system_prompt="s") as session:
        session.ask("first")
        session.ask("second")
        session.undo()
        kept = session.messages, session.usage, session.cost, session.id
    with Session.open(path, scripted("three")) as session:
        assert (session.messages, session.usage, session.cost, session.id) == kept
        assert session.system_prompt == "s"
        session.ask("third")
        assert len(session.exchanges) == 2
    with Session.open(path, scripted()) as session:
        assert [message.text for message in session.messages] == ["first", "one", "third", "three"]
        assert [exchange.number for exchange in session.exchanges] == [1, 3]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT number FROM exchanges WHERE undone").fetchall() == [(2,)]
    connection.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such rights")
def test_file_is_readable_for_its_owner_only(path: Path):
    with Session.open(path, scripted("one")) as session:
        session.add(Message.user("x", image(300_000)))
        for made in path.parent.rglob("*"):
            assert stat.S_IMODE(made.stat().st_mode) & 0o077 == 0, made


def test_files_are_stored_once_and_large_ones_beside_it(path: Path):
    small, large = image(100), image(300_000)
    with Session.open(path, scripted()) as session:
        session.add(Message.user("a", small), Message.assistant("x"), Message.user("b", small, large))
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT size, content IS NULL FROM files ORDER BY size").fetchall()
    connection.close()
    assert rows == [(108, 0), (300_008, 1)]
    beside = [each for each in path.with_name("talk.session.files").rglob("*") if each.is_file()]
    assert [each.stat().st_size for each in beside] == [300_008]
    with Session.open(path, scripted()) as session:
        assert session.messages == (Message.user("a", small), Message.assistant("x"), Message.user("b", small, large))
        blobs = [part.blob.read() for part in session.messages[2].parts if isinstance(part, ImagePart)]
        assert blobs == [small.blob.data, large.blob.data]
        session.save(path.with_name("copy.json"))
    loaded = Session.load(path.with_name("copy.json"), scripted())
    parts = [part for part in loaded.messages[2].parts if isinstance(part, ImagePart)]
    assert [part.blob.data for part in parts] == [small.blob.data, large.blob.data]


def test_every_field_of_an_exchange_is_read_again(path: Path):
    usages = [
        Usage(input=9, output=3, cached=2, cache_written=1, reasoning=1, input_audio=1, output_audio=1),
        Usage(input=9, output=3, billing=Billing(tier="batch")),
        Usage(),
    ]
    costs = [(Decimal("0.0125"), None), (None, Decimal("0.000001")), (None, None)]
    question = (Message.user("q"), Message.assistant("a"))
    exchanges = [
        SessionExchange(n, question, 1, usage, 2, *cost, provider="p", model="m", partial=n == 2, tokens=n)
        for n, (usage, cost) in enumerate(zip(usages, costs, strict=True), 1)
    ]
    file = SessionFile(path)
    file.write([*exchanges, SessionExchange(4, question)], ends_loop=True)
    found = file.history()
    file.close()
    assert found.exchanges == [*exchanges, SessionExchange(4, question)]
    assert found.cost == CostSums(Decimal("0.0125"), Decimal("0.000001"), 1)
    assert found.cost == sum(map(CostSums.of_call, exchanges), CostSums())


def test_second_opening_is_refused_or_reads(path: Path):
    with Session.open(path, scripted("one")) as session:
        session.ask("first")
        with pytest.raises(SessionBusyError, match="is open in another process, or in this one"):
            Session.open(path, scripted())
        with Session.open(path, scripted("two"), read_only=True) as reader:
            assert reader.messages == session.messages
            assert reader.fork().ask("second").content == "two"
    Session.open(path, scripted()).close()


def test_fork_in_a_file_is_a_whole_copy(path: Path):
    with Session.open(path, scripted("one")) as session:
        session.ask("first")
        session.add(Message.user("look", image(300_000)))
        fork = session.fork(path.with_name("fork.session"))
        with fork:
            assert fork.messages == session.messages
            assert fork.id != session.id
        with pytest.raises(SessionError, match="exists already"):
            session.fork(path.with_name("fork.session"))
    with Session.open(path.with_name("fork.session"), scripted("two")) as again:
        assert [part.blob.size for part in again.messages[2].parts if isinstance(part, ImagePart)] == [300_008]


def test_fork_of_a_session_in_memory_is_written_whole(path: Path):
    session = scripted("one").session()
    session.ask("first")
    session.fork(path).close()
    with Session.open(path, scripted()) as again:
        assert again.messages == session.messages


def test_suspended_loop_waits_in_the_file(path: Path):
    runs: list[str] = []

    def pay() -> str:
        """Pays."""
        runs.append("pay")
        return "done"

    options: dict[str, Any] = {"tools": [pay], "run_tools": ToolPolicy(approve=lambda pending: Suspend())}
    with Session.open(path, scripted("hi", ModelReply((ToolCall("c", "pay"),))), **options) as session:
        session.ask("hello")
        assert session.ask("pay it").pending
    with Session.open(path, scripted("paid"), **options) as session:
        assert session.loop is not None
        assert len(session.loop.call.messages) == 3
        assert session.resume([pending.allow() for pending in session.loop.pending]).content == "paid"
        assert (runs, session.loop) == (["pay"], None)
    with Session.open(path, scripted(), **options) as session:
        assert [message.role for message in session.messages] == ["user", "assistant"] * 1 + [
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert session.loop is None


class _FullDisk:
    """A connection whose commits fail."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, *arguments: Any) -> Any:
        if statement == "COMMIT":
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorname = "SQLITE_FULL"
            raise error
        return self._connection.execute(statement, *arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def test_exchange_of_a_full_disk_is_in_memory_and_written_later(path: Path):
    with Session.open(path, scripted("one", "two")) as session:
        file: Any = session._state.file  # pyright: ignore[reportPrivateUsage]
        real = file._file._opened
        file._file._opened = real._replace(connection=_FullDisk(real.connection))
        with pytest.raises(SessionError, match=r"disk is full\..* in the session's memory") as failed:
            session.ask("first")
        assert failed.value.response is not None
        assert failed.value.response.content == "one"
        assert [message.text for message in session.messages] == ["first", "one"]
        file._file._opened = real
        session.ask("second")
    with Session.open(path, scripted()) as session:
        assert [message.text for message in session.messages] == ["first", "one", "second", "two"]


def written(path: Path, exchanges: int = 40) -> None:
    with Session.open(path, scripted()) as session:
        pairs = [(Message.user(f"question {n} " * 50), Message.assistant("answer " * 50)) for n in range(exchanges)]
        session.add(*(message for pair in pairs for message in pair))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])


def overwrite(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8192:16384] = bytes(8192)
    path.write_bytes(data)


def not_sqlite(path: Path) -> None:
    path.write_text("a diary, not a session\n" * 100)


def other_database(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE diary (day TEXT)")
    connection.close()


def statement(sql: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.executescript(sql)
        connection.close()

    return change


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (cut, "is damaged"),
        (overwrite, "is damaged"),
        (not_sqlite, "is damaged, or not a session: file is not a database"),
        (other_database, "is not a session"),
        (statement("PRAGMA user_version = 2"), "has version 2: this release reads version 1"),
        (statement("UPDATE messages SET message = '{' WHERE exchange = 3"), "is damaged"),
        (
            statement("""UPDATE messages SET message = '{"role": "pope", "parts": []}'"""),
            "'pope' is not one of",
        ),
        (statement("UPDATE exchanges SET details = '[]' WHERE number = 2"), "is damaged"),
        (statement("""UPDATE exchanges SET details = '{"calls": -1}'"""), "expected a whole number"),
        (statement("UPDATE exchanges SET details = '{}, {}' WHERE number = 2"), "is damaged: Extra data"),
        (statement("UPDATE exchanges SET details = x'ff' WHERE number = 2"), "is damaged"),
        (statement(f"UPDATE exchanges SET details = '{'[' * 100_000}' WHERE number = 2"), "is damaged"),
        (statement(f"UPDATE messages SET message = '{'[' * 100_000}' WHERE exchange = 3"), "is damaged"),
        (
            statement("""UPDATE exchanges SET details = '{"usage": {"input": "x"}}' WHERE number = 3"""),
            r"exchanges\[3\]\.usage\.input",
        ),
        (
            statement("""UPDATE exchanges SET details = '{"cost": "much"}' WHERE number = 3"""),
            r"exchanges\[3\]\.cost: 'much' is not a decimal number",
        ),
        (statement("DROP TABLE messages"), "no such table"),
        (
            statement("""INSERT INTO compactions VALUES (1, '[{"messages": [], "exchanges": 99}]', '{}')"""),
            "stands for more exchanges",
        ),
        (statement("INSERT INTO journal VALUES (1, '{}')"), "journal"),
        (statement("INSERT INTO compactions VALUES (1, '{', '{}')"), "is damaged"),
        (statement("INSERT INTO compactions VALUES (1, '[]', '[]')"), "is damaged"),
        (statement("INSERT INTO compactions VALUES (1, '{}', '{}')"), "expected a list"),
        (statement("PRAGMA user_version = -1"), "has version -1"),
        (statement("DELETE FROM exchanges WHERE number = 3"), "there is no exchange 3 for its messages"),
        (statement("UPDATE settings SET value = x'00'"), "expected text, got bytes"),
        (statement(f"UPDATE messages SET message = '{DEEP}' WHERE exchange = 3"), "is damaged"),
        (statement(f"UPDATE exchanges SET details = '{DEEP}'"), "is damaged"),
        (statement(f"INSERT INTO compactions VALUES (1, '{DEEP}', '{{}}')"), "is damaged"),
        (statement(f"""UPDATE exchanges SET details = '{{"tokens": {10**400}}}'"""), "expected a whole number"),
        (statement(f"UPDATE messages SET message = '{PATH_OF_A_FILE}' WHERE exchange = 3"), "got a path"),
    ],
)
def test_damaged_file_is_an_error_that_says_so(path: Path, damage: Callable[[Path], None], text: str):
    written(path)
    damage(path)
    with pytest.raises(SessionError, match=text):
        Session.open(path, scripted())
    with pytest.raises(SessionError):  # nothing holds the lock
        Session.open(path, scripted())


def test_folder_and_missing_folder_are_errors(tmp_path: Path):
    with pytest.raises(SessionError, match="cannot be opened"):
        Session.open(tmp_path / "no" / "talk.session", scripted())
    (tmp_path / "folder").mkdir()
    with pytest.raises(SessionError, match=r"cannot be (opened|read)|is not a session"):
        Session.open(tmp_path / "folder", scripted())
    with pytest.raises(SessionError, match="does not exist"):
        Session.open(tmp_path / "missing", scripted(), read_only=True)
    with pytest.raises(SessionError, match="cannot be"):
        Session.open("nul\0byte", scripted())


def test_edited_history_is_repaired_with_a_note_or_refused(path: Path):
    with Session.open(path, scripted()) as session:
        session.add(Message.user("a"), Message.assistant(ToolCall("c", "f")), Message.tool("c", "x"))
        session.add(Message.user("b"), Message.assistant("y"))
    statement("DELETE FROM messages WHERE exchange = 1 AND place = 2")(path)
    with pytest.raises(SessionError, match="has no result"):
        Session.open(path, scripted(), strict=True)
    with Session.open(path, scripted("z")) as session:
        assert [note.code for note in session.notes] == ["result_added"]
        assert [message.role for message in session.messages] == ["user", "assistant", "tool", "user", "assistant"]
        session.ask("c")
        assert len(session.messages) == 7


def test_closed_session_and_that_of_another_process_are_errors(path: Path):
    session = Session.open(path, scripted("one", "two"))
    session.close()
    with pytest.raises(SessionError, match="is closed"):
        session.ask("hi")
    session = Session.open(path, scripted("three"))
    file: Any = session._state.file  # pyright: ignore[reportPrivateUsage]
    file._process -= 1
    with pytest.raises(SessionError, match="was opened in another process"):
        session.ask("hi")
    file._process += 1
    session.close()


def test_json_is_read_back_and_in_openai_format(path: Path):
    llm = scripted("one")
    session = llm.session(system_prompt="s")
    session.ask("first")
    session.add(Message.user("b"), Message.assistant(ToolCall("c", "f", '{"x": 1}')), Message.tool("c", "y"))
    session.save(path)
    loaded = Session.load(path, llm)
    assert (loaded.messages, loaded.id, loaded.system_prompt) == (session.messages, session.id, "s")
    assert (loaded.usage, loaded.cost) == (session.usage, session.cost)
    data = session.to_openai()
    assert [message["role"] for message in data] == ["system", "user", "assistant", "user", "assistant", "tool"]
    assert data.warnings == ()
    path.write_text(json.dumps(data))
    other = Session.load(path, llm)
    assert (other.messages, other.system_prompt) == (session.messages, "s")
    path.write_text(json.dumps({"model": "x", "messages": data}))
    assert Session.load(path, llm).messages == session.messages


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("3", "is not a session"),
        ("{}", "is not a session"),
        ('{"format": "abstractcore-session", "version": 2}', "has version 2"),
        ('{"format": "abstractcore-session", "version": 1, "id": 3}', "expected text"),
        ('{"format": "abstractcore-session", "version": 1, "id": "x", "exchanges": 3}', "expected a list"),
        ('{"format": "abstractcore-session", "version": 1, "id": "x", "exchanges": [3]}', "expected an object"),
        (
            '{"format": "abstractcore-session", "version": 1, "id": "x", "compacted": [{"exchanges": 1}]}',
            "more exchanges than there are",
        ),
    ],
)
def test_bad_json_is_an_error_with_its_place(path: Path, text: str, problem: str):
    path.write_text(text)
    with pytest.raises(SessionError, match=problem):
        Session.load(path, scripted())


def test_list_of_messages_that_alternates_wrongly_is_repaired_or_refused(path: Path):
    path.write_text(
        json.dumps(
            [
                {"role": "tool", "tool_call_id": "q", "content": "x"},
                {"role": "user", "content": "a"},
                {"role": "assistant", "tool_calls": [CALL]},
                {"role": "user", "content": "b"},
            ]
        )
    )
    with pytest.raises(SessionError, match="not a valid conversation"):
        Session.load(path, scripted(), strict=True)
    loaded = Session.load(path, scripted())
    assert [message.role for message in loaded.messages] == ["user", "assistant", "tool", "user"]
    assert [note.code for note in loaded.notes] == ["result_left_out", "result_added"]
    path.write_text('[{"role": "user"}]')
    with pytest.raises(SessionError, match="the user message is empty"):
        Session.load(path, scripted())


def test_file_that_cannot_be_read_or_saved_is_an_error(tmp_path: Path):
    with pytest.raises(SessionError, match="cannot be read"):
        Session.load(tmp_path / "missing.json", scripted())
    session = scripted().session()
    with pytest.raises(SessionError, match="cannot be written"):
        session.save(tmp_path / "no" / "x.json")


def test_file_without_rights_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*arguments: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("abstractcore.sessions.file.private", refuse)
    with pytest.raises(SessionError, match="cannot be opened: Permission denied"):
        Session.open(path, scripted())


def test_cleared_history_stays_in_the_file_marked(path: Path):
    with Session.open(path, scripted("one", "two"), system_prompt="s") as session:
        session.ask("first")
        session.clear(keep_system=False)
        session.ask("second")
    with Session.open(path, scripted()) as session:
        assert [message.text for message in session.messages] == ["second", "two"]
        assert session.system_prompt is None
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM exchanges").fetchone() == (2,)
    connection.close()


def test_file_has_the_format_that_is_documented(path: Path):
    SessionFile(path).close()
    connection = sqlite3.connect(path)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables == {"settings", "exchanges", "messages", "files", "compactions", "journal"}
    assert connection.execute("PRAGMA application_id").fetchone() == (0x41435331,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
