"""`abstractcore mcp serve` on stdin and stdout."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.core.mcp.server.served import (
    COMMAND,
    FOLDER,
    MODERN,
    NO_MODEL,
    PATIENCE_SECONDS,
    Served,
    call,
    environment,
    request,
)

pytestmark = pytest.mark.process

SECRETS = {
    "SHOP_API_KEY": "sk-of-the-shop-123",
    "ABSTRACTCORE_SERVER_KEY": "the-key-of-the-server",
    "SHOP_DATABASE": "postgresql://shop:the-password-of-it@localhost/shop",
}
NAMES = {"GIT_AUTHOR_NAME": "Ada Lovelace", "SHOP_KEY_FILE": "/etc/shop/key.pem"}
TOOLS = (*NO_MODEL, "--tool", "served_tools")
SECONDS_UNREAD = 3.0
INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    """A server for tests that leave it as it was, without sessions."""
    with Served(*TOOLS, **SECRETS, **NAMES) as served:
        yield served
        assert served.ended() == 0
        assert "Error in" not in served.stderr


def peak_memory(pid: int, *, reset: bool = False) -> int:
    """The most memory that a process has had, or has now and from now on, in bytes; 0 where that is not known."""
    if sys.platform != "linux":
        return 0
    if reset:
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def texts(result: Any) -> str:
    return "".join(part.text for part in result.content)


def text(message: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in message["result"]["content"])


@pytest.mark.smoke
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_sdk_client_lists_and_calls_tools(mode: Any):
    asyncio.run(_use(mode))


async def _use(mode: Any) -> None:
    parameters = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], *TOOLS], cwd=FOLDER, env=environment(SHOP_API_KEY="sk-of-the-shop-123")
    )
    reported: list[tuple[float, float | None, str | None]] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        reported.append((done, total, message))

    async with Client(stdio_client(parameters), mode=mode) as client:
        assert (client.protocol_version == MODERN) == (mode == "auto")
        listed = {each.name: each for each in (await client.list_tools()).tools}
        weather, stock = listed["weather"], listed["stock"]
        assert weather.description == "Returns the weather."
        assert weather.input_schema["properties"]["city"] == {"type": "string", "description": "The city's name."}
        assert weather.annotations is not None
        assert weather.annotations.model_dump(exclude_none=True) == {
            "read_only_hint": True,
            "idempotent_hint": True,
            "open_world_hint": True,
        }
        assert stock.annotations is not None
        assert stock.annotations.model_dump(exclude_none=True) == {"destructive_hint": True}
        assert weather.output_schema is not None
        assert weather.output_schema["required"] == ["city", "celsius"]
        assert listed["count"].output_schema is None
        assert "context" not in listed["count"].input_schema["properties"]

        result = await client.call_tool("weather", {"city": "Oslo"})
        assert result.structured_content == {"city": "Oslo", "celsius": 7.5}
        assert json.loads(texts(result)) == result.structured_content
        assert (await client.call_tool("stock", {"item": "tea"})).structured_content == {"count": 3}

        counted = await client.call_tool("count", {"to": 1000}, progress_callback=on_progress)
        assert texts(counted) == "counted"
        assert reported[-1] == (999, 1000, "999 of 1000")
        assert [each[0] for each in reported] == sorted({each[0] for each in reported})

        image = await client.call_tool("picture", {})
        assert [part.type for part in image.content] == ["text", "image", "resource_link"]
        failures = {
            "fail": "ValueError: the key [scrubbed] is wrong",
            "leave": "SystemExit: 3",
            "refuse": "sold out",
            "late": "late did not finish in 0.2 s: it timed out",
            "fatal": "the tool 'fatal' failed: RuntimeError: broken",
        }
        for name, expected in failures.items():
            failed = await client.call_tool(name, {})
            assert (failed.is_error, texts(failed)) == (True, expected)
        for name in ("wrong_type", "not_a_number"):
            failed = await client.call_tool(name, {})
            assert failed.is_error
            assert f"the result of {name} cannot be sent: it does not match its output schema: " in texts(failed)
        unknown = await client.call_tool("weather", {"town": "Oslo"})
        assert unknown.is_error
        assert "town: unknown argument. The arguments are: city." in texts(unknown)
        with pytest.raises(Exception, match=r"Unknown tool: 'wether'. Did you mean weather\?"):
            await client.call_tool("wether", {})


def test_stdout_has_messages_only_whatever_tools_print(shared: Served):
    shared.send(call(1, "shout"))
    assert text(shared.answers([1])[1]) == "read ''"  # a tool's stdin is empty
    for printed in ("printed on import", "printed by a tool", "written to descriptor 1", "printed by a child"):
        shared.error_line(printed)


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_cancelled_request_cancels_its_tool(era: str):
    with Served(*TOOLS) as served:
        made = call("a", "wait", token="t")
        if era == "legacy":
            served.send(INITIALIZE, INITIALIZED)
            served.answers([0])
            made["params"]["_meta"] = {"progressToken": "t"}
        served.send(made)
        assert served.receive()["params"]["message"] == "waiting"
        served.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}})
        served.error_line("^cancelled$")
        assert served.ended() == 0


def test_tool_that_blocks_does_not_block_the_server(shared: Served):
    shared.send(call("b", "block", token="t"))
    assert shared.receive()["params"]["message"] == "blocking"
    shared.send(call(1, "weather", city="Oslo"), request(2, "tools/list"))
    assert set(shared.answers([1, 2])) == {1, 2}
    shared.send(call(3, "release"))
    assert text(shared.answers(["b", 3])["b"]) == "released"


def test_calls_that_cannot_run_yet_wait_and_too_many_are_refused():
    with Served(*TOOLS, "--concurrency", "1") as served:
        served.send(call("b", "block", token="t"))
        assert served.receive()["params"]["message"] == "blocking"
        served.send(*(call(number, "weather", city="Oslo") for number in range(65)))
        (refused,) = served.answers([64]).values()
        assert refused["result"]["isError"]
        assert text(refused) == "the server is busy: 64 calls wait already. Try again later."
        # A call that is cancelled while it waits gives its place free.
        served.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}})
        served.send(call("last", "weather", city="Rome"))
        served.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "b"}})
        served.error_line("block.* is still running in a background thread")
        answers = served.answers([*range(1, 64), "last"])
        assert not any(each["result"]["isError"] for each in answers.values())
        # The thread of the cancelled call cannot be ended.
        served.send(call("later", "weather", city="Rome"))
        assert text(served.answers(["later"])["later"]).startswith("the server is busy: 1 cancelled calls still run.")


def test_tools_that_are_not_parallel_run_one_after_another(shared: Served):
    shared.send(*(call(number, "alone") for number in range(4)))
    times = sorted([*map(int, text(each).split())] for each in shared.answers(range(4)).values())
    assert all(before[1] <= after[0] for before, after in pairwise(times))


def test_garbage_lines_are_refused_and_the_server_goes_on(shared: Served):
    garbage: list[tuple[bytes, int | None, int]] = [
        (b"garbage\n", None, -32700),
        (b"\xff\xfe\x00\n", None, -32700),
        (b"[" * 100_000 + b"\n", None, -32700),
        (b'{"jsonrpc": "2.0", "id": 7}\n', 7, -32600),
        (b'{"id": 8, "method": "tools/list"}\n', 8, -32600),
        (b"[]\n", None, -32600),
        (b"null\n", None, -32600),
        (b'"text"\n', None, -32600),
    ]
    shared.send(b"\n", b"   \n", request(1, "tools/list"))
    shared.answers([1])
    for line, number, code in garbage:
        shared.send(line)
        answer = shared.receive()
        assert (answer["id"], answer["error"]["code"]) == (number, code), line
    shared.send(call(2, "weather", city="Oslo"))
    assert not shared.answers([2])[2]["result"]["isError"]


def test_line_that_is_too_long_is_refused_without_being_kept(shared: Served):
    shared.send(call(1, "weather", city="Oslo"))
    shared.answers([1])
    before = peak_memory(shared.process.pid, reset=True)
    shared.send(b'{"jsonrpc": "2.0", "id": 1, "method": "', *[b"x" * (1 << 20)] * 100, b'"}\n')
    assert shared.receive()["error"]["message"] == "the message is longer than 16,777,216 bytes"
    assert peak_memory(shared.process.pid) - before < 80 << 20  # the line had 100 MiB
    shared.send(call(2, "weather", city="Oslo"))
    assert text(shared.answers([2])[2])


def test_result_that_is_too_long_is_an_error(shared: Served):
    shared.send(call(1, "large", size=17_000_000))
    answer = shared.answers([1])[1]
    assert answer["result"]["isError"]
    assert "the result of large is too long: 17,0" in text(answer)


def test_client_that_does_not_read_is_not_read_either():
    """The messages that a client sends without reading answers do not fill memory."""
    with Served(*TOOLS) as served:
        assert served.process.stdin is not None
        served.send(request("first", "tools/list"))
        served.answers(["first"])
        os.set_blocking(served.process.stdin.fileno(), False)
        line = json.dumps(request(1, "tools/list")).encode() + b"\n"
        descriptor, written = served.process.stdin.fileno(), 0
        while select.select([], [descriptor], [], SECONDS_UNREAD)[1]:
            written += os.write(descriptor, line)
            assert written < 3_000_000
        os.set_blocking(served.process.stdin.fileno(), True)


def test_ctrl_c_ends_the_server_without_a_traceback():
    with Served(*TOOLS) as served:
        served.send(call("b", "block", token="t"), call("w", "wait", token="u"))
        assert {served.receive()["params"]["progressToken"] for _ in range(2)} == {"t", "u"}
        served.interrupt()
        assert served.process.wait(PATIENCE_SECONDS) in (130, -signal.SIGINT)
    assert "Traceback" not in served.stderr


def test_end_of_stdin_ends_the_server_also_while_tools_run():
    with Served(*TOOLS) as served:
        served.send(call("b", "block", token="t"))
        served.receive()
        assert served.ended() == 0
    assert "Traceback" not in served.stderr


def test_reader_that_has_gone_ends_the_server():
    with Served(*TOOLS) as served:
        served.send(request(1, "tools/list"))
        served.answers([1])
        assert served.process.stdout is not None
        served.process.stdout.close()
        served.send(request(2, "tools/list"))
        assert served.process.wait(PATIENCE_SECONDS) == 0
    assert "Traceback" not in served.stderr


def test_credentials_are_removed_from_results_and_progress(shared: Served):
    shared.send(call(1, "leak", token="t"))
    progress, answer = shared.receive(), shared.receive()
    assert progress["params"]["message"] == "[scrubbed] [scrubbed]"
    expected = {**dict.fromkeys(SECRETS, "[scrubbed]"), **NAMES}
    assert json.loads(text(answer)) == {**expected, "SHOP_DATABASE": "postgresql://[scrubbed]@localhost/shop"}
    assert answer["result"]["structuredContent"] == json.loads(text(answer))
    assert not any(secret in shared.stderr for secret in SECRETS.values())


def test_failure_of_a_tool_is_one_line_of_the_log(shared: Served):
    shared.send(call(1, "fail"))
    assert shared.answers([1])[1]["result"]["isError"]
    shared.error_line(r"^the tool 'fail' failed: ValueError: the key \[scrubbed\] is wrong$")
    assert "Traceback" not in shared.stderr


def test_isolated_tool_may_end_its_process(shared: Served):
    shared.send(call(1, "crash"), call(2, "invoice", total=3))
    answers = shared.answers([1, 2])
    assert answers[1]["result"]["isError"]
    assert "exit code 3" in text(answers[1])
    assert answers[2]["result"]["structuredContent"] == {"total": 3.0}
