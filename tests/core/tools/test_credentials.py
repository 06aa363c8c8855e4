"""Credentials of the LLM and of the call that errors of tools quote are in nothing that the loop shows or keeps."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import Any

import pytest

from abstractcore import PendingCall, Suspend, ToolError, ToolFailed, ToolPolicy, ToolRetry, create_llm, to_json, tool
from tests.core.tools.loops import Way, calls

OF_LLM, OF_CALL = "llm-canary-1f6b", "call-canary-2c9d"
QUOTED = f"401 for {OF_LLM} and {OF_CALL}"
FAILURES = {
    "exception": ValueError(QUOTED),
    "group": ExceptionGroup("several", [ValueError(QUOTED)]),
    "ToolFailed": ToolFailed(QUOTED),
    "ToolRetry": ToolRetry("no", hint=QUOTED),
}


def seen(response: Any, journal: Path, caplog: pytest.LogCaptureFixture) -> str:
    """Everything that shows an error of a tool."""
    loop = response.loop
    steps = [(step.error, step.traceback, step.result.as_text) for step in loop.steps]
    return "\n".join((repr(response), repr(steps), to_json(loop), journal.read_text(), caplog.text))


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("on_error", ["report", "raise"])
def test_errors_of_tools_do_not_show_credentials(
    way: Way, tmp_path: Path, caplog: pytest.LogCaptureFixture, failure: str, on_error: Any
):
    @tool(on_error=on_error)
    def leaky() -> None:
        """Fails."""
        raise FAILURES[failure]

    caplog.set_level(logging.DEBUG, logger="abstractcore")
    journal = tmp_path / "journal"
    llm = create_llm("scripted", replies=[calls(("leaky", {})), "Sorry."], headers={"X-Gateway-Token": OF_LLM})
    request: Any = {"tools": [leaky], "run_tools": ToolPolicy(journal=journal), "headers": {"X-User-Token": OF_CALL}}
    if on_error == "raise" and failure in ("exception", "group"):
        with pytest.raises(ToolError) as caught:
            way.generate(llm, **request)
        shown = seen(caught.value, journal, caplog) + "".join(traceback.format_exception(caught.value))
    else:
        shown = seen(way.generate(llm, **request), journal, caplog) + repr(way.events)
    assert "[scrubbed]" in shown
    assert OF_LLM not in shown
    assert OF_CALL not in shown


def test_errors_of_approvers_do_not_show_credentials(way: Way):
    def approve(pending: PendingCall) -> bool:
        raise ValueError(QUOTED)

    @tool
    def pay() -> None:
        """Pays."""

    llm = create_llm("scripted", replies=[calls(("pay", {}))], headers={"X-Gateway-Token": OF_LLM})
    policy = ToolPolicy(approve=approve)
    caught: Any
    with pytest.raises(ToolError) as caught:
        way.generate(llm, tools=[pay], run_tools=policy, headers={"X-User-Token": OF_CALL})
    shown = "".join(traceback.format_exception(caught.value)) + to_json(caught.value.loop)
    assert "401 for [scrubbed] and [scrubbed]" in shown
    assert OF_LLM not in shown
    assert OF_CALL not in shown


def test_state_and_journal_have_no_key_and_no_headers(way: Way, tmp_path: Path):
    @tool
    def pay() -> None:
        """Pays."""

    journal = tmp_path / "journal"
    llm = create_llm("scripted", replies=[calls(("pay", {}))], api_key="key-canary-77aa", headers={"X-Token": OF_LLM})
    policy = ToolPolicy(journal=journal, approve=lambda pending: Suspend())
    response = way.generate(llm, tools=[pay], run_tools=policy, headers={"X-User-Token": OF_CALL})
    kept = to_json(response.loop) + repr(response.loop) + journal.read_text()
    assert [each for each in ("key-canary-77aa", OF_LLM, OF_CALL) if each in kept] == []
