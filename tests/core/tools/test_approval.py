"""Approval and suspension: what an approver may answer, and what becomes of answers and states, in all four ways."""

import asyncio
import base64
import json
import threading
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    AbstractCoreError,
    Allow,
    ApprovalRule,
    Blob,
    Deny,
    Edit,
    ImagePart,
    InvalidInputError,
    Message,
    PendingCall,
    RequestTimeoutError,
    SchemaError,
    Suspend,
    ToolAnswer,
    ToolCall,
    ToolContext,
    ToolError,
    ToolLoop,
    ToolOutput,
    ToolPolicy,
    ToolSpec,
    create_llm,
    from_json,
    to_json,
    tool,
)
from tests.core.tools.loops import Way, calls, scripted

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")
LOOKUP = ToolSpec("lookup", "Looks up.", {"type": "object", "properties": {"key": {"type": "string"}}})


@dataclass
class Bank:
    """What has been paid; tools get it as `deps`."""

    paid: list[tuple[str, int]]


@tool
def pay(to: str, cents: int, context: ToolContext[Bank]) -> str:
    """Pays.

    Args:
        to: Who gets it.
        cents: How much.
    """
    context.deps.paid.append((to, cents))
    return f"paid {cents} to {to}"


@tool(read_only=True)
def balance() -> int:
    """The balance in cents."""
    return 1000


@pytest.fixture
def bank() -> Bank:
    return Bank([])


def suspended(way: Way, bank: Bank, *more: tuple[str, dict[str, Any]]) -> ToolLoop:
    """The state of a loop whose call of `pay` waits for approval, read back from JSON."""
    llm = scripted(calls(("pay", {"to": "Ann", "cents": 5}), *more))
    policy = ToolPolicy(approve=lambda pending: pending.call.name != "pay" or Suspend("four eyes"))
    response = way.generate(llm, tools=[pay, balance, LOOKUP], run_tools=policy, deps=bank)
    assert response.loop.status == "suspended"
    return reread(response.loop)


def reread(loop: ToolLoop) -> ToolLoop:
    again = from_json(to_json(loop))
    assert isinstance(again, ToolLoop)
    assert again == loop
    return again


def texts(response: Any) -> list[str]:
    return [step.result.as_text for step in response.tool_steps]


async def allow_async(pending: PendingCall) -> Any:
    await asyncio.sleep(0)
    return Allow()


@pytest.mark.parametrize("approve", [lambda _: Allow(), lambda _: True, allow_async])
def test_an_allowed_call_runs(way: Way, bank: Bank, approve: Any):
    llm = scripted(calls(("pay", {"to": "Ann", "cents": 5})), "Done.")
    response = way.generate(llm, tools=[pay], run_tools=ToolPolicy(approve=approve), deps=bank)
    assert (response.content, bank.paid) == ("Done.", [("Ann", 5)])


@pytest.mark.parametrize(
    ("answer", "text"),
    [(Deny("too much"), "not run: denied: too much"), (Deny(), "not run: denied"), (False, "not run: denied")],
)
def test_a_denied_call_does_not_run_and_the_model_reads_why(way: Way, bank: Bank, answer: Any, text: str):
    llm = scripted(calls(("pay", {"to": "Ann", "cents": 5}), ("balance", {})), "Sorry.")
    policy = ToolPolicy(approve=lambda pending: answer if pending.call.name == "pay" else True)
    response = way.generate(llm, tools=[pay, balance], run_tools=policy, deps=bank)
    assert (response.content, bank.paid) == ("Sorry.", [])
    assert [step.outcome for step in response.tool_steps] == ["denied", "done"]
    assert texts(response) == [text, "1000"]


def test_an_edited_call_runs_with_the_new_arguments_and_keeps_the_old_ones(way: Way, bank: Bank):
    llm = scripted(calls(("pay", {"to": "Ann", "cents": 500})), "Done.")
    policy = ToolPolicy(approve=lambda _: Edit({"to": "Ann", "cents": 5}))
    response = way.generate(llm, tools=[pay], run_tools=policy, deps=bank)
    (step,) = response.tool_steps
    assert bank.paid == [("Ann", 5)]
    assert step.call.arguments == {"to": "Ann", "cents": 5}
    assert step.requested.arguments == {"to": "Ann", "cents": 500}
    assert llm.calls[1].messages[1].parts[0] == step.requested


def test_edited_arguments_are_validated_before_they_run(way: Way, bank: Bank):
    llm = scripted(calls(("pay", {"to": "Ann", "cents": 500})), "Oh.")
    response = way.generate(
        llm, tools=[pay], run_tools=ToolPolicy(approve=lambda _: Edit({"to": "Ann", "cents": "much"})), deps=bank
    )
    (step,) = response.tool_steps
    assert (step.outcome, bank.paid) == ("invalid_arguments", [])
    assert step.requested.arguments["cents"] == 500


def test_arguments_are_validated_before_the_approver_is_asked(way: Way):
    asked: list[PendingCall] = []

    def approve(pending: PendingCall) -> bool:
        asked.append(pending)
        return True

    llm = scripted(calls(("pay", {"to": "Ann"}), ("nothing", {})), "Oh.")
    response = way.generate(llm, tools=[pay], run_tools=ToolPolicy(approve=approve))
    assert [step.outcome for step in response.tool_steps] == ["invalid_arguments", "unknown_tool"]
    assert asked == []


def test_the_approver_sees_the_call_its_tool_and_its_loop(way: Way, bank: Bank):
    asked: list[PendingCall] = []

    def approve(pending: PendingCall) -> Suspend:
        asked.append(pending)
        return Suspend("four eyes")

    llm = scripted(calls(("balance", {})))
    response = way.generate(llm, tools=[pay, balance], run_tools=ToolPolicy(approve=approve), deps=bank)
    (pending,) = asked
    assert pending.tool == balance.spec
    assert (pending.loop, pending.round, pending.reason) == (response.loop.id, 0, "approval")
    assert response.loop.pending[0].note == "four eyes"


@pytest.mark.parametrize("answer", [None, "yes", 1, [], Allow])
def test_a_wrong_decision_is_an_error_and_nothing_runs(way: Way, bank: Bank, answer: Any):
    llm = scripted(calls(("pay", {"to": "Ann", "cents": 5})))
    with pytest.raises(InvalidInputError, match=r"run_tools.approve: the approver returned"):
        way.generate(llm, tools=[pay], run_tools=ToolPolicy(approve=lambda _: answer), deps=bank)
    assert bank.paid == []


def test_an_approver_that_raises_ends_the_call_and_nothing_runs(way: Way, bank: Bank):
    def approve(pending: PendingCall) -> bool:
        raise KeyError("no such user")

    llm = scripted(calls(("pay", {"to": "Ann", "cents": 5})), "Later.")
    with pytest.raises(ToolError, match="the approver failed for 'pay': KeyError: 'no such user'") as caught:
        way.generate(llm, tools=[pay], run_tools=ToolPolicy(approve=approve), deps=bank)
    assert isinstance(caught.value.__cause__, KeyError)
    loop: Any = caught.value.loop  # pyright: ignore[reportAttributeAccessIssue]
    assert (loop.status, loop.steps[0].outcome, bank.paid) == ("failed", "not_run", [])


@pytest.mark.parametrize("make", [lambda: Edit(3), lambda: Edit({"a": object()}), lambda: Deny(3), lambda: Suspend(3)])  # type: ignore[arg-type]
def test_a_decision_that_cannot_be_data_is_refused_where_it_is_made(make: Any):
    with pytest.raises(SchemaError):
        make()


@pytest.mark.parametrize("is_async", [True, False])
def test_an_approver_that_hangs_ends_with_the_time_limit_of_the_call(way: Way, bank: Bank, is_async: bool):
    released = threading.Event()

    def approve(pending: PendingCall) -> bool:
        return released.wait(60)

    async def approve_async(pending: PendingCall) -> bool:
        await asyncio.sleep(60)
        return True

    llm = scripted(calls(("pay", {"to": "Ann", "cents": 5})))
    policy = ToolPolicy(approve=approve_async if is_async else approve)
    try:
        with pytest.raises(RequestTimeoutError) as caught:
            way.generate(llm, tools=[pay], run_tools=policy, deps=bank, timeout=0.5)
    finally:
        released.set()
    loop: Any = caught.value.loop  # pyright: ignore[reportAttributeAccessIssue]
    assert (loop.status, [step.outcome for step in loop.steps]) == ("failed", ["not_run"])
    assert bank.paid == []


def test_a_suspended_loop_goes_on_in_another_process_with_answers(way: Way, bank: Bank):
    loop = suspended(way, bank)
    assert bank.paid == []
    llm = scripted("Done.")
    response = way.resume(llm, loop, [pending.allow() for pending in loop.pending], tools=[pay], deps=bank)
    assert (response.content, bank.paid, response.loop.status) == ("Done.", [("Ann", 5)], "answered")
    assert len(response.steps) == 2
    assert response.loop.id == loop.id


def test_siblings_of_a_call_that_runs_elsewhere_run_first(way: Way, bank: Bank):
    llm = scripted(calls(("lookup", {"key": "a"}), ("balance", {})))
    response = way.generate(llm, tools=[LOOKUP, balance], run_tools=True)
    loop = reread(response.loop)
    assert (loop.status, texts(response)) == ("suspended", ["1000"])
    (pending,) = loop.pending
    assert (pending.call.name, pending.reason) == ("lookup", "execution")
    image = ImagePart(Blob.from_bytes(PNG, "image/png"))
    llm = create_llm("scripted", replies=["Done."], accepts=["image"])
    response = way.resume(llm, loop, [pending.result("found", image)], tools=[balance])
    assert [step.call.name for step in response.tool_steps] == ["lookup", "balance"]
    assert response.tool_steps[0].result.content[1] == image
    assert [part.call_id for part in llm.calls[0].messages[-1].parts] == ["call_0_0", "call_0_1"]


def test_a_failure_elsewhere_is_an_error_result(way: Way):
    response = way.generate(scripted(calls(("lookup", {"key": "a"}))), tools=[LOOKUP], run_tools=True)
    response = way.resume(scripted("Oh."), response.loop, [response.loop.pending[0].result("gone", is_error=True)])
    assert (response.tool_steps[0].outcome, response.tool_steps[0].result.is_error) == ("failed", True)


def test_calls_without_an_answer_keep_waiting(way: Way, bank: Bank):
    loop = suspended(way, bank, ("pay", {"to": "Bob", "cents": 7}))
    first, second = loop.pending
    response = way.resume(scripted(), loop, [second.deny("no")], tools=[pay], deps=bank)
    later = reread(response.loop)
    assert (later.status, later.pending) == ("suspended", (first,))
    assert response.messages == later.messages == (loop.replies[0].message(),)
    response = way.resume(scripted(), later, tools=[pay], deps=bank)
    assert response.loop.pending == (first,)
    response = way.resume(scripted("Done."), later, [first.allow()], tools=[pay], deps=bank)
    assert [step.outcome for step in response.tool_steps] == ["done", "denied"]
    assert bank.paid == [("Ann", 5)]


def test_later_calls_of_a_loop_with_an_approver_wait_if_it_is_resumed_without_one(way: Way, bank: Bank):
    loop = suspended(way, bank)
    again = calls(("pay", {"to": "Eve", "cents": 100_000}), ("balance", {}))
    response = way.resume(scripted(again), loop, [loop.pending[0].allow()], tools=[pay, balance], deps=bank)
    assert response.loop.status == "suspended"
    assert [pending.reason for pending in response.loop.pending] == ["approval", "approval"]
    assert bank.paid == [("Ann", 5)]
    policy = ToolPolicy(approve=lambda _: True)
    llm = scripted(again, "Done.")
    way.resume(llm, loop, [loop.pending[0].allow()], tools=[pay, balance], deps=bank, run_tools=policy)
    assert bank.paid == [("Ann", 5), ("Ann", 5), ("Eve", 100_000)]


def test_an_edit_by_an_answer_is_validated_and_runs(way: Way, bank: Bank):
    loop = suspended(way, bank, ("pay", {"to": "Bob", "cents": 7}))
    first, second = loop.pending
    answers = [first.edit({"to": "Ann", "cents": 4}), second.edit({"to": "Bob"})]
    response = way.resume(scripted("Done."), loop, answers, tools=[pay], deps=bank)
    assert bank.paid == [("Ann", 4)]
    assert [step.outcome for step in response.tool_steps] == ["done", "invalid_arguments"]
    assert [step.requested.arguments["cents"] for step in response.tool_steps] == [5, 7]


def refused(llm: Any, loop: Any, *arguments: Any, **request: Any) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as caught:
        llm.resume(loop, *arguments, **{"tools": [pay], **request})
    assert llm.calls == []
    return caught.value


def test_answers_that_do_not_fit_are_refused_and_nothing_runs(way: Way, bank: Bank):
    loop = suspended(way, bank)
    (pending,) = loop.pending
    allow = pending.allow()
    llm = scripted("Done.")
    assert "two answers" in str(refused(llm, loop, [allow, pending.deny()]))
    edited = ToolAnswer(allow.call_id, "0" * 64, "allow")
    assert refused(llm, loop, [edited]).path == "answers[0].digest"
    assert "no call 'x' waits" in str(refused(llm, loop, [ToolAnswer("x", allow.digest, "allow")]))
    assert refused(llm, loop, ["allow"]).path == "answers[0]"
    assert refused(llm, loop, "allow").path == "answers[0]"
    assert refused(llm, loop, 3).path == "answers"
    assert bank.paid == []


def test_an_answer_of_another_loop_with_the_same_call_is_refused(way: Way, bank: Bank):
    one, other = suspended(way, bank), suspended(way, bank)
    assert one.pending[0].call == other.pending[0].call
    assert refused(scripted("Done."), one, [other.pending[0].allow()]).path == "answers[0].digest"


def test_an_answer_is_used_once(way: Way, bank: Bank):
    loop = suspended(way, bank)
    allow = loop.pending[0].allow()
    again = calls(("pay", {"to": "Ann", "cents": 5}))
    response = way.resume(scripted(again), loop, [allow], tools=[pay], deps=bank)
    refused(scripted(), response.loop, [allow])
    assert bank.paid == [("Ann", 5)]


def test_a_function_that_is_not_given_again_is_named_with_a_hint(way: Way, bank: Bank):
    loop = suspended(way, bank)
    error = refused(scripted(), loop, [loop.pending[0].allow()], tools=[])
    assert "'pay' cannot be run here" in str(error)
    assert "tools=[...]" in (error.hint or "")


def test_a_tool_that_changed_since_the_call_is_a_warning(way: Way, bank: Bank):
    loop = suspended(way, bank)

    @tool(name="pay")
    def changed(to: str, cents: int, currency: str = "EUR") -> str:
        """Pays."""
        return f"{cents} {currency}"

    @tool
    def new() -> str:
        """New."""
        return "-"

    llm = scripted("Done.")
    response = way.resume(llm, loop, [loop.pending[0].allow()], tools=[changed, new])
    assert [(each.code, each.path) for each in response.warnings] == [
        ("tool_changed", "tools.pay"),
        ("tool_left_out", "tools.new"),
    ]
    assert texts(response) == ["5 EUR"]
    assert llm.calls[0].tools == loop.call.tools


Changes = dict[str, Any]


def broken(loop: ToolLoop, change: Any) -> Any:
    """The state after a change of its JSON data."""
    data = json.loads(to_json(loop))
    change(data)
    return from_json(json.dumps(data))


def set_arguments(data: Any) -> None:
    data["pending"][0]["call"]["arguments_text"] = '{"to": "Eve", "cents": 5}'


def set_arguments_and_digest(data: Any) -> None:
    set_arguments(data)
    del data["pending"][0]["digest"]


def set_status(data: Any) -> None:
    data["status"] = "approved"


def set_attempts(data: Any) -> None:
    data["pending"][0]["attempts"] = -1


def set_digest(data: Any) -> None:
    data["pending"][0]["digest"] = "0" * 64


@pytest.mark.parametrize("change", [set_arguments, set_status, set_attempts, set_digest])
def test_a_state_changed_by_hand_cannot_be_read(bank: Bank, change: Any):
    with Way.of("sync-whole") as way:
        loop = suspended(way, bank)
    with pytest.raises(SchemaError):
        broken(loop, change)


def drop_pending(data: Any) -> None:
    del data["pending"]


def drop_steps(data: Any) -> None:
    del data["steps"]


def twice(data: Any) -> None:
    data["steps"] *= 2


def other_round(data: Any) -> None:
    data["steps"][0]["round"] = 7


def other_tool(data: Any) -> None:
    data["steps"][0]["call"]["name"] = "pay"


def other_loop(data: Any) -> None:
    data["id"] = "x"


def pending_twice(data: Any) -> None:
    data["pending"] *= 2


def other_model(data: Any) -> None:
    data["call"]["model"] = "another"


CHANGES = [
    (set_arguments_and_digest, "loop.pending[0]"),
    (drop_pending, "loop.pending"),
    (drop_steps, "loop.pending"),
    (twice, "loop.steps[1]"),
    (other_round, "loop.steps[0]"),
    (other_tool, "loop.steps[0]"),
    (other_loop, "loop.pending[0]"),
    (pending_twice, "loop.pending[1]"),
    (other_model, "loop.call.model"),
]


@pytest.mark.parametrize(("change", "path"), CHANGES)
def test_a_state_that_is_not_consistent_is_refused_with_its_path(bank: Bank, change: Any, path: str):
    with Way.of("sync-whole") as way:
        loop = suspended(way, bank, ("balance", {}))
    assert refused(scripted("Done."), broken(loop, change), tools=[pay, balance], deps=bank).path == path
    assert bank.paid == []


def test_a_missing_result_of_an_earlier_round_is_refused(bank: Bank):
    with Way.of("sync-whole") as way:
        loop = suspended(way, bank)
        again = calls(("pay", {"to": "Bob", "cents": 1}))
        loop = way.resume(scripted(again), loop, [loop.pending[0].allow()], tools=[pay], deps=bank).loop
    assert loop is not None
    assert refused(scripted(), broken(loop, drop_steps)).path == "loop.steps"


@pytest.mark.parametrize("loop", [None, {}, "loop"])
def test_only_a_loop_can_be_resumed(loop: Any):
    assert refused(scripted(), loop).path == "loop"


def test_an_ended_loop_is_not_resumed(way: Way):
    response = way.generate(scripted(calls(("balance", {})), "Done."), tools=[balance], run_tools=True)
    assert refused(scripted(), response.loop).path == "loop.status"


def test_a_limit_ends_a_resumed_loop_again_unless_it_is_larger(way: Way):
    again = calls(("balance", {}))
    response = way.generate(scripted(again, again), tools=[balance], run_tools=ToolPolicy(max_rounds=2))
    assert response.loop.status == "max_rounds"
    loop = reread(response.loop)
    same = way.resume(scripted(), loop, tools=[balance], run_tools=ToolPolicy(max_rounds=2))
    assert (same.loop.status, len(same.steps)) == ("max_rounds", 2)
    larger = way.resume(scripted("Done."), loop, tools=[balance], run_tools=ToolPolicy(max_rounds=3))
    assert (larger.content, len(larger.steps)) == ("Done.", 3)


def test_a_loop_stopped_for_its_calls_goes_on_with_more(way: Way):
    response = way.generate(
        scripted(calls(("balance", {}), ("balance", {}))), tools=[balance], run_tools=ToolPolicy(max_calls=1)
    )
    assert response.loop.status == "max_calls"
    same = way.resume(scripted(), response.loop, tools=[balance], run_tools=ToolPolicy(max_calls=1))
    assert same.loop.status == "max_calls"
    more = way.resume(scripted("Done."), response.loop, tools=[balance], run_tools=ToolPolicy(max_calls=2))
    assert more.content == "Done."


def test_a_state_with_media_and_a_system_prompt_survives(way: Way, bank: Bank, tmp_path: Path):
    image = Blob.from_bytes(PNG, "image/png", name="a.png")

    @tool
    def photo() -> Blob:
        """Takes a photo."""
        return image

    reply = calls(("photo", {}), ("pay", {"to": "Ann", "cents": 5}))
    llm = create_llm("scripted", replies=[reply], accepts=["image"], system_prompt="Be brief.")
    policy = ToolPolicy(approve=lambda pending: pending.call.name == "photo" or Suspend())
    messages = [Message.user("Look.", ImagePart(image))]
    response = way.generate(llm, messages=messages, tools=[photo, pay], run_tools=policy, deps=bank)
    path = tmp_path / "loop.json"
    path.write_text(to_json(response.loop))
    loop: Any = from_json(path.read_text())
    later = create_llm("scripted", replies=["Done."], accepts=["image"])
    response = way.resume(later, loop, [loop.pending[0].allow()], tools=[photo, pay], deps=bank)
    (call,) = later.calls
    assert [message.role for message in call.messages] == ["system", "user", "user", "assistant", "tool"]
    assert call.messages[-1].parts[0].content == (ImagePart(image),)
    assert "Bank" not in path.read_text()


class Odd:
    """A class that JSON cannot represent."""


@dataclass
class Row:
    price: Decimal


@pytest.mark.parametrize(
    ("data", "kept", "codes"),
    [
        (Row(Decimal("1.50")), {"price": "1.50"}, []),
        ({"raw": b"ab"}, {"raw": "YWI="}, []),
        (Odd(), None, ["data_left_out"]),
    ],
)
def test_data_of_a_step_is_json_in_the_state_if_it_can_be(way: Way, data: Any, kept: Any, codes: list[str]):
    @tool
    def look() -> ToolOutput:
        """Looks."""
        return ToolOutput("seen", data=data)

    response = way.generate(scripted(calls(("look", {})), "Done."), tools=[look], run_tools=True)
    assert response.tool_steps[0].data is data
    again: Any = from_json(to_json(response))
    for step in (again.tool_steps[0], again.loop.steps[0], from_json(to_json(response.tool_steps[0]))):
        assert step.data == kept
        assert [warning.code for warning in step.warnings] == codes


def test_everything_that_a_wrong_resume_raises_is_typed(bank: Bank):
    with Way.of("sync-whole") as way:
        loop = suspended(way, bank, ("balance", {}))
    text = to_json(loop)
    names = set(json.loads(text)) - {"type", "schema_version"}
    for name in sorted(names):
        for value in (None, 3, "x", [], {}, [{}]):
            data = {**json.loads(text), name: value}
            try:
                changed: Any = from_json(json.dumps(data))
                scripted("Done.").resume(changed, tools=[pay, balance], deps=bank)
            except AbstractCoreError:
                continue
    assert bank.paid == []


def test_reason_of_a_denial_is_text():
    pending = PendingCall(ToolCall.of("c", "pay", {}), "approval")
    with pytest.raises(SchemaError, match="reason: expected text, got int"):
        pending.deny(5)  # type: ignore[arg-type]


def test_list_of_rules_hints_at_approval_rules():
    with pytest.raises(InvalidInputError, match=r"approve=ApprovalRules\(\[\.\.\.\]\)"):
        ToolPolicy(approve=[ApprovalRule("pay", "allow")])  # type: ignore[arg-type]
