"""Codex (Responses) and opencode (Chat Completions), coding agents of npm, write a file as a scripted model asks."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from abstractcore.testing import ScriptedReply
from abstractcore_server import Settings
from abstractcore_server.configuration.settings import ModelSettings
from tests.chaos_server import PATIENCE_SECONDS
from tests.node_packages import NODE, installed
from tests.server.clients.replies import result_of
from tests.server.serving import Served, serving

PACKAGES = Path(__file__).parent / "agents"
TASK = "Write hello into hello.txt."
DONE = "hello.txt is written."
OWN_TYPES = {
    "gpt-5.5": ("apply_patch", "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch\n"),
    "gpt-6.2-sol": ("functions__exec", 'await tools.exec_command({cmd: "echo hello > hello.txt"});'),
}
"""Models for which Codex has a custom tool, in the field for tools or in an item of the input: its function and a text.
"""

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="names the binary for Linux on x86-64"
    ),
]


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    """A server whose scripted model has the names of these models, too."""
    with serving(Settings(models={name: ModelSettings(("scripted",)) for name in OWN_TYPES})) as served:
        yield served


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder in which an agent works."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def run_agent(work: Path, *command: str | Path, **variables: str) -> list[dict[str, Any]]:
    """Runs an agent in a home of its own; returns the events that it prints."""
    home = work.parent / "home"
    home.mkdir()
    env = {"HOME": str(home), "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}", "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(
        command,
        cwd=work,
        env={**env, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def handshakes(http: httpx2.Client) -> float:
    """How many WebSocket connections were accepted."""
    found = re.search(
        r'abstractcore_requests_total\{route="/v1/responses",status="101"\} (\S+)', http.get("/metrics").text
    )
    return float(found[1]) if found else 0.0


def run_codex(served: Served, work: Path, model: str, websockets: str = "false") -> list[dict[str, Any]]:
    """Runs Codex with a model of the server; returns its events."""
    provider = {
        "name": '"local"',
        "base_url": f'"{served.url}/v1"',
        "wire_api": '"responses"',
        "env_key": '"SERVER_KEY"',
        "supports_websockets": websockets,
    }
    table = f"{{{', '.join(f'{name}={value}' for name, value in provider.items())}}}"
    options = (f'model="{model}"', 'model_provider="local"', f"model_providers.local={table}")
    return run_agent(
        work,
        NODE,
        installed(PACKAGES) / "node_modules/@openai/codex/bin/codex.js",
        *("exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access"),
        *(argument for option in options for argument in ("-c", option)),
        TASK,
        SERVER_KEY="unused",
    )


def texts(events: list[dict[str, Any]]) -> list[str]:
    """What Codex has said."""
    return [event["item"]["text"] for event in events if event.get("item", {}).get("type") == "agent_message"]


@pytest.mark.parametrize("websockets", ["false", "true"])
def test_codex(served: Served, work: Path, http: httpx2.Client, websockets: str):
    served.script(ScriptedReply.tool_call("exec_command", {"cmd": "printf hello > hello.txt && echo written"}), DONE)
    before = handshakes(http)
    events = run_codex(served, work, "scripted", websockets)
    assert (work / "hello.txt").read_text() == "hello"
    assert "written" in result_of(served.calls[-1])
    assert texts(events) == [DONE]
    (usage,) = [event["usage"] for event in events if event["type"] == "turn.completed"]
    assert usage["input_tokens"] > 0
    assert (handshakes(http) > before) == (websockets == "true")


@pytest.mark.parametrize("model", OWN_TYPES)
def test_codex_uses_tools_of_its_own_types_with_a_model_of_another_api(served: Served, work: Path, model: str):
    function, text = OWN_TYPES[model]
    served.script(ScriptedReply.tool_call(function, {"input": text}), DONE)
    events = run_codex(served, work, model)
    assert (work / "hello.txt").read_text() == "hello\n"
    assert texts(events) == [DONE]
    assert function in {tool.name for tool in served.calls[0].tools}


def test_opencode(served: Served, work: Path):
    path = work / "hello.txt"
    served.script(ScriptedReply.tool_call("write", {"filePath": str(path), "content": "hello"}), DONE)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{served.url}/v1", "apiKey": "unused"},
        "models": {"scripted": {"tool_call": True}},
    }
    config = {"provider": {"local": provider}, "model": "local/scripted", "share": "disabled", "autoupdate": False}
    offline = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD")
    events = run_agent(
        work,
        installed(PACKAGES) / "node_modules/opencode-linux-x64/bin/opencode",
        *("run", "--format", "json", "--title", "a task", TASK),
        OPENCODE_CONFIG_CONTENT=json.dumps(config),
        **{f"OPENCODE_DISABLE_{name}": "1" for name in offline},
    )
    assert path.read_text() == "hello"
    assert "success" in result_of(served.calls[-1])
    assert [event["part"]["text"] for event in events if event["type"] == "text"] == [DONE]
