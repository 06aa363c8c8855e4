"""Data-flow labels: a tool that sends waits for approval once the model has read private and untrusted content."""

from typing import Any

import pytest

from abstractcore import (
    HostedTool,
    InvalidInputError,
    Message,
    Suspend,
    ToolLoop,
    ToolPolicy,
    ToolSpec,
    from_json,
    to_json,
    tool,
)
from tests.core.tools.loops import Way, calls, scripted

SENT: list[str] = []
ARCHIVE = ToolSpec("archive", labels=("private", "sends"))


@tool(labels=("private",))
def inbox() -> str:
    """Reads mail."""
    return "a secret"


@tool(labels=("untrusted",))
def browse() -> str:
    """Reads a page."""
    return "a page"


@tool(labels=("sends",))
def send(text: str) -> str:
    """Sends."""
    SENT.append(text)
    return "sent"


TOOLS = [inbox, browse, send]
SEND = calls(("send", {"text": "x"}))


@pytest.fixture(autouse=True)
def nothing_sent():
    SENT.clear()


def reread(loop: Any) -> ToolLoop:
    again = from_json(to_json(loop))
    assert isinstance(again, ToolLoop)
    return again


@pytest.mark.parametrize("first", ["inbox", "browse"])
def test_sending_after_one_kind_of_content_needs_no_approval(way: Way, first: str):
    response = way.generate(scripted(calls((first, {})), SEND, "Done."), tools=TOOLS, run_tools=True)
    assert (response.content, SENT) == ("Done.", ["x"])


def test_sending_after_private_and_untrusted_content_waits_without_an_approver(way: Way):
    response = way.generate(scripted(calls(("inbox", {})), calls(("browse", {})), SEND), tools=TOOLS, run_tools=True)
    (pending,) = response.loop.pending
    assert (response.loop.status, pending.reason, SENT) == ("suspended", "data_flow", [])
    assert pending.labels == response.loop.labels == ("private", "untrusted")
    loop = reread(response.loop)
    again = way.resume(scripted(SEND), loop, [loop.pending[0].allow()], tools=TOOLS)
    assert (SENT, again.loop.pending[0].reason) == (["x"], "data_flow")


def test_the_approver_decides_about_the_flow(way: Way):
    reasons: list[str] = []

    def approve(pending: Any) -> bool:
        reasons.append(pending.reason)
        return pending.reason != "data_flow"

    llm = scripted(calls(("inbox", {}), ("browse", {})), SEND, "No.")
    response = way.generate(llm, tools=TOOLS, run_tools=ToolPolicy(approve=approve))
    assert (reasons, SENT) == (["approval", "approval", "data_flow"], [])
    assert response.tool_steps[-1].outcome == "denied"


@pytest.mark.parametrize("order", [("inbox", "browse", "send"), ("send", "browse", "inbox")])
def test_calls_of_one_round_do_not_know_each_others_results(way: Way, order: Any):
    round = calls(*((name, {"text": "x"} if name == "send" else {}) for name in order))
    response = way.generate(scripted(round, SEND), tools=TOOLS, run_tools=True)
    assert SENT == ["x"]
    assert [pending.reason for pending in response.loop.pending] == ["data_flow"]


def test_content_of_the_call_counts_if_the_policy_says_so_and_stays_in_the_state(way: Way):
    policy = ToolPolicy(content_labels=("private",), approve=lambda p: p.call.name != "browse" or Suspend())
    response = way.generate(scripted(calls(("browse", {}))), tools=TOOLS, run_tools=policy)
    loop = reread(response.loop)
    assert loop.content_labels == ("private",)
    response = way.resume(scripted(SEND), loop, [loop.pending[0].allow()], tools=TOOLS)
    assert [pending.reason for pending in response.loop.pending] == ["data_flow"]
    with pytest.raises(InvalidInputError, match="secret"):
        ToolPolicy(content_labels=("secret",))  # type: ignore[arg-type]


def test_results_in_earlier_messages_count_by_their_tools(way: Way):
    first = way.generate(scripted(calls(("inbox", {}), ("browse", {})), "Read."), tools=TOOLS, run_tools=True)
    messages = [Message.user("Read."), *first.messages]
    response = way.generate(scripted(SEND), messages=messages, tools=TOOLS, run_tools=True)
    assert [pending.reason for pending in response.loop.pending] == ["data_flow"]


def test_results_given_by_answers_have_the_labels_of_their_tool(way: Way):
    response = way.generate(scripted(calls(("archive", {}), ("browse", {}))), tools=[ARCHIVE, *TOOLS], run_tools=True)
    loop = reread(response.loop)
    response = way.resume(scripted(SEND), loop, [loop.pending[0].result("old mail")], tools=TOOLS)
    assert response.tool_steps[0].labels == ("private",)
    assert [pending.reason for pending in response.loop.pending] == ["data_flow"]


def test_a_denied_call_gives_the_model_nothing_to_read(way: Way):
    policy = ToolPolicy(approve=lambda pending: pending.call.name != "inbox")
    response = way.generate(
        scripted(calls(("inbox", {}), ("browse", {})), SEND, "Done."), tools=TOOLS, run_tools=policy
    )
    assert (response.loop.labels, SENT) == (("untrusted",), ["x"])


def test_hosted_tools_that_are_offered_count_as_used(way: Way):
    llm = scripted(calls(("inbox", {})), SEND)
    response = way.generate(llm, tools=[*TOOLS, HostedTool("web_search")], run_tools=True)
    assert [pending.reason for pending in response.loop.pending] == ["data_flow"]
