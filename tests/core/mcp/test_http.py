"""MCP servers over streamable HTTP: real ones on loopback, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import gzip
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from abstractcore import InvalidInputError, MCPTools, ToolServerError
from abstractcore.testing.http_server import ScriptedServer
from tests.core.mcp.conftest import PATIENCE_SECONDS
from tests.core.tools.loops import Way, calls, scripted

pytestmark = pytest.mark.process

USERS = ["ann", "bob"]
CALLS_A_LARGE_SERVER = """
import re, subprocess, sys
from pathlib import Path
from abstractcore import MCPTools

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024

with subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=subprocess.PIPE, text=True) as server:
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}/mcp"
    with MCPTools(url=url, max_message_bytes=8_000_000) as tools:
        tools.list_tools()
        before = peak()
        step = tools.call("ask")
        print(step.outcome, step.result.as_text, peak() - before, sep="\\n")
    server.kill()
"""


def run(way: Way, tools: MCPTools, *given: tuple[str, dict[str, Any]], **request: Any) -> Any:
    """The response to a loop of one round of calls."""
    first = [calls(*given)] if given else []
    return way.generate(scripted(*first, "Done."), tools=[tools], run_tools=True, **request)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a server whose tool `whoami` returns the user of its request."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    script = Path(__file__).with_name("http_shop.py")
    server = subprocess.Popen([sys.executable, str(script), str(port)], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.kill()
        server.communicate()


@pytest.mark.smoke
def test_tools_are_called_over_http(way: Way, mode: str, url: str):
    tools = MCPTools(url=url, mode=mode, headers={"x-user": "ann"}, connect_timeout=PATIENCE_SECONDS)
    response = run(way, tools, ("whoami", {}), ("large", {"size": 3_000_000}))
    assert [step.outcome for step in response.tool_steps] == ["done", "done"]
    assert response.tool_steps[0].result.as_text == "ann"
    assert tools.name == "127.0.0.1"


def test_two_users_at_once_are_never_crossed(mode: str, url: str):
    """Sync users in threads and async users in one event loop share the server object."""
    tools = MCPTools(url=url, mode=mode, headers=lambda deps: {"x-user": str(deps)}, connect_timeout=PATIENCE_SECONDS)
    start = threading.Barrier(2)

    def texts(response: Any) -> list[str]:
        return [step.result.as_text for step in response.tool_steps]

    def sync_user(user: str) -> list[str]:
        start.wait(PATIENCE_SECONDS)
        llm = scripted(*[calls(("whoami", {}), ("whoami", {})) for _ in range(5)], "Done.")
        return texts(llm.generate("x", tools=[tools], run_tools=True, deps=user))

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(sync_user, USERS))
    assert found == [[user] * 10 for user in USERS]

    async def async_user(user: str) -> list[str]:
        llm = scripted(*[calls(("whoami", {}), ("whoami", {})) for _ in range(5)], "Done.")
        return texts(await llm.agenerate("x", tools=[tools], run_tools=True, deps=user))

    async def all_users() -> list[list[str]]:
        return await asyncio.gather(*map(async_user, USERS))

    assert asyncio.run(all_users()) == [[user] * 10 for user in USERS]


def test_headers_are_computed_for_every_request(way: Way, mode: str, url: str):
    given = iter(["one", "two", "three"])

    async def headers(deps: object) -> dict[str, str]:
        return {"x-user": next(given)}

    tools = MCPTools(url=url, mode=mode, headers=headers, connect_timeout=PATIENCE_SECONDS)
    assert run(way, tools, ("whoami", {})).tool_steps[0].result.as_text == "two"


def test_invalid_headers_are_refused(way: Way, url: str):
    with pytest.raises(InvalidInputError, match=r"headers\.x-user: expected text, got int"):
        run(way, MCPTools(url=url, headers=lambda deps: {"x-user": 3}))


def test_session_that_the_server_forgot_is_made_anew(way: Way, url: str):
    """A call of a session that has ended is answered with 404, and was not handled."""
    tools = MCPTools(url=url, mode="legacy", headers={"x-user": "ann"}, connect_timeout=PATIENCE_SECONDS)
    run(way, tools, ("whoami", {}))
    run(way, tools, ("forget_sessions", {}))
    assert run(way, tools, ("whoami", {})).tool_steps[0].result.as_text == "ann"


def test_result_that_is_too_long_is_refused(way: Way, mode: str, url: str):
    tools = MCPTools(url=url, mode=mode, max_message_bytes=100_000, connect_timeout=PATIENCE_SECONDS)
    [step] = run(way, tools, ("large", {"size": 1_000_000})).tool_steps
    assert step.outcome == "failed"
    assert "the server 127.0.0.1" in step.result.as_text


@pytest.mark.parametrize("kind", ["json", "sse"])
def test_result_of_100_mb_is_refused_in_bounded_memory(kind: str):
    """In a process of its own, whose memory is measured, and whose stderr stays empty."""
    done = subprocess.run(
        [sys.executable, "-c", CALLS_A_LARGE_SERVER, str(Path(__file__).with_name("large_http.py")), kind],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    outcome, text, megabytes = done.stdout.splitlines()
    assert (outcome, "more than 8,000,000 bytes" in text) == ("failed", True)
    assert int(megabytes) < 60


def test_compressed_answer_is_refused(way: Way, mode: str):
    """It was not asked for, and a kilobyte may hold a gigabyte."""
    bomb = gzip.compress(bytes(10**7))
    head = f"content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {len(bomb)}\r\n\r\n"
    with ScriptedServer() as server:
        server.always(f"HTTP/1.1 200 OK\r\n{head}".encode() + bomb)
        with pytest.raises(ToolServerError, match="the encoding 'gzip', which was not asked for"):
            run(way, MCPTools(url=f"{server.url}/mcp", mode=mode, connect_timeout=PATIENCE_SECONDS))
        assert {request.headers["accept-encoding"] for request in server.requests} == {"identity"}


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "500 Internal Server Error"])
def test_error_of_the_server_has_its_status(way: Way, mode: str, status: str):
    with ScriptedServer() as server:
        server.always(f"HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n".encode())
        with pytest.raises(ToolServerError, match=f"HTTP {status[:3]}") as caught:
            run(way, MCPTools(url=f"{server.url}/mcp", mode=mode, connect_timeout=PATIENCE_SECONDS))
    assert ("Pass headers=" in str(caught.value)) == (status[:3] in ("401", "403"))


def test_redirect_to_another_host_is_not_followed(way: Way, mode: str):
    """Whatever the host is, a private one too: its address is another origin."""
    with ScriptedServer() as server, ScriptedServer() as other:
        location = f"location: {other.url}/mcp\r\n"
        server.always(f"HTTP/1.1 307 Temporary Redirect\r\n{location}content-length: 0\r\n\r\n".encode())
        with pytest.raises(ToolServerError, match="not followed"):
            run(way, MCPTools(url=f"{server.url}/mcp", mode=mode, headers={"authorization": "Bearer key"}))
        assert other.requests == []


def test_wrong_path_is_named_as_the_cause_of_a_404(way: Way, mode: str):
    with ScriptedServer() as server:
        server.always(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
        with pytest.raises(ToolServerError, match=r"HTTP 404\. Check the path of its URL: many servers have /mcp\."):
            run(way, MCPTools(url=f"{server.url}/", mode=mode, connect_timeout=PATIENCE_SECONDS))


def test_server_that_is_down_is_an_error(way: Way, mode: str):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    problem = rf"cannot be reached: .*Nothing has answered at 127\.0\.0\.1:{port}\. Start the server there"
    with pytest.raises(ToolServerError, match=problem):
        run(way, MCPTools(url=f"http://127.0.0.1:{port}/mcp", mode=mode, connect_timeout=PATIENCE_SECONDS))
