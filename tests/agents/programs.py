"""The programs: which versions, how they are run for a prompt, and what their tools are called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.agents.model import Tools, named, of_shell, whole_file
from tests.node_packages import NODE, NPM

SCRIPTS = Path(__file__).parent / "scripts"
UV = Path(sys.executable).with_name("uv")


@dataclass(frozen=True)
class Run:
    """One run: the server's address, the model's name, the folder to work in, that of the program, which prompt."""

    url: str
    model: str
    work: Path
    home: Path
    program: Path
    prompt: str
    turn: int


@dataclass(frozen=True)
class Program:
    """A program. `packages` are pinned, of npm unless `is_python`; `format` is the API that it speaks.

    `command` returns what is run for a prompt, `variables` the environment of it. `tools` has its tools for a folder.
    """

    name: str
    packages: Mapping[str, str]
    format: str
    command: Callable[[Run], list[str]]
    tools: Callable[[str], Tools]
    variables: Callable[[Run], dict[str, str]] = field(default=lambda run: {})
    is_python: bool = False
    does_all: bool = False
    """Whether one run does all prompts."""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files in the home of the program."""
    folder: str = ""
    """Where its packages are, if not in a folder of its own."""

    def install(self, folder: Path) -> None:
        """Installs the packages into a folder, unless they are there."""
        folder.mkdir(parents=True, exist_ok=True)
        mark = folder / "installed.json"
        if mark.exists() and json.loads(mark.read_text()) == dict(self.packages):
            return
        if self.is_python:
            wanted = [f"{name}=={version}" for name, version in self.packages.items()]
            _run([str(UV), "venv", "--quiet", "--clear", str(folder / "venv")], folder)
            _run([str(UV), "pip", "install", "--quiet", "--python", str(folder / "venv/bin/python"), *wanted], folder)
        else:
            (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": dict(self.packages)}))
            quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
            _run([str(NODE), str(NPM), "install", *quiet], folder)
        mark.write_text(json.dumps(dict(self.packages)))


def environment(run: Run, variables: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment of a program: a home of its own, and no proxy for this machine."""
    path = f"{NODE.parent}{os.pathsep}{run.program / 'venv/bin'}{os.pathsep}{os.environ['PATH']}"
    return {"HOME": str(run.home), "PATH": path, "NO_PROXY": "127.0.0.1", "TERM": "dumb", **variables}


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def _claude(run: Run) -> list[str]:
    binary = run.program / "node_modules/@anthropic-ai/claude-code-linux-x64/claude"
    again = ["--continue"] if run.turn else []
    allowed = ["--permission-mode", "acceptEdits", "--allowedTools", "Read,Write"]
    return [str(binary), "-p", run.prompt, *again, "--output-format", "json", *allowed]


def _claude_variables(run: Run) -> dict[str, str]:
    models = ("ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL")
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY")
    return {
        "ANTHROPIC_BASE_URL": run.url,
        "ANTHROPIC_AUTH_TOKEN": "none",
        **dict.fromkeys(models, run.model),
        **dict.fromkeys(quiet, "1"),
    }


def _codex(*, websockets: bool) -> Callable[[Run], list[str]]:
    """Returns the command of Codex, over HTTP or WebSocket."""

    def command(run: Run) -> list[str]:
        provider = {
            "name": '"local"',
            "base_url": f'"{run.url}/v1"',
            "wire_api": '"responses"',
            "env_key": '"SERVER_KEY"',
            "supports_websockets": json.dumps(websockets),
        }
        options = {
            "model": f'"{run.model}"',
            "model_provider": '"local"',
            "model_providers.local": f"{{{', '.join(f'{name}={value}' for name, value in provider.items())}}}",
            "sandbox_mode": '"danger-full-access"',
        }
        given = [argument for name, value in options.items() for argument in ("-c", f"{name}={value}")]
        again = ["resume", "--last"] if run.turn else []
        script = run.program / "node_modules/@openai/codex/bin/codex.js"
        return [str(NODE), str(script), "exec", *again, "--json", "--skip-git-repo-check", *given, run.prompt]

    return command


def _gemini(run: Run) -> list[str]:
    script = run.program / "node_modules/@google/gemini-cli/bundle/gemini.js"
    again = ["--resume", "latest"] if run.turn else []
    return [str(NODE), str(script), "--approval-mode", "yolo", "-m", run.model, *again, "-p", run.prompt]


def _gemini_variables(run: Run) -> dict[str, str]:
    address = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": run.url}
    return {**address, "GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_TELEMETRY_ENABLED": "false"}


def _opencode(run: Run) -> list[str]:
    binary = run.program / "node_modules/opencode-linux-x64/bin/opencode"
    again = ["--continue"] if run.turn else []
    return [str(binary), "run", "--format", "json", *again, run.prompt]


def _opencode_variables(run: Run) -> dict[str, str]:
    provider: dict[str, Any] = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{run.url}/v1", "apiKey": "unused"},
        "models": {run.model: {"tool_call": True}},
    }
    config = {"provider": {"local": provider}, "model": f"local/{run.model}", "share": "disabled", "autoupdate": False}
    offline = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD")
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        **{f"OPENCODE_DISABLE_{name}": "1" for name in offline},
    }


def _aider(run: Run) -> list[str]:
    again = ["--restore-chat-history"] if run.turn else []
    quiet = ["--no-git", "--no-show-model-warnings", "--no-check-update", "--analytics-disable", "--no-pretty"]
    model = ["--model", f"openai/{run.model}", "--edit-format", "whole", "--yes-always", *quiet, *again]
    return [str(run.program / "venv/bin/aider"), *model, "--message", run.prompt]


def _script(name: str, kind: str) -> Callable[[Run], list[str]]:
    """Returns the command of a script of this folder, which does both prompts over the API `kind`."""

    def command(run: Run) -> list[str]:
        if name.endswith(".py"):
            return [str(run.program / "venv/bin/python"), str(SCRIPTS / name), run.url, run.model, kind]
        copy = run.program / name  # Node looks for packages beside it
        copy.write_bytes((SCRIPTS / name).read_bytes())
        return [str(NODE), str(copy), run.url, run.model, kind]

    return command


def _own(folder: str) -> Tools:
    """The tools of the scripts in this folder."""
    return named("read_file", "path", "write_file", "path", "text")


def _scripted(name: str, file: str, packages: Mapping[str, str], kinds: Mapping[str, str]) -> Iterator[Program]:
    """Yields a program for each API that a library speaks, by the name that the script has for it."""
    for kind, format in kinds.items():
        command, is_python = _script(file, kind), file.endswith(".py")
        yield Program(
            f"{name}-{kind}", packages, format, command, _own, is_python=is_python, does_all=True, folder=name
        )


PROGRAMS = (
    Program(
        "claude-code",
        {"@anthropic-ai/claude-code": "2.1.332"},
        "anthropic_messages",
        _claude,
        lambda folder: named("Read", "file_path", "Write", "file_path", "content", folder),
        _claude_variables,
    ),
    *(
        Program(
            name,
            {"@openai/codex": "0.171.0"},
            "openai_responses",
            _codex(websockets=name != "codex"),
            lambda folder: of_shell("exec_command", "cmd"),
            lambda run: {"SERVER_KEY": "unused"},
            folder="codex",
        )
        for name in ("codex", "codex-websocket")
    ),
    Program(
        "gemini-cli",
        {"@google/gemini-cli": "0.61.0"},
        "gemini",
        _gemini,
        lambda folder: named("read_file", "file_path", "write_file", "file_path", "content", folder),
        _gemini_variables,
        settings={".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'},
    ),
    Program(
        "opencode",
        {"opencode-linux-x64": "1.18.33"},
        "openai_chat",
        _opencode,
        lambda folder: named("read", "filePath", "write", "filePath", "content", folder, "bash"),
        _opencode_variables,
    ),
    *_scripted(
        "ai-sdk",
        "ai_sdk.mjs",
        {
            "ai": "7.0.173",
            "@ai-sdk/anthropic": "4.0.105",
            "@ai-sdk/openai": "4.0.118",
            "@ai-sdk/openai-compatible": "3.0.92",
        },
        {"compatible": "openai_chat", "responses": "openai_responses", "anthropic": "anthropic_messages"},
    ),
    *_scripted(
        "openai-agents",
        "openai_agents.py",
        {"openai-agents": "0.24.0"},
        {"responses": "openai_responses", "chat": "openai_chat"},
    ),
    *_scripted(
        "pydantic-ai",
        "pydantic_ai_agents.py",
        {"pydantic-ai-slim[anthropic,google,openai]": "2.68.0"},
        {
            "chat": "openai_chat",
            "responses": "openai_responses",
            "anthropic": "anthropic_messages",
            "google": "gemini",
        },
    ),
    *_scripted(
        "langchain",
        "langchain_agents.py",
        {
            "langchain": "1.5.2",
            "langchain-anthropic": "1.7.10",
            "langchain-google-genai": "4.4.2",
            "langchain-ollama": "1.1.0",
            "langchain-openai": "1.7.4",
        },
        {
            "chat": "openai_chat",
            "responses": "openai_responses",
            "anthropic": "anthropic_messages",
            "google": "gemini",
            "ollama": "ollama",
        },
    ),
    Program(
        "aider",
        {"aider-chat": "0.86.2"},
        "openai_chat",
        _aider,
        lambda folder: Tools(edit=whole_file),
        lambda run: {"OPENAI_API_BASE": f"{run.url}/v1", "OPENAI_API_KEY": "none"},
        is_python=True,
    ),
)
"""The programs, in the order in which they are run."""
