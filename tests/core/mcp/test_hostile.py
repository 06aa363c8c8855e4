"""Servers that break the rules, over stdio: a call ends, and the next one has a working connection."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from abstractcore import MCPTools, ToolServerError
from abstractcore.mcp import stdio
from tests.core.mcp.conftest import PATIENCE_SECONDS
from tests.core.tools.loops import Way, calls, scripted
from tests.leftovers import wait_until

pytestmark = pytest.mark.process


def hostile(way: str, seconds: float = PATIENCE_SECONDS, version: str | None = None) -> MCPTools:
    """The tools of `hostile.py`, which breaks the rules in a way."""
    command = [sys.executable, str(Path(__file__).with_name("hostile.py")), way, *([version] if version else [])]
    return MCPTools(command=command, name="hostile", connect_timeout=seconds)


def ask(tools: MCPTools, way: Way) -> Any:
    """The step of a call of the tool `ask`."""
    [step] = way.generate(scripted(calls(("ask", {})), "Done."), tools=[tools], run_tools=True).tool_steps
    return step


@pytest.mark.parametrize(
    "behaviour",
    ["answer_another_id", "answer_twice", "flood", "flood_errors", "trickle", "strange", "surrogate", "change_tools"],
)
def test_call_has_its_result(way: Way, behaviour: str):
    with hostile(behaviour) as tools:
        for _ in range(2):
            step = ask(tools, way)
            assert (step.outcome, step.result.is_error) == ("done", False)
            assert step.result.as_text.strip("? ") == "right"


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        ("die_amid", 'It ended with exit code 3. Its last output: {"jsonrpc": "2.0"'),
        ("close_output", "the server hostile was lost while the call ran"),
        ("null_result", "the server sent an invalid response"),
    ],
)
def test_call_fails(way: Way, behaviour: str, problem: str, monkeypatch: pytest.MonkeyPatch):
    if behaviour == "close_output":  # it does not exit: to wait for that is in vain
        monkeypatch.setattr(stdio, "_SECONDS_TO_EXIT", 0.2)
    with hostile(behaviour) as tools:
        for _ in range(2):
            step = ask(tools, way)
            assert step.outcome == "failed"
            assert problem in step.result.as_text


def test_server_that_ignores_signals_is_killed():
    with Way.of("sync-whole") as way, hostile("ignore_signals") as tools:
        server = ask(tools, way).result.as_text
        assert Path(f"/proc/{server}").exists()
    assert not Path(f"/proc/{server}").exists()


def test_children_of_a_server_end_with_it():
    with Way.of("sync-whole") as way, hostile("fork") as tools:
        child = Path("/proc") / ask(tools, way).result.as_text
        # A new process has no command line for a moment, and one that was killed a moment to end.
        assert wait_until(lambda: "sleep" in (child / "cmdline").read_text())
    assert wait_until(lambda: has_ended(child))


def has_ended(process: Path) -> bool:
    """Whether there is no such process, or one that was not waited for."""
    try:
        return "State:\tZ" in (process / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_ten_thousand_tools_are_listed():
    with hostile("many") as tools:
        assert len(tools.list_tools()) == 10_000


def test_endless_pages_are_an_error():
    with hostile("endless") as tools, pytest.raises(ToolServerError, match="lists tools without end"):
        tools.list_tools()


@pytest.mark.parametrize("kind", ["tools", "resources", "prompts"])
def test_large_page_is_an_error(kind: str):
    with hostile("large_page") as tools, pytest.raises(ToolServerError, match=f"lists more than 10,000 {kind}"):
        {"tools": tools.list_tools, "resources": tools.resources, "prompts": tools.prompts}[kind]()


def test_list_without_an_answer_is_an_error():
    with hostile("mute", seconds=3) as tools, pytest.raises(ToolServerError, match="did not list its tools in 3 s"):
        tools.list_tools()


def test_list_that_nests_too_deep_is_an_error():
    with hostile("deep") as tools, pytest.raises(ToolServerError, match="the server sent an invalid response"):
        tools.list_tools()


def test_invalid_schemas_are_left_out():
    with Way.of("sync-whole") as way, hostile("schemas") as tools:
        response = way.generate(scripted("x"), tools=[tools])
        assert "ask" in [tool.name for tool in tools.list_tools()]
    assert {warning.code for warning in response.warnings} == {"tool_left_out"}
    assert "the schema of its arguments is longer than 256,000 characters" in " ".join(
        warning.message for warning in response.warnings
    )


@pytest.mark.parametrize("version", [None, "2026-07-28"])
def test_invalid_definitions_are_left_out_by_name(version: str | None):
    with Way.of("sync-whole") as way, hostile("mixed", version=version) as tools:
        response = way.generate(scripted("x"), tools=[tools])
        assert [tool.name for tool in tools.list_tools()] == ["ask", "more"]
    assert {warning.code for warning in response.warnings} == {"tool_left_out"}
    assert [warning.message.replace("of the server hostile is not offered: ", "") for warning in response.warnings] == [
        "the tool 'typeless' inputSchema.type: Field required",
        "the tool 'schemaless' inputSchema: Field required",
        "the tool 'boolean' annotations.readOnlyHint: Input should be a valid boolean, unable to interpret input",
        "the tool '' name: Input should be a valid string",
        "the tool '' it: Input should be a valid dictionary or instance of Tool",
    ]


def test_tool_whose_header_is_invalid_is_left_out_by_name():
    """By revision 2026-07-28 clients must leave it out."""
    with Way.of("sync-whole") as way, hostile("header", version="2026-07-28") as tools:
        response = way.generate(scripted("x"), tools=[tools])
        assert [tool.name for tool in tools.list_tools()] == ["ask"]
    [warning] = response.warnings
    assert "the tool 'headed' of the server hostile is not offered: inputSchema: x-mcp-header: " in warning.message


def test_invisible_characters_are_removed():
    with hostile("invisible") as tools:
        [tool] = tools.list_tools()
    assert (tool.name, tool.description) == ("ask[31m", "Hi ")
