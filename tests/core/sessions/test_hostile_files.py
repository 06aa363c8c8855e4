"""Files of sessions that are linked, forked, full, or from somebody else: nothing is lost, sent or paid for in vain."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    LLM,
    Blob,
    FileJournal,
    ImagePart,
    Message,
    ModelReply,
    Price,
    Session,
    SessionBusyError,
    Usage,
    create_llm,
)
from abstractcore.errors import JournalError, SessionError
from abstractcore.schema import JournalEntry
from abstractcore.sessions.file import SessionFile
from abstractcore.sessions.journal import SessionJournal
from tests.core.sessions.test_files import DEEP, PATH_OF_A_FILE
from tests.forks import forked, in_fork
from tests.small_disks import small_disk


def scripted(*replies: Any, **options: Any) -> LLM:
    return create_llm("scripted", replies=[*replies], max_retries=0, **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talk.session"


def texts(session: Session) -> list[str]:
    return [message.text for message in session.messages]


def test_link_to_an_open_file_is_the_same_file(path: Path):
    link = path.with_name("link.session")
    link.symlink_to(path)
    with Session.open(link, scripted("one")) as session:
        session.ask("first")
        with pytest.raises(SessionBusyError):
            Session.open(path, scripted())
    with Session.open(path, scripted()) as session:
        assert texts(session) == ["first", "one"]


def test_large_files_are_found_after_the_process_has_changed_its_folder(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(path.parent)
    picture = ImagePart(Blob.from_bytes(b"\x89PNG\r\n\x1a\n" + bytes(300_000), "image/png"))
    with Session.open(path.name, scripted()) as session:
        (path.parent / "other").mkdir()
        monkeypatch.chdir(path.parent / "other")
        session.add(Message.user("look", picture))
    with Session.open(path, scripted()) as session:
        assert [part.blob.read() for part in session.messages[0].parts if isinstance(part, ImagePart)] == [
            picture.blob.data
        ]


def test_nothing_is_sent_if_the_file_takes_no_exchange(path: Path):
    Session.open(path, scripted()).close()
    llm = scripted("paid in vain")
    closed = Session.open(path, llm)
    closed.close()
    with Session.open(path, llm, read_only=True) as reader:
        for session, text in ((closed, "is closed"), (reader, "was opened to be read only")):
            for change in (
                lambda session=session: session.ask("hi"),
                lambda session=session: session.stream("hi").read(),
                lambda session=session: session.add(Message.user("hi")),
                session.compact,
                session.clear,
            ):
                with pytest.raises(SessionError, match=text):
                    change()
            assert session.messages == ()
    assert llm.calls == []


def test_undo_that_cannot_be_written_changes_nothing(path: Path):
    session = Session.open(path, scripted("one"))
    session.ask("first")
    session.close()
    with pytest.raises(SessionError, match="is closed"):
        session.undo()
    assert texts(session) == ["first", "one"]


@pytest.mark.process
def test_full_disk_keeps_the_exchange_in_memory_and_close_writes_it(caplog: pytest.LogCaptureFixture):
    with small_disk(1 << 20) as folder:
        session = Session.open(folder / "talk.session", scripted("one"))
        filling = folder / "filling"
        with filling.open("wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
            while True:
                full.write(bytes(4096))
        with pytest.raises(SessionError, match=r"is in the session's memory") as failed:
            session.ask("first " * 20_000)
        assert failed.value.response is not None
        assert failed.value.response.content == "one"
        filling.unlink()
        session.close()
        with Session.open(folder / "talk.session", scripted()) as again:
            assert texts(again)[1] == "one"
    assert caplog.records == []


def test_loss_at_close_is_logged(path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    def refuse(*arguments: object, **options: object) -> None:
        raise SessionError("no room")

    session = Session.open(path, scripted("one"))
    monkeypatch.setattr(SessionFile, "write", refuse)
    with pytest.raises(SessionError, match="no room"):
        session.ask("first")
    with caplog.at_level(logging.WARNING, "abstractcore"):
        session.close()
    assert "1 exchange of a session lost: no room" in caplog.text


def test_file_that_was_deleted_meanwhile_does_not_keep_the_session_from_being_written(
    path: Path, caplog: pytest.LogCaptureFixture
):
    note = path.with_name("note.txt")
    note.write_text("the meeting is at noon")

    def answer(call: Any) -> str:
        note.unlink()
        return "seen"

    with Session.open(path, scripted(answer, "later")) as session, caplog.at_level(logging.WARNING, "abstractcore"):
        session.ask("read", media=[note])
        assert "a file is left out of a session" in caplog.text
    with Session.open(path, scripted()) as session:
        assert session.messages[0].text == "[The file note.txt was deleted or changed.]\nread"
        assert texts(session)[1] == "seen"


@pytest.mark.process
def test_lock_ends_with_the_process_that_holds_it_though_a_forked_child_lives(path: Path, tmp_path: Path):
    read, write = os.pipe()
    journal = FileJournal(tmp_path / "journal")
    assert list(journal.open()) == []
    session = Session.open(path, scripted("one"))

    def child() -> None:
        os.close(write)
        os.read(read, 1)

    with forked(child):
        try:
            session.close()
            journal.close()
            Session.open(path, scripted()).close()
            again = FileJournal(tmp_path / "journal")
            assert list(again.open()) == []
            again.close()
        finally:
            os.close(write)
    os.close(read)


@pytest.mark.process
def test_forked_child_neither_uses_nor_unlocks_the_file_of_its_parent(path: Path):
    llm = scripted("one", "two")

    def child() -> None:
        with pytest.raises(SessionError, match="was opened in another process"):
            session.ask("from the child")
        assert len(llm.calls) == 1
        assert session.fork().ask("from the child").content == "two"
        session.close()

    with Session.open(path, llm) as session:
        session.ask("first")
        in_fork(child)
        with pytest.raises(SessionBusyError):
            Session.open(path, scripted())
        session.ask("second")
    with Session.open(path, scripted()) as again:
        assert texts(again) == ["first", "one", "second", "two"]


@pytest.mark.process
def test_forked_child_does_not_wait_for_a_call_of_its_parent():
    def child() -> None:
        assert session.with_llm(scripted("child")).ask("hi").content == "child"

    def answer(call: Any) -> str:
        in_fork(child)
        return "parent"

    session = scripted(answer).session()
    assert session.ask("hi").content == "parent"
    assert texts(session) == ["hi", "parent"]


def test_thread_that_was_left_behind_notes_nothing_in_the_journal(path: Path):
    file = SessionFile(path)
    journal = SessionJournal(file, lambda: ())
    journal.end()
    with pytest.raises(JournalError, match="has ended"):
        journal.append(JournalEntry("end", status="failed"))
    assert file.journal() == []
    file.close()


def document(exchange: str) -> str:
    return f'{{"format": "abstractcore-session", "version": 1, "id": "x", "exchanges": [{exchange}]}}'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is not JSON"),
        ("5", "expected an object or a list"),
        (DEEP, "is not JSON"),
        (document(DEEP), "is not JSON"),
        ('{"messages": 5}', "expected a list of messages"),
        ("[null, {}]", r"messages\[0\]"),
        ('["hi"]', r"messages\[0\]"),
        ('[{"role": "pope", "content": "x"}]', "unknown role"),
        (document('{"number": 1, "messages": 5}'), "expected a list"),
        (document('{"number": 1, "messages": []}, {"number": 1, "messages": []}'), "numbers that ascend"),
        (document(f'{{"number": {10**30}, "messages": []}}'), "expected a whole number"),
        (document(f'{{"number": 1, "messages": [], "tokens": {10**400}}}'), "expected a whole number"),
        (document('{"number": 1, "messages": [], "cost": "NaN"}'), "not a decimal number"),
        (document('{"number": 1, "messages": [], "tokens": NaN}'), "expected a whole number"),
        (document(f'{{"number": 1, "messages": [{PATH_OF_A_FILE}]}}'), "got a path"),
    ],
)
def test_json_of_somebody_else_is_refused(path: Path, text: str, problem: str):
    path.write_text(text)
    with pytest.raises(SessionError, match=problem):
        Session.load(path, scripted())


def test_system_messages_of_a_loaded_list_are_sent(path: Path):
    roles = ("system", "user", "assistant", "system")
    path.write_text(json.dumps([{"role": role, "content": f"{role} {place}"} for place, role in enumerate(roles)]))
    llm = scripted("x", "y")
    session = Session.load(path, llm)
    assert session.system_prompt == "system 0"
    session.ask("hi")
    Session.load(path, llm, system_prompt="mine").ask("hi")
    assert [[each.text for each in call.messages if each.role == "system"] for call in llm.calls] == [
        ["system 0", "system 3"],
        ["mine", "system 3"],
    ]


def test_usage_is_that_of_all_calls_wherever_the_session_goes(path: Path):
    """Of exchanges that were undone, of summaries, and of an answer without content."""
    replies = [ModelReply(Message.assistant(str(n)).parts, usage=Usage(100, 10)) for n in range(6)]
    empty = ModelReply((), "content_filter", usage=Usage(100, 0))
    llm = scripted(*replies[:4], empty, *replies[4:], price=Price(input=1, output=10))
    with Session.open(path, llm) as session:
        for n in range(4):
            session.ask(f"question {n} " * 20)
        session.ask("empty")
        session.undo()
        session.compact(keep=1)
        used = session.usage, session.cost
        assert used[0].input == 600
        assert session.cost.unknown == 0
        session.fork(path.with_name("fork.session")).close()
        session.save(path.with_name("saved.json"))
        in_memory = session.fork()
    in_memory.fork(path.with_name("again.session")).close()
    for name in ("talk.session", "fork.session", "again.session"):
        with Session.open(path.with_name(name), llm) as again:
            assert (again.usage, again.cost) == used
            assert len(again.exchanges) == 3
    loaded = Session.load(path.with_name("saved.json"), llm)
    assert (loaded.usage, loaded.cost) == used
    loaded.clear()
    assert (loaded.usage, loaded.cost) == used
