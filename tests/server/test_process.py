"""`abstractcore serve` as a process: its first answer, its signals, its exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx2
import openai
import pytest
from websockets.exceptions import ConnectionClosedOK
from websockets.sync.client import connect

from abstractcore.stores.models import FileModelStore
from abstractcore_server import Application, Settings
from tests.chaos_server import (
    DONE,
    HANG,
    LAST_CHUNK,
    PATIENCE_SECONDS,
    ScriptedServer,
    chunk,
    completion,
    completion_body,
    delta,
    raw_answer,
    stream_head,
)

pytestmark = pytest.mark.process

LAST_PIECE = chunk(delta("jour") + delta(finish_reason="stop") + DONE)
ASK = {"model": "openai-compatible/m", "messages": [{"role": "user", "content": "hi"}], "stream": True}


class Process:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url

    def signal(self, number: int) -> None:
        """Sends a signal."""
        self.process.send_signal(number)

    def wait_for_line(self, words: str) -> None:
        """Waits for a line on stderr."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if words in line:
                return
        raise AssertionError(f"the server ended without {words!r}")

    def end(self) -> int:
        """Waits for the end; returns the exit code."""
        return self.process.wait(PATIENCE_SECONDS)


@contextmanager
def started(*arguments: str, **environment: str) -> Generator[Process]:
    """Starts `abstractcore serve` on a free port."""
    command = [sys.executable, "-m", "abstractcore", "serve", "--port", "0", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=_environment(environment)) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"listening at (\S+)", line)
            assert found, line + process.stderr.read()
            yield Process(process, found[1])
        finally:
            process.kill()
            process.communicate()


@contextmanager
def notified() -> Generator[tuple[str, socket.socket]]:
    """Yields the name of a socket as systemd has for its services, and the socket."""
    # The name of a socket is short: not in pytest's folder.
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiving:
        receiving.bind(f"{folder}/notify")
        receiving.settimeout(PATIENCE_SECONDS)
        yield f"{folder}/notify", receiving


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ABSTRACTCORE_SERVER")}
    return {**kept, **more}


@pytest.fixture
def config(tmp_path: Path, server: ScriptedServer) -> Path:
    """A configuration whose provider is the scripted server."""
    file = tmp_path / "server.toml"
    file.write_text(
        f'[limits]\ndrain_seconds = 20\n[providers.openai-compatible]\nbase_url = "{server.url}/v1"\n'
        "options.max_retries = 0\n"
    )
    return file


@pytest.mark.weights
def test_it_answers_at_once_with_the_embedded_model(models: FileModelStore):
    environment = {"ABSTRACTCORE_CACHE": str(models.root.parent.resolve())}
    with (
        started(**environment) as process,
        openai.OpenAI(base_url=f"{process.url}/v1", api_key="none", timeout=PATIENCE_SECONDS * 4) as client,
    ):
        completion = client.chat.completions.create(
            model="default", messages=[{"role": "user", "content": "Say hello."}], max_tokens=8, temperature=0
        )
        assert completion.choices[0].message.content
        assert completion.usage is not None
        assert completion.usage.completion_tokens
        process.signal(signal.SIGINT)
        assert process.end() == 0


@pytest.mark.smoke
def test_sigterm_lets_streams_end(config: Path, server: ScriptedServer):
    gate = server.gate()
    server.script(stream_head(), chunk(delta("Bon")), gate, LAST_PIECE, LAST_CHUNK)
    with (
        notified() as (name, systemd),
        started("--config", str(config), NOTIFY_SOCKET=name) as process,
        httpx2.Client(trust_env=False, timeout=PATIENCE_SECONDS) as http,
    ):
        assert systemd.recv(64) == b"READY=1"
        with http.stream("POST", f"{process.url}/v1/chat/completions", json=ASK) as response:
            pieces = response.iter_bytes()
            seen = next(pieces)
            process.signal(signal.SIGTERM)
            wait_until_refused(process.url)
            gate.open()
            assert b"jour" in seen + b"".join(pieces)
        assert process.end() == 0


def test_sigterm_lets_a_response_over_websocket_end(config: Path, server: ScriptedServer):
    gate = server.gate()
    server.script(stream_head(), chunk(delta("Bon")), gate, LAST_PIECE, LAST_CHUNK)
    ask = {"type": "response.create", "model": "openai-compatible/m", "input": "hi"}
    with started("--config", str(config)) as process:
        address = f"{process.url.replace('http', 'ws')}/v1/responses"
        with connect(address, proxy=None) as idle, connect(address, proxy=None) as busy:
            busy.send(json.dumps(ask))
            events = [json.loads(busy.recv(PATIENCE_SECONDS))]
            while events[-1]["type"] != "response.output_text.delta":
                events.append(json.loads(busy.recv(PATIENCE_SECONDS)))
            process.signal(signal.SIGTERM)
            with pytest.raises(ConnectionClosedOK) as closed:
                idle.recv(PATIENCE_SECONDS)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1001
            gate.open()
            with pytest.raises(ConnectionClosedOK):
                while True:
                    events.append(json.loads(busy.recv(PATIENCE_SECONDS)))
        assert events[-1]["type"] == "response.completed"
        assert process.end() == 0


def test_second_sigterm_ends_at_once(config: Path, server: ScriptedServer):
    server.script(stream_head(), chunk(delta("Bon")), HANG)
    with started("--config", str(config)) as process, httpx2.Client(trust_env=False, timeout=PATIENCE_SECONDS) as http:
        with http.stream("POST", f"{process.url}/v1/chat/completions", json=ASK) as response:
            pieces = response.iter_bytes()
            assert next(pieces)
            process.signal(signal.SIGTERM)
            wait_until_refused(process.url)
            process.signal(signal.SIGTERM)
            with pytest.raises(httpx2.TransportError):
                list(pieces)
        assert process.end() == 0


def wait_until_refused(url: str) -> None:
    """Returns when the server accepts no further connections."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            httpx2.get(f"{url}/health", trust_env=False)
        except httpx2.HTTPError:
            return
    raise AssertionError("the server still accepts connections")


def test_sighup_reloads_without_cutting_a_stream(config: Path, server: ScriptedServer):
    gate = server.gate()
    server.script(stream_head(), chunk(delta("Bon")), gate, LAST_PIECE, LAST_CHUNK)
    server.script(completion("second"))
    with started("--config", str(config)) as process, httpx2.Client(trust_env=False, timeout=PATIENCE_SECONDS) as http:
        url = f"{process.url}/v1/chat/completions"
        renamed = {"model": "fast", "messages": ASK["messages"]}
        assert http.post(url, json=renamed).status_code == 404
        with http.stream("POST", url, json=ASK) as response:
            pieces = response.iter_bytes()
            seen = next(pieces)
            config.write_text(config.read_text() + '[models.fast]\nmodels = "openai-compatible/m"\n')
            process.signal(signal.SIGHUP)
            process.wait_for_line("the configuration was reloaded")
            assert http.post(url, json=renamed).json()["choices"][0]["message"]["content"] == "second"
            gate.open()
            assert b"jour" in seen + b"".join(pieces)
        of_the_stream = server.requests[-2].connection
        server.wait_for(lambda: of_the_stream.closed_at, "the end of what the settings before had used")
        config.write_text("[server]\nprot = 1\n")
        process.signal(signal.SIGHUP)
        process.wait_for_line("was not reloaded")
        assert http.get(f"{process.url}/ready").status_code == 200


def test_plugins_stay_with_the_processes_of_their_models():
    application = Application(Settings())
    before = application.state.services
    application.reload(Settings())
    assert application.state.services is not before
    assert application.state.services.registry is before.registry


def check(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "abstractcore", "serve", *arguments]
    variables = _environment(environment)
    return subprocess.run(command, capture_output=True, text=True, env=variables, timeout=PATIENCE_SECONDS)


def test_check_ends_with_the_line_of_what_is_wrong(config: Path):
    done = check("--check", "--config", str(config), ABSTRACTCORE_SERVER_PROT="8000", ABSTRACTCORE_SERVER_PORT="8000")
    assert (done.returncode, "the configuration is valid" in done.stderr) == (0, True)
    assert "the variable ABSTRACTCORE_SERVER_PROT is ignored: there is no such setting" in done.stderr
    assert "ABSTRACTCORE_SERVER_PORT " not in done.stderr
    config.write_text("[server]\n\nprot = 1\n")
    failed = check("--check", "--config", str(config))
    assert failed.returncode == 2
    assert "server.toml:3:1" in failed.stderr
    assert "Did you mean port?" in failed.stderr


def test_check_says_which_mcp_server_cannot_be_started(tmp_path: Path):
    file = tmp_path / "server.toml"
    file.write_text('[mcp.absent]\ncommand = "/no/such"\n')
    assert check("--check", "--config", str(file)).returncode == 0
    failed = check("--check-mcp", "--config", str(file))
    assert failed.returncode == 2
    assert "server.toml:1:1: mcp.absent: the MCP server absent cannot be reached" in failed.stderr


def test_other_machines_are_refused_without_a_key():
    failed = check("--host", "0.0.0.0", "--check")
    assert failed.returncode == 2
    assert "ABSTRACTCORE_SERVER_KEY" in failed.stderr


def tool_call_completion() -> bytes:
    """A chat completion that calls the tool `ask`."""
    body = completion_body("", "tool_calls")
    call = {"id": "call_1", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
    body["choices"][0]["message"]["tool_calls"] = [call]
    return raw_answer(json.dumps(body).encode())


def test_mcp_servers_are_shared_replaced_and_ended(config: Path, server: ScriptedServer):
    hostile = Path(__file__).parents[1] / "core" / "mcp" / "hostile.py"
    config.write_text(
        config.read_text()
        + f'[mcp.stubborn]\ncommand = "{sys.executable}"\nargs = ["{hostile}", "ignore_signals"]\n'
        + f'approval = "never"\nattached = ["*"]\nconnect_seconds = {PATIENCE_SECONDS}\n'
    )
    ask = {"model": "openai-compatible/m", "messages": [{"role": "user", "content": "hi"}]}

    def started_by_a_call() -> int:
        """Makes a call; returns the process that ran its tool."""
        server.script(tool_call_completion())
        server.script(completion("done"))
        answer = http.post(f"{process.url}/v1/chat/completions", json=ask).json()
        assert answer["choices"][0]["message"]["content"] == "done"
        return int(json.loads(server.requests[-1].body)["messages"][-1]["content"])

    with started("--config", str(config)) as process, httpx2.Client(trust_env=False, timeout=PATIENCE_SECONDS) as http:
        first = started_by_a_call()
        process.signal(signal.SIGHUP)
        process.wait_for_line("the configuration was reloaded")
        wait_until_ended(first)
        second = started_by_a_call()
        assert second != first
        process.signal(signal.SIGTERM)
        assert process.end() == 0
        wait_until_ended(second)


def wait_until_ended(pid: int) -> None:
    """Returns when a process has ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
    raise AssertionError("the process still runs")
