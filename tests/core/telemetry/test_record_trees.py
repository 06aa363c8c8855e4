"""Records of interactions and tool runs: a tree in which each parent is a record, and the sum is what was spent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from abstractcore import (
    CallInterruptedError,
    CallRecord,
    Deny,
    Edit,
    InteractionRecord,
    Interruption,
    InvalidInputError,
    OutputValidationError,
    OverloadedError,
    Price,
    Services,
    Suspend,
    ToolContext,
    ToolError,
    ToolPolicy,
    ToolRecord,
    TraceRecord,
    context,
    create_llm,
    tool,
)
from abstractcore.schema import from_json, to_json
from abstractcore.testing import CallStyle, ScriptedReply, VirtualClock
from tests.backend_doubles import Beeper, Painter, leave_out_installed_backends
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.capabilities.replies.voices import Talker
from tests.core.tools.loops import STREAMED_WAYS, WAYS, Way, calls

PRICE = Price(input=1, output=10)


@pytest.fixture(params=WAYS)
def way(request: Any) -> Iterator[Way]:
    """One of the four ways."""
    with Way.of(request.param) as way:
        yield way


@pytest.fixture
def services() -> Iterator[Services]:
    """Pauses before retries take no time here."""
    services = Services(environment={}, clock=VirtualClock())
    yield services
    services.close()


@pytest.fixture(autouse=True)
def no_installed_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests register their own."""
    leave_out_installed_backends(monkeypatch)


@dataclass
class Tree:
    """All records of a test."""

    services: Services
    records: list[TraceRecord] = field(default_factory=list[TraceRecord])
    _arrival: threading.Condition = field(default_factory=threading.Condition)

    def add(self, record: TraceRecord) -> None:
        """Adds a record."""
        with self._arrival:
            self.records.append(record)
            self._arrival.notify_all()

    def wait_for(self, count: int) -> None:
        """Waits for records of calls that end in a thread of their own."""
        with self._arrival:
            assert self._arrival.wait_for(lambda: len(self.records) >= count, PATIENCE_SECONDS)

    def read(self) -> list[TraceRecord]:
        """Returns the records, after checking that they are trees."""
        assert self.services.records.flush(PATIENCE_SECONDS)
        ids = [record.trace_id for record in self.records]
        assert len(set(ids)) == len(ids)
        assert {record.parent_id for record in self.records} <= {*ids, None}
        for record in self.records:
            assert from_json(to_json(record)) == record
        return self.records

    def of(self, kind: type[Any]) -> list[Any]:
        """Returns the records of one class."""
        return [record for record in self.read() if isinstance(record, kind)]

    def cost(self) -> Decimal:
        """Returns the sum of what all records cost."""
        costs = (getattr(record, "cost", None) for record in self.read())
        return sum((cost for cost in costs if cost is not None), Decimal(0))

    def shape(self) -> list[str]:
        """Returns each record by its kind, indented beneath its parent, in order of beginning."""
        records = self.read()

        def beneath(parent: str | None, depth: int) -> Iterator[str]:
            for record in records:
                if record.parent_id == parent:
                    name = (
                        f"{record.kind}: {record.outcome}"
                        if isinstance(record, InteractionRecord)
                        else f"{record.tool}: {record.outcome}"
                        if isinstance(record, ToolRecord)
                        else f"{record.operation}: {record.outcome}"
                    )
                    yield "  " * depth + name
                    yield from beneath(record.trace_id, depth + 1)

        return list(beneath(None, 0))


@pytest.fixture
def tree(services: Services) -> Iterator[Tree]:
    """The records of everything, with their content."""
    tree = Tree(services)
    with services.records.subscribe(tree.add, "full", "all"):
        yield tree


@tool(price="0.25")
def pay(to: str) -> str:
    """Pays."""
    return f"paid {to}"


@tool
def clock() -> str:
    """The time."""
    return "noon"


def test_loop_has_a_record_and_so_has_each_tool_run(way: Way, services: Services, tree: Tree):
    replies = [
        calls(("pay", {"to": "Ann"}), ("clock", {}), ("sing", {})),
        OverloadedError("busy", retry_after=1),
        calls(("pay", {"cc": "Bob"})),
        "none",
        "[1]",
    ]
    llm = create_llm("scripted", replies=replies, services=services, price=PRICE)
    with context(tags={"team": "t"}):
        response: Any = way.generate(llm, tools=[pay, clock], run_tools=True, response_model=list[int])
    (interaction,) = tree.of(InteractionRecord)
    assert (interaction.trace_id, interaction.parent_id) == (response.trace_id, None)
    assert (interaction.kind, interaction.outcome, interaction.status) == ("tools", "done", "answered")
    assert (interaction.calls, interaction.tool_runs, interaction.tags) == (4, 4, {"team": "t"})
    assert (interaction.provider, interaction.model) == ("scripted", response.model)
    assert (interaction.streamed, interaction.seconds_to_first is not None) == (way.streamed, way.streamed)
    runs = tree.of(ToolRecord)
    assert {(run.tool, run.outcome, run.source, run.round) for run in runs} == {
        ("pay", "done", "function", 0),
        ("clock", "done", "function", 0),
        ("sing", "unknown_tool", None, 0),
        ("pay", "invalid_arguments", "function", 1),
    }
    paid = next(run for run in runs if run.outcome == "done" and run.tool == "pay")
    assert (paid.arguments, paid.result.as_text, paid.cost) == ({"to": "Ann"}, "paid Ann", Decimal("0.25"))
    assert (paid.parent_id, paid.tags) == (interaction.trace_id, {"team": "t"})
    assert paid.call_id == response.tool_steps[0].call.id
    assert [record.discarded for record in tree.of(CallRecord)] == [False, False, True, False]
    assert {record.parent_id for record in tree.of(CallRecord)} == {interaction.trace_id}
    assert tree.cost() == response.cost == response.loop.cost
    assert response.cost > Decimal("0.25")


def test_call_without_tools_or_corrections_has_no_interaction(way: Way, services: Services, tree: Tree):
    llm = create_llm("scripted", replies=["[1]", "hi"], services=services, price=PRICE)
    responses = [way.generate(llm, response_model=list[int]), way.generate(llm)]
    assert tree.shape() == ["chat: done", "chat: done"]
    assert [record.trace_id for record in tree.read()] == [response.trace_id for response in responses]


@pytest.mark.parametrize("is_checked", [False, True])
def test_corrected_answer_is_an_interaction(way: Way, services: Services, tree: Tree, is_checked: bool):
    def check(output: list[int]) -> str | None:
        return "too few" if len(output) < 2 else None

    llm = create_llm("scripted", replies=["[1]" if is_checked else "one", "[1, 2]"], services=services, price=PRICE)
    given: Any = {"output_check": check} if is_checked else {}
    with context(parent_id="job"):
        response = way.generate(llm, response_model=list[int], **given)
    assert services.records.flush(PATIENCE_SECONDS)
    first, second, interaction = tree.records
    assert isinstance(first, CallRecord)
    assert isinstance(second, CallRecord)
    assert isinstance(interaction, InteractionRecord)
    assert (first.trace_id, first.discarded, second.discarded) == (response.trace_id, True, False)
    assert {first.parent_id, second.parent_id} == {interaction.trace_id}
    assert (interaction.kind, interaction.parent_id, interaction.calls) == ("correction", "job", 2)
    assert response.cost == (first.cost or 0) + (second.cost or 0)


def test_answer_that_is_never_valid_fails_its_interaction(way: Way, services: Services, tree: Tree):
    llm = create_llm("scripted", replies=["one", "two"], services=services)
    with pytest.raises(OutputValidationError):
        way.generate(llm, response_model=list[int])
    assert tree.shape() == ["correction: failed", "  chat: done", "  chat: failed"]
    (interaction,) = tree.of(InteractionRecord)
    assert interaction.error.type == "OutputValidationError"


def test_single_answer_that_is_not_valid_has_no_interaction(way: Way, services: Services, tree: Tree):
    llm = create_llm("scripted", replies=["one"], services=services)
    with pytest.raises(OutputValidationError):
        way.generate(llm, response_model=list[int], output_retries=0)
    assert tree.shape() == ["chat: failed"]


def test_round_that_fails_fails_the_interaction(way: Way, services: Services, tree: Tree):
    replies = [calls(("pay", {"to": "Ann"})), OverloadedError("busy")]
    llm = create_llm("scripted", replies=replies, services=services, price=PRICE, max_retries=0)
    caught: Any
    with pytest.raises(OverloadedError) as caught:
        way.generate(llm, tools=[pay], run_tools=True)
    assert tree.shape() == ["tools: failed", "  chat: done", "  pay: done", "  chat: failed"]
    (interaction,) = tree.of(InteractionRecord)
    assert (interaction.trace_id, interaction.status, interaction.calls) == (caught.value.loop.id, "failed", 2)
    assert (interaction.error.type, interaction.error.message) == ("OverloadedError", "busy")
    assert tree.cost() == caught.value.loop.cost


def test_tool_that_raises_ends_the_interaction(way: Way, services: Services, tree: Tree):
    @tool(on_error="raise")
    def broken() -> str:
        """Breaks."""
        raise ValueError("no")

    llm = create_llm("scripted", replies=[calls(("broken", {}), ("pay", {"to": "Ann"}))], services=services)
    with pytest.raises(ToolError):
        way.generate(llm, tools=[broken, pay], run_tools=True)
    assert tree.shape()[0] == "tools: failed"
    assert set(tree.shape()[1:]) == {"  chat: done", "  broken: failed", "  pay: done"}


def test_refused_and_edited_calls_say_who_decided(way: Way, services: Services, tree: Tree):
    def approve(pending: Any) -> Any:
        to = pending.call.arguments["to"]
        return Deny("no") if to == "Ann" else Edit({"to": "Cy"}) if to == "Bob" else True

    replies = [calls(*(("pay", {"to": to}) for to in ("Ann", "Bob", "Eve"))), "Done."]
    llm = create_llm("scripted", replies=replies, services=services)
    way.generate(llm, tools=[pay], run_tools=ToolPolicy(approve=approve))
    found = {(run.outcome, run.approval.decision, run.approval.by, run.cost) for run in tree.of(ToolRecord)}
    price = Decimal("0.25")
    assert found == {
        ("denied", "denied", "approver", None),
        ("done", "edited", "approver", price),
        ("done", "allowed", "approver", price),
    }
    edited = next(run for run in tree.of(ToolRecord) if run.approval.decision == "edited")
    assert (edited.arguments, edited.approval.requested) == ({"to": "Cy"}, {"to": "Bob"})


def test_loop_that_is_continued_has_one_id(way: Way, services: Services):
    tree = Tree(services)
    replies = [calls(("pay", {"to": "Ann"}), ("pay", {"to": "Bob"})), "Done."]
    llm = create_llm("scripted", replies=replies, services=services, price=PRICE)
    with services.records.subscribe(tree.records.append, "off", "all"), context(tags={"team": "t"}):
        waiting = way.generate(llm, tools=[pay], run_tools=ToolPolicy(approve=lambda pending: Suspend()))
        first, second = waiting.pending
        response = way.resume(llm, waiting, [first.allow(), second.result("paid elsewhere")], tools=[pay])
    before, after = [record for record in tree.records if isinstance(record, InteractionRecord)]
    assert before.trace_id == after.trace_id == response.trace_id
    assert [(each.outcome, each.status) for each in (before, after)] == [("done", "suspended"), ("done", "answered")]
    assert [(each.calls, each.tool_runs) for each in (before, after)] == [(1, 0), (2, 2)]
    tree.records.remove(before)
    runs = {(run.source, run.approval.decision, run.approval.by, run.cost) for run in tree.of(ToolRecord)}
    assert runs == {("function", "allowed", "answer", Decimal("0.25")), ("answer", "answered", "answer", None)}
    assert {run.parent_id for run in tree.of(ToolRecord)} == {response.trace_id}
    assert {record.tags["team"] for record in tree.read()} == {"t"}
    assert tree.cost() == response.cost


def test_limits_leave_records_of_what_was_not_run(way: Way, services: Services, tree: Tree):
    replies = [calls(("pay", {"to": "Ann"}))] * 2
    llm = create_llm("scripted", replies=replies, services=services)
    way.generate(llm, tools=[pay], run_tools=ToolPolicy(max_rounds=2, on_limit="stop"))
    assert tree.shape() == ["tools: done", "  chat: done", "  pay: done", "  chat: done", "  pay: not_run"]
    (interaction,) = tree.of(InteractionRecord)
    assert (interaction.status, [each.code for each in interaction.warnings]) == ("max_rounds", ["tool_limit_reached"])


def test_tool_that_is_too_slow_is_charged(way: Way, services: Services, tree: Tree):
    ended = threading.Event()

    @tool(price=0.5, timeout=0.01)
    def slow() -> str:
        """Waits."""
        assert ended.wait(PATIENCE_SECONDS)
        return "late"

    llm = create_llm("scripted", replies=[calls(("slow", {})), "Done."], services=services, price=PRICE)
    response = way.generate(llm, tools=[slow], run_tools=True)
    ended.set()
    (run,) = tree.of(ToolRecord)
    assert (run.outcome, run.cost) == ("timed_out", Decimal("0.5"))
    assert tree.cost() == response.cost


def test_calls_of_a_tool_are_beneath_its_run(way: Way, services: Services, tree: Tree):
    other = create_llm("scripted", replies=["One.", "Two."], services=services, price=PRICE)

    @tool
    def ask(question: str, context: ToolContext[Any]) -> str:
        """Asks."""
        return other.generate(question).content

    @tool
    async def ask_later(question: str) -> str:
        """Asks."""
        return (await other.agenerate(question)).content

    replies = [calls(("ask", {"question": "1?"}), ("ask_later", {"question": "2?"})), "Done."]
    llm = create_llm("scripted", replies=replies, services=services)
    way.generate(llm, tools=[ask, ask_later], run_tools=True)
    shape = tree.shape()
    assert shape[0] == "tools: done"
    for name in ("ask", "ask_later"):
        assert shape[shape.index(f"  {name}: done") + 1] == "    chat: done"
    assert {record.parent_id for record in tree.of(CallRecord)} > {run.trace_id for run in tree.of(ToolRecord)}


def test_tools_of_the_loop_itself_have_records(way: Way, services: Services, tree: Tree):
    @tool(defer=True)
    def stock() -> str:
        """What is in stock."""
        return "nothing " * 4000

    search: Any = calls(("search_tools", {"query": "stock"}))

    def read(call: Any) -> Any:
        (done,) = [part.id for message in call.messages for part in message.tool_calls if part.name == "stock"]
        return calls(("read_result", {"id": done}))

    llm = create_llm("scripted", replies=[search, calls(("stock", {})), read, "Done."], services=services)
    way.generate(llm, tools=[stock], run_tools=ToolPolicy(max_result=1000), tool_search="client")
    assert [(run.tool, run.source) for run in tree.of(ToolRecord)] == [
        ("search_tools", "own"),
        ("stock", "function"),
        ("read_result", "own"),
    ]


@pytest.mark.parametrize("name", STREAMED_WAYS)
def test_stream_that_is_left_is_abandoned(name: str, services: Services, tree: Tree):
    replies = [calls(("pay", {"to": "Ann"})), ScriptedReply.chunks(["a ", "b ", "c"])]
    llm = create_llm("scripted", replies=replies, services=services, price=PRICE)
    with Way.of(name) as way, way.style.stream(llm, "Go.", tools=[pay], run_tools=True) as stream:
        for event in stream:
            if getattr(event, "text", None) == "a ":
                break
    assert tree.shape() == ["tools: abandoned", "  chat: done", "  pay: done", "  chat: abandoned"]


def test_cancelled_loop_has_records_of_what_ran(services: Services, tree: Tree):
    begun = asyncio.Event()

    @tool(price=1)
    async def endless() -> str:
        """Never ends."""
        begun.set()
        await asyncio.Event().wait()
        return "-"

    llm = create_llm("scripted", replies=[calls(("endless", {}))], services=services, price=PRICE)

    async def main() -> Any:
        call = asyncio.create_task(llm.agenerate("Go.", tools=[endless], run_tools=True))
        await begun.wait()
        call.cancel()
        caught: Any
        with pytest.raises(asyncio.CancelledError) as caught:
            await call
        return caught.value.loop

    loop = asyncio.run(main())
    assert tree.shape() == ["tools: cancelled", "  chat: done", "  endless: interrupted"]
    (run,) = tree.of(ToolRecord)
    assert run.cost == 1
    assert tree.cost() == loop.cost


def test_interrupted_loop_is_cancelled(way: Way, services: Services, tree: Tree):
    interruption = Interruption()

    @tool
    def stop() -> str:
        """Stops the call."""
        interruption.set()
        return "stopped"

    llm = create_llm("scripted", replies=[calls(("stop", {})), "Done."], services=services)
    with pytest.raises(CallInterruptedError):
        way.generate(llm, tools=[stop], run_tools=True, interruption=interruption)
    (interaction,) = tree.of(InteractionRecord)
    assert interaction.outcome == "cancelled"
    assert len(tree.of(ToolRecord)) == 1


def speaking(services: Services, **backends: Any) -> None:
    def register(registry: Any) -> None:
        for capability, factory in backends.items():
            registry.register_backend(capability=capability, backend_id=f"tests:{capability}", factory=factory)

    services.registry.add_backends(register)


@pytest.mark.parametrize("has_tools", [False, True])
def test_answer_that_is_spoken_and_drawn_is_an_interaction(
    call_style: CallStyle, services: Services, tree: Tree, has_tools: bool
):
    speaking(services, voice=Beeper, vision=Painter)
    replies: list[Any] = [calls(("pay", {"to": "Ann"}))] if has_tools else []
    llm = create_llm("scripted", replies=[*replies, "A sea."], services=services, facts={"produces": []}, price=PRICE)
    given: Any = {"tools": [pay], "run_tools": True} if has_tools else {}
    with context(tags={"team": "t"}):
        response = call_style.generate(llm, "Describe it.", modalities=["text", "audio", "image"], **given)
    shape = tree.shape()
    inner = ["  tools: done", "    chat: done", "    pay: done", "    chat: done"] if has_tools else ["  chat: done"]
    assert shape[0] == "media: done"
    assert sorted(shape[1:]) == sorted([*inner, "  tts: done", "  t2i: done"])
    root = next(each for each in tree.of(InteractionRecord) if each.kind == "media")
    assert (root.calls, root.tags) == (3 + has_tools, {"team": "t"})
    made = [each.cost for each in response.made if each.cost is not None]
    assert tree.cost() == sum(made, response.cost or Decimal(0))


def test_backend_that_fails_fails_the_interaction(call_style: CallStyle, services: Services, tree: Tree):
    class Mute(Beeper):
        def tts(self, *arguments: Any, **options: Any) -> Any:
            raise OSError("no device")

    speaking(services, voice=Mute)
    llm = create_llm("scripted", replies=["A sea."], services=services, facts={"produces": []})
    with pytest.raises(Exception, match="no device"):
        call_style.generate(llm, "Describe it.", modalities=["audio"])
    assert tree.shape() == ["media: failed", "  chat: done", "  tts: failed"]


@pytest.mark.parametrize("is_left", [False, True])
def test_spoken_reply_is_an_interaction(call_style: CallStyle, services: Services, tree: Tree, is_left: bool):
    from tests.core.capabilities.replies.conversations import interrupted, read

    speaking(services, voice=Talker)
    llm = create_llm("scripted", replies=["One. Two."], services=services)
    _, reply = read(call_style, llm, "Count.", until=(lambda part: is_left))
    if is_left:
        interrupted(call_style, reply)
    tree.wait_for(3)
    shape = tree.shape()
    assert shape[0] in (["media: done", "media: abandoned"] if is_left else ["media: done"])  # it is read ahead
    assert [line.partition(":")[0] for line in sorted(shape[1:])] == ["  chat", "  tts_stream"]


def test_subscriber_of_calls_sees_what_it_saw_before(way: Way, services: Services, tree: Tree):
    others: list[Any] = []
    llm = create_llm("scripted", replies=[calls(("pay", {"to": "Ann"})), "Done.", "one", "[1]"], services=services)
    with services.records.subscribe(others.append), context(parent_id="job"):
        way.generate(llm, tools=[pay], run_tools=True)
        corrected = way.generate(llm, response_model=list[int])
        assert services.records.flush(PATIENCE_SECONDS)
    assert all(isinstance(record, CallRecord) for record in others)
    assert [record.parent_id for record in others] == ["job", "job", "job", "job"]
    assert others[2].trace_id == corrected.trace_id
    assert len(tree.records) == 4 + 2 + 1


CANARY = "sk-canary-7c1f0e5d9b3a4286"


@pytest.mark.parametrize("capture", ["off", "redacted", "full"])
def test_credentials_and_content_are_in_no_record_that_must_not_hold_them(way: Way, services: Services, capture: Any):
    @tool
    def leak(text: str) -> str:
        """Fails with a credential."""
        raise ValueError(f"{text}: refused for {CANARY}")

    class Answer(BaseModel):
        number: int

    found: list[TraceRecord] = []
    replies = [calls(("leak", {"text": "content-canary"})), "content-canary", OverloadedError(f"busy {CANARY}")]
    llm = create_llm("scripted", replies=replies, services=services, max_retries=0)
    given: Any = {"tools": [leak], "run_tools": True, "response_model": Answer}
    with services.records.subscribe(found.append, capture, "all"):
        with pytest.raises(OverloadedError):
            way.generate(llm, "content-canary", headers={"x-key": CANARY}, **given)
        assert services.records.flush(PATIENCE_SECONDS)
    assert len(found) == 3 + 1 + 1
    texts = [to_json(record) for record in found]
    assert not any(CANARY in text for text in texts)
    assert any("content-canary" in text for text in texts) == (capture == "full")


@pytest.mark.parametrize("price", [-1, "much", float("nan"), True])
def test_price_of_a_tool_is_a_number_of_dollars(price: Any):
    with pytest.raises(InvalidInputError) as caught:
        tool(price=price)(lambda: None)
    assert caught.value.path == "price"


def test_nothing_is_traced_while_nobody_wants_it(way: Way, services: Services, monkeypatch: pytest.MonkeyPatch):
    from abstractcore.engine import interactions

    def refuse(*arguments: Any) -> None:
        raise AssertionError("traced")

    monkeypatch.setattr(interactions.InteractionTrace, "__init__", refuse)
    seen: list[Any] = []
    llm = create_llm("scripted", replies=[calls(("pay", {"to": "Ann"})), "Done."], services=services)
    with services.records.subscribe(seen.append):
        way.generate(llm, tools=[pay], run_tools=True)
    assert len(seen) == 2


def test_tracing_calls_of_a_subscriber_are_not_traced_again(services: Services):
    llm = create_llm("scripted", replies=[calls(("pay", {"to": "Ann"})), "Done."] * 2, services=services)
    seen: list[Any] = []
    again: list[Callable[[], Any]] = [lambda: llm.generate("Again.", tools=[pay], run_tools=True)]

    def subscriber(record: TraceRecord) -> None:
        seen.append(record)
        if again:
            again.pop()()

    with services.records.subscribe(subscriber, "off", "all"):
        llm.generate("Go.", tools=[pay], run_tools=True)
        assert services.records.flush(PATIENCE_SECONDS)
    assert len(seen) == 4


@pytest.mark.parametrize("records", ["some", None])
def test_unknown_records_are_refused(services: Services, records: Any):
    with pytest.raises(InvalidInputError) as caught:
        services.records.subscribe(print, "off", records)
    assert caught.value.path == "records"
