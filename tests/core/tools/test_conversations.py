"""Whatever ends a tool loop, its conversation can be sent: each call has exactly one result, in every wire format."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from abstractcore import (
    AbstractCoreError,
    Message,
    ModelCall,
    Suspend,
    ToolLoop,
    ToolPolicy,
    ToolSpec,
    create_llm,
    from_json,
    to_json,
    tool,
)
from abstractcore.testing import ScriptedReply
from abstractcore_providers.formats.registered import FORMATS
from tests.properties import examples

ELSEWHERE = ToolSpec("elsewhere")


@tool
def works(number: int) -> str:
    """Works."""
    return "fine"


@tool
def fails(number: int) -> str:
    """Fails."""
    raise ValueError("no")


@tool(on_error="raise")
def ends(number: int) -> str:
    """Ends the call."""
    raise OSError("disk full")


TOOLS = [works, fails, ends, ELSEWHERE]
NAMES = st.sampled_from(["works", "fails", "ends", "elsewhere", "unknown"])
CALLS = st.tuples(NAMES, st.sampled_from([{"number": 1}, {"number": 2}, {}, "{"]))
REPLIES = st.lists(st.lists(CALLS, max_size=3), max_size=5)
DECISIONS = st.lists(st.sampled_from(["allow", "deny", "suspend", "edit"]), min_size=1, max_size=5)


def reply(calls: list[tuple[str, Any]]) -> ScriptedReply:
    parts = [ScriptedReply.tool_call(name, arguments) for name, arguments in calls]
    return sum(parts[1:], parts[0]) if parts else ScriptedReply.text("Done.")


def run(data: st.DataObject, policy: ToolPolicy) -> ToolLoop:
    """Runs a random loop until it ends, or a few times longer than it waits."""
    llm = create_llm("scripted", replies=[reply(calls) for calls in data.draw(REPLIES)])
    loop: Any = None
    for _ in range(4):
        try:
            if loop is None:
                loop = llm.generate("Go.", tools=TOOLS, run_tools=policy).loop
            else:
                answers = [answer(data, pending) for pending in loop.pending]
                loop = llm.resume(loop, [each for each in answers if each], tools=TOOLS, run_tools=policy).loop
        except AbstractCoreError as error:
            loop = getattr(error, "loop", loop)
        loop = from_json(to_json(loop))
        if loop.status in ("answered", "final"):
            break
    return loop


def answer(data: st.DataObject, pending: Any) -> Any:
    kind = data.draw(st.sampled_from(["allow", "deny", "result", None]))
    if kind is None:
        return None
    if kind == "result" or pending.call.name == "elsewhere":
        return pending.result("known")
    return pending.allow() if kind == "allow" else pending.deny("no")


@examples(60)
@given(st.data())
def test_a_conversation_can_be_sent_however_its_loop_ended(data: st.DataObject):
    decisions = data.draw(DECISIONS)
    asked: list[str] = []

    def approve(pending: Any) -> Any:
        asked.append(pending.call.name)
        choice = decisions[len(asked) % len(decisions)]
        return Suspend() if choice == "suspend" else choice != "deny"

    policy = ToolPolicy(
        approve=data.draw(st.sampled_from([approve, None])),
        max_rounds=data.draw(st.integers(1, 4)),
        max_calls=data.draw(st.integers(0, 6)),
        on_limit=data.draw(st.sampled_from(["stop", "answer"])),
    )
    check(run(data, policy))


def check(loop: ToolLoop) -> None:
    """Each reply that calls is followed by its results in order, but for the last one of a suspended loop."""
    messages = list(loop.messages)
    for index, message in enumerate(messages):
        calls = [part.id for part in message.parts if part.type == "tool_call"]
        if not calls:
            continue
        if loop.status == "suspended" and index == len(messages) - 1:
            assert loop.pending
            return
        results = messages[index + 1]
        assert results.role == "tool"
        assert [part.call_id for part in results.parts if part.type == "tool_result"] == calls
    encode(loop, messages)


def encode(loop: ToolLoop, messages: list[Message]) -> None:
    """Encodes the conversation with a further question; no format misses a result or has to move one."""
    whole = (Message.user("Go."), *messages, Message.user("Next?"))
    for name, create in FORMATS.items():
        call = ModelCall("m", messages=whole, tools=loop.call.tools, provider="p")
        codes = {warning.code for warning in create().encode(call).warnings}
        assert not codes & {"reordered", "moved_after_results", "part_left_out", "message_left_out"}, name
