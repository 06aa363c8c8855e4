"""Journals of tool loops: what they hold, what they refuse, and how a loop goes on from one, in all four ways."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    FileJournal,
    InvalidInputError,
    JournalError,
    JournalLost,
    Price,
    Suspend,
    ToolContext,
    ToolError,
    ToolOutput,
    ToolPolicy,
    Usage,
    create_llm,
    loop_of,
    tool,
)
from abstractcore.schema import JournalEntry, TextPart, ToolCall
from abstractcore.testing import ScriptedReply
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.tools.loops import Way, calls, scripted


@tool
def pay(cents: int) -> str:
    """Pays."""
    return f"paid {cents}"


@tool(read_only=True)
def look() -> ToolOutput:
    """Looks."""
    return ToolOutput("seen", data=object())


@tool(defer=True)
def send_mail(to: str) -> str:
    """Sends an e-mail."""
    return f"sent to {to}"


def four_eyes(pending: Any) -> Any:
    return Suspend("four eyes") if pending.call.name == "pay" else True


def test_a_journal_holds_the_whole_loop(way: Way, tmp_path: Path):
    path = tmp_path / "journal"
    replies = [
        ScriptedReply.tool_call("search_tools", {"query": "mail"}, usage=Usage(100, 10)),
        ScriptedReply.tool_call("send_mail", {"to": "Ann"}, usage=Usage(100, 10)),
        ScriptedReply.tool_call("look", {}, usage=Usage(100, 10)),
        ScriptedReply.tool_call("pay", {"cents": 5}, usage=Usage(100, 10)),
    ]
    llm = create_llm("scripted", replies=replies, price=Price(input=1, output=10))
    policy = ToolPolicy(approve=four_eyes, journal=path, content_labels=("private",))
    response = way.generate(llm, tools=[pay, look, send_mail], run_tools=policy)
    found = FileJournal(path).loop()
    assert found.found == ("send_mail",)
    assert (found.usage, found.cost) == (response.usage, Decimal("0.0008"))
    assert (found.status, found.content_labels, found.needs_approval) == ("suspended", ("private",), True)
    assert found.pending == response.loop.pending
    assert found.replies == response.loop.replies
    assert [step.result for step in found.steps] == [step.result for step in response.loop.steps]
    assert [warning.code for warning in found.steps[2].warnings] == ["data_left_out"]
    assert path.stat().st_mode & 0o077 == 0


def test_output_attempts_are_kept(way: Way, tmp_path: Path):
    path = tmp_path / "journal"
    llm = create_llm("scripted", replies=["many", "7"])
    response = way.generate(llm, response_model=int, tools=[look], run_tools=ToolPolicy(journal=path), output_retries=1)
    assert response.output == 7
    assert FileJournal(path).loop().output_attempts == response.output_attempts
    assert len(response.output_attempts) == 1


def test_a_loop_goes_on_from_its_journal_alone(way: Way, tmp_path: Path):
    policy = ToolPolicy(approve=four_eyes, journal=tmp_path / "journal")
    way.generate(scripted(calls(("pay", {"cents": 5}))), tools=[pay], run_tools=policy)
    loop = FileJournal(tmp_path / "journal").loop()
    response = way.resume(scripted("Done."), loop, [loop.pending[0].allow()], tools=[pay], run_tools=policy)
    assert response.content == "Done."
    assert FileJournal(tmp_path / "journal").loop().status == "answered"


def test_answers_that_were_used_are_not_used_again(way: Way, tmp_path: Path):
    ran: list[int] = []

    @tool(name="pay")
    def count(cents: int) -> str:
        """Pays."""
        ran.append(cents)
        return "paid"

    policy = ToolPolicy(approve=four_eyes, journal=tmp_path / "journal")
    old = way.generate(scripted(calls(("pay", {"cents": 5}))), tools=[count], run_tools=policy).loop
    assert old is not None
    answers = [old.pending[0].allow()]
    with pytest.raises(Exception, match="replies"):
        way.resume(create_llm("scripted", replies=[]), old, answers, tools=[count], run_tools=policy)
    response = way.resume(scripted("Done."), old, answers, tools=[count], run_tools=policy)
    assert (response.content, ran) == ("Done.", [5])
    again = way.resume(scripted(), old, answers, tools=[count], run_tools=policy)
    assert (again.content, again.loop.status, ran) == ("Done.", "answered", [5])


def test_a_call_that_was_cut_off_waits_and_an_old_answer_does_not_fit(way: Way, tmp_path: Path):
    policy = ToolPolicy(approve=four_eyes, journal=tmp_path / "journal")
    old = way.generate(scripted(calls(("pay", {"cents": 5}), ("look", {}))), tools=[pay, look], run_tools=policy).loop
    assert old is not None
    journal = FileJournal(tmp_path / "journal")
    list(journal.open())
    journal.append(JournalEntry("intent", call=old.pending[0].call))
    journal.close()
    (pending,) = journal.loop().pending
    assert (pending.reason, pending.attempts, pending.call) == ("interrupted", 1, old.pending[0].call)
    response = way.resume(scripted(), old, [old.pending[0].allow()], tools=[pay, look], run_tools=policy)
    assert (response.loop.status, response.loop.pending[0].reason) == ("suspended", "interrupted")
    asked: list[str] = []

    def approve(pending: Any) -> bool:
        asked.append(pending.reason)
        return False

    policy = ToolPolicy(approve=approve, journal=tmp_path / "journal")
    response = way.resume(scripted("Done."), old, tools=[pay, look], run_tools=policy)
    assert (response.content, asked) == ("Done.", ["interrupted"])
    assert [step.outcome for step in response.tool_steps] == ["denied", "done"]


@pytest.mark.parametrize("answer", ["Done.", "[7]"])
def test_answer_noted_before_a_crash_is_returned_without_the_model(way: Way, tmp_path: Path, answer: str):
    path = tmp_path / "journal"
    typed: dict[str, Any] = {"response_model": list[int]} if answer == "[7]" else {}
    policy = ToolPolicy(journal=path)
    first = way.generate(scripted(calls(("pay", {"cents": 5})), answer), tools=[pay], run_tools=policy, **typed)
    path.write_bytes(b"".join(line for line in path.read_bytes().splitlines(keepends=True) if b'"end"' not in line))
    loop = FileJournal(path).loop()
    assert loop.status == "answered"
    for _ in range(2):
        response = way.resume(create_llm("scripted", replies=[]), loop, tools=[pay], run_tools=policy, **typed)
        assert (response.content, response.output, response.loop.status) == (answer, first.output, "answered")
        assert [step.result for step in response.tool_steps] == [step.result for step in first.tool_steps]
    with pytest.raises(InvalidInputError, match="the loop has ended"):
        way.resume(create_llm("scripted", replies=[]), loop, tools=[pay])


def test_the_journal_of_another_loop_is_refused(way: Way, tmp_path: Path):
    first, second = (ToolPolicy(approve=four_eyes, journal=tmp_path / name) for name in ("a", "b"))
    one = way.generate(scripted(calls(("pay", {"cents": 5}))), tools=[pay], run_tools=first).loop
    way.generate(scripted(calls(("pay", {"cents": 5}))), tools=[pay], run_tools=second)
    before = (tmp_path / "a").read_bytes()
    assert one is not None
    with pytest.raises(JournalError, match="holds another loop") as caught:
        way.generate(scripted("-"), tools=[pay], run_tools=first)
    assert "llm.resume" in (caught.value.hint or "")
    with pytest.raises(JournalError, match="holds the loop"):
        way.resume(scripted("-"), one, tools=[pay], run_tools=second)
    assert (tmp_path / "a").read_bytes() == before


def test_a_journal_without_what_the_state_has_is_refused(way: Way, tmp_path: Path):
    policy = ToolPolicy(approve=four_eyes, journal=tmp_path / "a")
    loop = way.generate(scripted(calls(("pay", {"cents": 5}))), tools=[pay], run_tools=policy).loop
    assert loop is not None
    more = scripted(calls(("pay", {"cents": 6})))
    later = way.resume(more, loop, [loop.pending[0].allow()], tools=[pay]).loop
    assert later is not None
    with pytest.raises(JournalError, match="lacks rounds or calls"):
        way.resume(scripted("-"), later, tools=[pay], run_tools=policy)
    fresh = ToolPolicy(journal=tmp_path / "b")
    response = way.resume(scripted("Done."), later, [later.pending[0].allow()], tools=[pay], run_tools=fresh)
    assert response.content == "Done."
    assert FileJournal(tmp_path / "b").loop().replies == response.loop.replies


def test_the_end_of_a_failed_loop_is_noted(way: Way, tmp_path: Path):
    @tool(on_error="raise")
    def strict() -> str:
        """Raises."""
        raise OSError("disk full")

    policy = ToolPolicy(journal=tmp_path / "journal")
    with pytest.raises(ToolError):
        way.generate(scripted(calls(("strict", {}))), tools=[strict], run_tools=policy)
    loop = FileJournal(tmp_path / "journal").loop()
    assert (loop.status, [step.outcome for step in loop.steps]) == ("failed", ["failed"])
    assert way.resume(scripted("Later."), loop, tools=[strict], run_tools=policy).content == "Later."


def entries(path: Path) -> list[str]:
    journal = FileJournal(path)
    try:
        return [entry.kind for entry in journal.open()]
    finally:
        journal.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The journal of an answered loop."""
    path = tmp_path / "journal"
    llm = scripted(calls(("pay", {"cents": 5})), "Done.")
    llm.generate("Go.", tools=[pay], run_tools=ToolPolicy(journal=str(path)))
    return path


WHOLE = ["start", "request", "reply", "decision", "intent", "step", "request", "reply", "end"]


def test_a_torn_last_line_is_ignored_and_removed_at_every_length(path: Path):
    data = path.read_bytes()
    begin = data.rstrip(b"\n").rfind(b"\n") + 1
    for length in range(begin, len(data)):
        path.write_bytes(data[:length])
        assert entries(path) == WHOLE[:-1]
        assert path.read_bytes() == data[:begin]
    path.write_bytes(data + b"\0" * 100)
    assert entries(path) == WHOLE


def test_a_torn_first_line_is_an_empty_journal(tmp_path: Path):
    journal = FileJournal(tmp_path / "journal")
    assert list(journal.open()) == []
    journal.close()
    data = journal.path.read_bytes()
    for length in range(len(data)):
        journal.path.write_bytes(data[:length])
        assert entries(journal.path) == []
    with pytest.raises(JournalError, match="holds no loop"):
        journal.loop()


def test_a_line_that_was_changed_is_refused_with_its_number(path: Path):
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(1, len(lines) - 1):
        path.write_bytes(b"".join([*lines[:number], b"{]\n", *lines[number + 1 :]]))
        with pytest.raises(JournalError, match=f"line {number + 1} "):
            entries(path)
    path.write_bytes(b"".join([*lines, b'{"schema_version":1,"type":"journal_entry","kind":"pause"}\n']))
    with pytest.raises(JournalError, match="pause"):
        entries(path)
    path.write_bytes(b"".join([lines[0], *lines[2:]]))
    with pytest.raises(JournalError, match="before the start"):
        FileJournal(path).loop()


@pytest.mark.parametrize("data", [b"hello", b"{}\n", b"\0" * 1000, b'{"format":"other"}\n'])
def test_a_file_that_is_not_a_journal_is_refused_and_kept(tmp_path: Path, data: bytes):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(JournalError, match="is not a journal"):
        scripted("-").generate("Go.", tools=[pay], run_tools=ToolPolicy(journal=path))
    assert path.read_bytes() == data


def test_a_path_that_cannot_be_a_file_is_an_error(tmp_path: Path):
    for path in (tmp_path, tmp_path / "none" / "journal", "a\0b", "\ud800"):
        with pytest.raises(JournalError, match="cannot be opened"):
            scripted("-").generate("Go.", tools=[pay], run_tools=ToolPolicy(journal=path))


def test_an_open_journal_is_locked(path: Path):
    journal = FileJournal(path)
    assert len(list(journal.open())) == len(WHOLE)
    for other in (journal, FileJournal(path)):
        with pytest.raises(JournalError, match="is in use"):
            other.open()
    journal.close()
    assert entries(path) == WHOLE


@pytest.mark.parametrize("when", ["before", "after"])
def test_call_cancelled_while_its_journal_is_opened_leaves_it_unlocked(tmp_path: Path, when: str):
    cancelled, opening, closed = threading.Event(), threading.Event(), threading.Event()

    class SlowJournal(FileJournal):
        """A journal that opens, or is about to open, when the call is cancelled."""

        def open(self) -> Iterator[JournalEntry]:
            entries = super().open() if when == "after" else iter(())
            opening.set()
            assert cancelled.wait(PATIENCE_SECONDS)
            return entries if when == "after" else super().open()

        def close(self) -> None:
            super().close()
            closed.set()

    journal = SlowJournal(tmp_path / "journal")
    policy = ToolPolicy(journal=journal)

    async def main() -> str:
        call = asyncio.create_task(scripted("-").agenerate("Go.", tools=[pay], run_tools=policy))
        assert await asyncio.to_thread(opening.wait, PATIENCE_SECONDS)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        cancelled.set()
        assert await asyncio.to_thread(closed.wait, PATIENCE_SECONDS)
        return (await scripted("Done.").agenerate("Go.", tools=[pay], run_tools=policy)).content

    assert asyncio.run(main()) == "Done."


def test_events_are_appended_to_an_open_journal_only(path: Path):
    journal = FileJournal(path)
    entry = JournalEntry("intent", call=ToolCall("1", "pay"))
    with pytest.raises(JournalError, match="is not open"):
        journal.append(entry)
    opened = journal.open()
    with pytest.raises(JournalError, match="is not open"):
        journal.append(entry)
    list(opened)
    journal.append(entry)
    journal.close()
    assert entries(path) == [*WHOLE, "intent"]


@pytest.mark.parametrize("journal", [3, b"path", object()])
def test_a_journal_must_be_a_path_or_a_journal(journal: Any):
    with pytest.raises(InvalidInputError, match=r"run_tools\.journal"):
        ToolPolicy(journal=journal)


class MemoryJournal:
    """A journal in memory, which raises `failure` in place of writing an event of the kind `at`."""

    def __init__(self, at: str = "", failure: BaseException | None = None) -> None:
        self.entries: list[JournalEntry] = []
        self.tried: list[str] = []
        self.at = at
        self.failure = failure
        self.is_open = False

    def open(self) -> list[JournalEntry]:
        self.is_open = True
        return [*self.entries]

    def append(self, entry: JournalEntry) -> None:
        assert self.is_open
        self.tried.append(entry.kind)
        if self.failure is not None and entry.kind == self.at:
            raise self.failure
        self.entries.append(entry)

    def close(self) -> None:
        self.is_open = False


def cut(journal: MemoryJournal, kind: str, number: int = 0) -> MemoryJournal:
    """Returns the journal as a crash after an event leaves it."""
    kinds = [entry.kind for entry in journal.entries]
    at = [index for index, each in enumerate(kinds) if each == kind][number]
    left = MemoryJournal()
    left.entries = journal.entries[: at + 1]
    return left


def test_a_request_is_noted_before_it_leaves(way: Way):
    journal = MemoryJournal()
    sent: list[list[str]] = []

    def answer(call: Any) -> ScriptedReply | str:
        sent.append([entry.kind for entry in journal.entries])
        return "Done." if len(sent) > 1 else calls(("look", {}))

    llm = create_llm("scripted", replies=answer)
    way.generate(llm, tools=[look], run_tools=ToolPolicy(journal=journal))
    assert [kinds[-1] for kinds in sent] == ["request", "request"]
    requests = [entry for entry in journal.entries if entry.kind == "request"]
    assert [(entry.round, entry.number) for entry in requests] == [(0, 1), (1, 1)]
    assert requests[0].digest != requests[1].digest


def test_a_request_that_a_crash_left_without_a_reply_is_repeated_with_a_warning(way: Way):
    journal = MemoryJournal()
    way.generate(scripted(calls(("look", {})), "Done."), tools=[look], run_tools=ToolPolicy(journal=journal))
    left = cut(journal, "request", 1)
    loop = loop_of(left)
    assert loop is not None
    assert (loop.status, loop.requests) == ("running", 1)
    policy = ToolPolicy(journal=left)
    with pytest.raises(Exception, match="replies"):
        way.resume(create_llm("scripted", replies=[]), loop, tools=[look], run_tools=policy)
    left = cut(left, "request", 2)
    response = way.resume(scripted("Done."), loop_of(left), tools=[look], run_tools=ToolPolicy(journal=left))
    assert [warning.code for warning in response.warnings] == ["request_repeated"]
    assert "round 2 was sent 2 times before a crash" in response.warnings[0].message
    requests = [entry for entry in left.entries if entry.kind == "request"]
    assert [entry.number for entry in requests] == [1, 1, 2, 3]
    assert requests[1].digest == requests[2].digest == requests[3].digest != requests[0].digest
    assert loop_of(left).requests == response.loop.requests == 0


def test_a_failed_request_is_known_and_repeated_without_a_warning(way: Way):
    journal = MemoryJournal()
    with pytest.raises(Exception, match="replies"):
        way.generate(create_llm("scripted", replies=[]), tools=[look], run_tools=ToolPolicy(journal=journal))
    loop = loop_of(journal)
    assert loop is not None
    assert (loop.status, loop.requests) == ("failed", 0)
    assert way.resume(scripted("Done."), loop, tools=[look]).warnings == ()


@pytest.mark.parametrize("at", ["start", "request", "reply", "decision", "intent", "step", "end"])
@pytest.mark.parametrize("failure", [RuntimeError("disk on fire"), JournalLost("taken over")], ids=["other", "lost"])
def test_after_a_failure_of_another_kind_nothing_is_written(way: Way, at: str, failure: Exception):
    journal = MemoryJournal(at, failure)
    llm = scripted(calls(("pay", {"cents": 5})), "Done.")
    with pytest.raises(type(failure), match=str(failure)) as caught:
        way.generate(llm, tools=[pay], run_tools=ToolPolicy(journal=journal))
    assert journal.tried[-1] == at
    assert journal.tried.count(at) == 1
    assert not journal.is_open
    loop: Any = caught.value.loop  # pyright: ignore[reportAttributeAccessIssue]
    assert loop.status in ("failed", "answered")


def test_a_tool_beside_a_lost_journal_is_not_begun():
    ran: list[str] = []

    @tool(parallel=False)
    def work(name: str) -> str:
        """Works."""
        ran.append(name)
        return name

    journal = MemoryJournal("step", JournalLost("taken over"))
    with pytest.raises(JournalLost):
        scripted(calls(("work", {"name": "a"}), ("work", {"name": "b"}))).generate(
            "Go.", tools=[work], run_tools=ToolPolicy(journal=journal)
        )
    assert ran == ["a"]


def test_a_journal_that_can_write_again_gets_the_end(way: Way):
    journal = MemoryJournal("decision", JournalError("the disk is full."))
    with pytest.raises(JournalError):
        way.generate(scripted(calls(("pay", {"cents": 5}))), tools=[pay], run_tools=ToolPolicy(journal=journal))
    assert [entry.kind for entry in journal.entries][-2:] == ["step", "end"]


def test_a_start_with_a_later_state_is_a_snapshot(way: Way):
    journal = MemoryJournal()
    policy = ToolPolicy(approve=four_eyes, journal=journal)
    way.generate(scripted(calls(("look", {}), ("pay", {"cents": 5}))), tools=[pay, look], run_tools=policy)
    loop = loop_of(journal)
    assert loop is not None
    compacted = MemoryJournal()
    compacted.entries = [JournalEntry("start", loop=loop)]
    assert loop_of(compacted) == loop
    policy = ToolPolicy(approve=four_eyes, journal=compacted)
    response = way.resume(scripted("Done."), loop, [loop.pending[0].allow()], tools=[pay, look], run_tools=policy)
    assert response.content == "Done."
    assert loop_of(compacted).status == "answered"


def test_an_empty_journal_holds_no_loop(tmp_path: Path):
    assert loop_of(MemoryJournal()) is None
    assert loop_of(tmp_path / "journal") is None


def test_a_loop_is_of_a_path_or_a_journal(path: Path):
    assert loop_of(path) == loop_of(str(path)) == FileJournal(path).loop()
    with pytest.raises(InvalidInputError, match="expected a path or a Journal, got int"):
        loop_of(7)  # pyright: ignore[reportArgumentType]


def test_a_journal_in_use_stays_open_when_its_loop_is_asked_for(path: Path):
    journal = FileJournal(path)
    list(journal.open())
    with pytest.raises(JournalError, match="is in use"):
        journal.loop()
    journal.append(JournalEntry("intent", call=ToolCall("1", "pay")))
    journal.close()


def test_the_id_of_a_loop_can_be_given(way: Way):
    journal = MemoryJournal()
    policy = ToolPolicy(journal=journal, loop_id="run-17", approve=lambda pending: Suspend())
    response = way.generate(scripted(calls(("look", {}))), tools=[look], run_tools=policy)
    assert response.loop.id == response.trace_id == loop_of(journal).id == "run-17"
    again = way.resume(scripted("Done."), response.loop, [response.pending[0].allow()], tools=[look])
    assert again.loop.id == "run-17"


@pytest.mark.parametrize("loop_id", ["", "  ", 7])
def test_the_id_of_a_loop_is_text(loop_id: Any):
    with pytest.raises(InvalidInputError, match=r"run_tools\.loop_id"):
        ToolPolicy(loop_id=loop_id)


def test_the_idempotency_key_is_the_same_after_a_crash_and_differs_between_calls(way: Way):
    keys: list[tuple[str, str]] = []

    @tool(idempotent=True)
    def send(to: str, context: ToolContext[None]) -> str:
        """Sends."""
        keys.append((to, context.idempotency_key))
        return "sent"

    journal = MemoryJournal()
    answers = [calls(("send", {"to": "a"}), ("send", {"to": "b"})), calls(("send", {"to": "a"})), "Done."]
    way.generate(scripted(*answers), tools=[send], run_tools=ToolPolicy(journal=journal))
    assert len({key for _, key in keys}) == 3
    before = keys[2]
    left = cut(journal, "intent", 2)
    way.resume(scripted("Done."), loop_of(left), tools=[send], run_tools=ToolPolicy(journal=left))
    assert keys[3:] == [before]


class FullOnce:
    """A journal that refuses the first event of a kind."""

    def __init__(self, kind: str) -> None:
        self.kind: str | None = kind
        self.entries: list[JournalEntry] = []

    def open(self) -> list[JournalEntry]:
        return [*self.entries]

    def append(self, entry: JournalEntry) -> None:
        if entry.kind == self.kind:
            self.kind = None
            raise JournalError("the disk is full.")
        self.entries.append(entry)

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("kind", "noted"),
    [
        ("start", []),
        ("reply", ["start", "request"]),
        ("step", ["start", "request", "reply", "decision", "intent", "step", "end"]),
    ],
)
def test_nothing_is_noted_that_needs_an_event_which_could_not_be_noted(kind: str, noted: list[str]):
    @tool
    def work() -> str:
        """Works."""
        return "done"

    journal = FullOnce(kind)
    llm = scripted(calls(("work", {})), "answer")
    with pytest.raises(JournalError, match="disk is full"):
        llm.generate("hi", tools=[work], run_tools=ToolPolicy(journal=journal))
    assert [entry.kind for entry in journal.entries] == noted
    loop = loop_of(journal)
    assert (loop is None) == (kind == "start")
    if loop is not None:
        assert [step.result.content for step in loop.steps] == [(TextPart("done"),)] * (kind == "step")
        assert loop.requests == (1 if kind == "reply" else 0)
