"""MCP servers that others publish: those for time and git of PyPI, and two of npm that use the TypeScript SDK."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from abstractcore import ImagePart, MCPTools, ToolProgress, create_llm, from_json, to_json
from tests.core.mcp.conftest import PATIENCE_SECONDS
from tests.core.tools.loops import Way, calls, scripted
from tests.node_packages import NODE, installed

pytestmark = pytest.mark.process


def python_program(name: str) -> str:
    """The path of a program of this environment."""
    return str(Path(sys.executable).with_name(name))


def npm_server(name: str, *arguments: str) -> list[str]:
    """The command of a server of npm."""
    return [str(NODE), str(installed() / f"node_modules/@modelcontextprotocol/server-{name}/dist/index.js"), *arguments]


def new_repository(folder: Path) -> None:
    """Makes a git repository with one file that is staged."""
    for arguments in (["init", "-q", "-b", "trunk"], ["add", "tea.txt"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


SERVERS: dict[str, tuple[Callable[[str], list[str]], str, Callable[[str], dict[str, Any]], str]] = {
    "time": (
        lambda folder: [python_program("mcp-server-time")],
        "convert_time",
        lambda folder: {"source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "Asia/Kolkata"},
        "-3.5h",
    ),
    "git": (
        lambda folder: [python_program("mcp-server-git"), "--repository", folder],
        "git_status",
        lambda folder: {"repo_path": folder},
        "new file:   tea.txt",
    ),
    "everything": (
        lambda folder: npm_server("everything", "stdio"),
        "get-sum",
        lambda folder: {"a": 2, "b": 3},
        "The sum of 2 and 3 is 5.",
    ),
    "filesystem": (
        lambda folder: npm_server("filesystem", folder),
        "read_text_file",
        lambda folder: {"path": f"{folder}/tea.txt"},
        "green",
    ),
}
"""For each server its command, a tool, its arguments, and what the result has; made for a folder."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A git repository with the file `tea.txt`."""
    made = tmp_path_factory.mktemp("repository")
    (made / "tea.txt").write_text("green")
    new_repository(made)
    return str(made)


@pytest.fixture(scope="module")
def everything_url() -> Iterator[str]:
    """The address of `server-everything` over streamable HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        npm_server("everything", "streamableHttp"),
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        assert f"listening on port {port}" in server.stderr.readline()
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.kill()
        server.communicate()


@pytest.fixture(scope="module", params=["stdio", "http"])
def everything(request: Any) -> Iterator[MCPTools]:
    """`server-everything`, over each transport."""
    if request.param == "stdio":
        target: dict[str, Any] = {"command": npm_server("everything", "stdio"), "env": {"SHELF": "7"}}
    else:
        target = {"url": request.getfixturevalue("everything_url")}
    with MCPTools(**target, name="everything", connect_timeout=PATIENCE_SECONDS) as tools:
        yield tools


def run(tools: MCPTools, *given: tuple[str, dict[str, Any]], way: str = "sync-whole") -> Any:
    """The response to a loop of one round of calls."""
    llm = create_llm("scripted", replies=[calls(*given), "Done."], accepts=["image"])
    with Way.of(way) as used:
        return used.generate(llm, tools=[tools], run_tools=True)


@pytest.mark.parametrize("way", ["sync-whole", "async-streamed"])
@pytest.mark.parametrize("server", SERVERS)
def test_tool_is_offered_and_called(server: str, way: str, mode: str, folder: str):
    command, name, arguments, text = SERVERS[server]
    tools = MCPTools(command=command(folder), mode=mode, connect_timeout=PATIENCE_SECONDS)
    response = run(tools, (name, arguments(folder)), (name, {"no such": 1}), way=way)
    called, invalid = response.tool_steps
    assert (called.outcome, called.result.is_error) == ("done", False)
    assert text in called.result.as_text
    assert invalid.result.is_error
    assert response.warnings == ()
    tools.close()


@pytest.mark.parametrize("way", ["sync-whole", "async-streamed"])
def test_tool_is_called_over_http(way: str, mode: str, everything_url: str):
    tools = MCPTools(url=everything_url, mode=mode, connect_timeout=PATIENCE_SECONDS)
    [step] = run(tools, ("get-sum", {"a": 2, "b": 3}), way=way).tool_steps
    assert step.result.as_text == "The sum of 2 and 3 is 5."
    tools.close()


def test_images_and_structured_content_and_annotations_are_kept(everything: MCPTools):
    image, structured, annotated = run(
        everything,
        ("get-tiny-image", {}),
        ("get-structured-content", {"location": "Chicago"}),
        ("get-annotated-message", {"messageType": "success", "includeImage": True}),
    ).tool_steps
    [picture] = [part for part in image.result.content if isinstance(part, ImagePart)]
    assert picture.blob.data.startswith(b"\x89PNG")
    assert structured.data["structuredContent"]["conditions"] == "Light rain / drizzle"
    assert [block["type"] for block in annotated.data["forUser"]] == ["text", "image"]
    assert annotated.result.content == ()


def test_resources_are_linked_and_embedded_and_read(everything: MCPTools):
    links, embedded = run(
        everything,
        ("get-resource-links", {"count": 2}),
        ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
    ).tool_steps
    assert "demo://resource/dynamic/" in links.result.as_text
    assert "demo://resource/dynamic/text/1" in embedded.result.as_text
    uris = [str(each.uri) for each in everything.resources()]
    [part] = everything.resource(next(uri for uri in uris if uri.endswith("features.md")))
    assert part.blob.media_type == "text/markdown"
    assert b"# Everything Server" in part.blob.data


def test_prompts_become_messages(everything: MCPTools):
    assert "args-prompt" in [each.name for each in everything.prompts()]
    [message] = everything.prompt("args-prompt", city="Oslo", state="Oslo")
    assert (message.role, message.text) == ("user", "What's weather in Oslo, Oslo?")
    messages = everything.prompt("resource-prompt", resourceType="Text", resourceId="1")
    assert "demo://resource/dynamic/text/1" in messages[-1].text


def test_progress_is_events(everything: MCPTools):
    with Way.of("sync-streamed") as way:
        llm = scripted(calls(("trigger-long-running-operation", {"duration": 0.05, "steps": 5})), "Done.")
        way.generate(llm, tools=[everything], run_tools=True)
        found = [event for event in way.events if isinstance(event, ToolProgress)]
    assert found
    assert (found[-1].done, found[-1].total) == (5, 5)


def test_elicitation_suspends_the_call(everything: MCPTools):
    response = run(everything, ("trigger-elicitation-request", {}))
    [pending] = from_json(to_json(response.loop)).pending
    [question] = pending.input.questions
    assert question.message == "Please provide inputs for the following fields:"
    assert question.schema["required"] == ["name"]
    done = scripted("Done.").resume(response.loop, [pending.respond({"name": "Ann"})], tools=[everything])
    assert "- Name: Ann" in done.tool_steps[0].result.as_text
    declined = scripted("Done.").resume(response.loop, [pending.respond(None)], tools=[everything])
    assert "declined" in declined.tool_steps[0].result.as_text


def test_environment_of_a_server_is_minimal(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_API_KEY", "sk-secret")
    with MCPTools(command=npm_server("everything", "stdio"), env={"SHELF": "7"}) as tools:
        [step] = run(tools, ("get-env", {})).tool_steps
    assert '"SHELF": "7"' in step.result.as_text
    assert "sk-secret" not in step.result.as_text


def test_server_without_resources_and_prompts_has_none(mode: str, folder: str):
    """The TypeScript SDK answers requests for capabilities that a server lacks with "Method not found"."""
    with MCPTools(command=npm_server("filesystem", folder), mode=mode, connect_timeout=PATIENCE_SECONDS) as tools:
        assert (tools.resources(), tools.prompts()) == ([], [])


def test_folder_of_the_server_is_not_left(folder: str):
    with MCPTools(command=npm_server("filesystem", folder), connect_timeout=PATIENCE_SECONDS) as tools:
        outside, image = run(
            tools, ("read_text_file", {"path": "/etc/passwd"}), ("list_allowed_directories", {})
        ).tool_steps
    assert outside.result.is_error
    assert "access denied" in outside.result.as_text.lower()
    assert folder in image.result.as_text
