"""Session files without a model: their summaries, and their removal."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from abstractcore import Blob, ImagePart, Message, ModelReply, Session, SessionBusyError, SessionError, create_llm
from abstractcore.schema import CostSums, TextPart, Usage
from abstractcore.sessions import SessionSummary, SessionUsage, remove_session


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talk.session"


def answer(text: str, tokens: int) -> ModelReply:
    return ModelReply((TextPart(text),), usage=Usage(input=tokens, output=2))


def test_summary_is_that_of_the_session(path: Path):
    llm = create_llm("scripted/small", replies=[answer("one", 5), answer("two", 7)])
    with Session.open(path, llm) as session:
        session.ask("first")
        session.ask("second")
        session.add(Message.user("third"))
        while_open = SessionSummary.read(path)
        session.undo()
    summary = SessionSummary.read(path)
    assert (while_open.exchanges, summary.exchanges) == (3, 2)
    assert (summary.id, summary.provider, summary.model) == (session.id, "scripted", "small")
    assert summary.usage == SessionUsage(input=12, output=4)
    assert summary.cost == CostSums(Decimal(0), Decimal(0), 0)
    assert summary.last_used == path.stat().st_mtime


def test_summary_counts_what_compaction_used(path: Path):
    llm = create_llm("scripted", replies=[*[answer("a long answer " * 40, 5)] * 8, answer("short", 100)])
    with Session.open(path, llm) as session:
        for number in range(8):
            session.ask(f"question {number} " * 20)
        assert session.compact(keep=2)
        usage = session.usage
    summary = SessionSummary.read(path)
    assert (summary.exchanges, summary.usage) == (8, usage)
    assert summary.usage.input == 140


def test_summary_of_a_session_without_an_answer_has_no_model(path: Path):
    with Session.open(path, create_llm("scripted", replies=[])) as session:
        session.add(Message.user("x"))
    summary = SessionSummary.read(path)
    assert (summary.model, summary.usage.total, summary.cost) == (None, None, CostSums())


def test_summary_of_what_is_no_session_is_an_error(path: Path):
    with pytest.raises(SessionError, match="does not exist"):
        SessionSummary.read(path)
    path.write_text("a diary " * 100)
    with pytest.raises(SessionError, match="is damaged"):
        SessionSummary.read(path)


def test_removed_session_leaves_nothing_unless_it_is_open(path: Path):
    photo = ImagePart(Blob.from_bytes(b"\x89PNG\r\n\x1a\n" + bytes(300_000), "image/png"))
    with Session.open(path, create_llm("scripted", replies=[])) as session:
        session.add(Message.user("look", photo))
        with pytest.raises(SessionBusyError):
            remove_session(path)
        assert path.exists()
    (path.parent / "talk.session.txt").write_text("not of the session")
    remove_session(path)
    assert [each.name for each in path.parent.iterdir()] == ["talk.session.txt"]
    with pytest.raises(SessionError, match="does not exist"):
        remove_session(path)


def test_damaged_session_can_be_removed(path: Path):
    path.write_text("a diary")
    remove_session(path)
    assert [*path.parent.iterdir()] == []
