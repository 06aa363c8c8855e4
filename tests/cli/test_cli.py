"""The command line: output for people and for programs, and exit codes."""

from __future__ import annotations

import ast
import json
import os
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import abstractcore
from abstractcore.stores.models import FileModelStore
from abstractcore_cli.app import app
from abstractcore_cli.exit_codes import exit_code
from abstractcore_cli.reporting import in_options
from tests.chaos_server import (
    CUT,
    HANG,
    ScriptedServer,
    chunk,
    completion,
    delta,
    failure,
    stream_head,
    streamed,
)

ROOT = Path(__file__).parents[2]
COMMAND = ["-W", "error", "-c", "from abstractcore_cli import main; main()"]
PATIENCE_SECONDS = 60.0
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="drives a terminal and looks at processes")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.upper().endswith(("_API_KEY", "_PROXY")):
            monkeypatch.delenv(name)


@pytest.fixture
def to_server(server: ScriptedServer) -> list[str]:
    """The options that make the server answer."""
    return ["--provider", "openai-compatible/m", "--base-url", f"{server.url}/v1"]


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def run(*arguments: str, stdin: bytes | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Runs the command in a subprocess."""
    return subprocess.run(
        [sys.executable, *COMMAND, *arguments],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        env={**os.environ, **environment},
    )


def sent(server: ScriptedServer, number: int = -1) -> list[tuple[str, str]]:
    """The messages of a request, as role and text."""
    return [(message["role"], message["content"]) for message in server.requests[number].json["messages"]]


def test_answer_is_written_to_stdout_and_everything_else_to_stderr(server, to_server):
    server.script(completion("hello"))
    result = invoke("ask", "hi", *to_server)
    assert (result.exit_code, result.stdout) == (0, "hello\n")
    assert "openai-compatible/m-1: 3 tokens in, 2 out, " in result.stderr
    assert "unknown cost (no price is known for 'm' at 'openai-compatible')" in result.stderr
    assert "stream" not in server.requests[0].json


def test_quiet_suppresses_stderr(server, to_server):
    server.script(completion("hello"))
    result = invoke("ask", "hi", "--quiet", *to_server)
    assert (result.stdout, result.stderr) == ("hello\n", "")


def test_options_are_sent_in_the_request(server, to_server):
    server.script(completion())
    invoke("ask", "hi", "--system", "Be short.", "--temperature", "0.5", "--max-tokens", "7", *to_server)
    assert sent(server) == [("system", "Be short."), ("user", "hi")]
    body = server.requests[0].json
    assert (body["model"], body["temperature"]) == ("m", 0.5)
    assert 7 in (body.get("max_tokens"), body.get("max_completion_tokens"))


def test_stream_option_streams_the_answer(server, to_server):
    server.script(streamed("hel", "lo"))
    result = invoke("ask", "hi", "--stream", *to_server)
    assert (result.exit_code, result.stdout) == (0, "hello\n")
    assert server.requests[0].json["stream"] is True


def test_a_truncated_answer_is_a_warning_on_stderr(server, to_server):
    server.script(completion("hel", "length"))
    assert "may be incomplete: finish_reason is 'length'" in invoke("ask", "hi", *to_server).stderr


def test_route_of_a_file_is_on_stderr(server, to_server, tmp_path):
    (tmp_path / "notes.txt").write_text("Bring two copies.")
    server.script(completion())
    result = invoke("ask", "What?", "--media", str(tmp_path / "notes.txt"), *to_server)
    assert "notes.txt: inline, since text files are sent as text; sent text/plain" in result.stderr
    assert "Bring two copies." in str(sent(server))


def test_json_prints_one_object_only(server, to_server, tmp_path):
    (tmp_path / "notes.txt").write_text("Bring two copies.")
    server.script(completion("caf\u00e9"))
    result = invoke("ask", "hi", "--json", "--media", str(tmp_path / "notes.txt"), *to_server)
    data = json.loads(result.stdout)
    assert (result.exit_code, result.stderr, result.stdout.count("\n")) == (0, "", 1)
    assert list(data) == [
        *("content", "output", "finish_reason", "provider", "model", "usage", "media", "tool_steps", "loop_status"),
        *("warnings", "cost", "cost_source", "cost_reason", "price_rows", "estimated_cost", "seconds", "trace_id"),
    ]
    assert (data["content"], data["finish_reason"], data["usage"]["input"]) == ("caf\u00e9", "stop", 3)
    assert (data["tool_steps"], data["loop_status"]) == ([], None)
    assert (data["media"][0]["source"], data["media"][0]["route"]) == ("notes.txt", "inline")


def test_json_includes_errors(server, to_server):
    server.script(failure(401, "wrong key"))
    result = invoke("ask", "hi", "--json", *to_server)
    data = json.loads(result.stdout)
    assert (result.exit_code, data["exit_code"], result.stderr) == (3, 3, "")
    assert (data["error"]["type"], data["error"]["status"]) == ("AuthenticationError", 401)
    assert "wrong key" in data["error"]["message"]


def test_json_cannot_be_streamed(server, to_server):
    result = invoke("ask", "hi", "--json", "--stream", *to_server)
    assert (result.exit_code, json.loads(result.stdout)["error"]["hint"]) == (2, "Leave out --stream.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ask", "hi", "--json", "--temperature", "warm"], "Invalid value for '--temperature'"),
        (["ask", "hi", "--temperatur", "1", "--json"], "No such option: --temperatur"),
        (["plugins", "--json", "more"], "unexpected extra argument"),
        (["models", "pull", "--json"], "Missing argument 'name'"),
        (["asc", "--json"], "No such command 'asc'"),
        (["--json"], "No such option: --json"),
    ],
)
def test_json_includes_usage_errors(arguments, message):
    result = invoke(*arguments)
    data = json.loads(result.stdout)
    assert (result.exit_code, data["exit_code"], result.stderr) == (2, 2, "")
    assert message in data["error"]["message"]
    assert data["error"]["type"] == "InvalidInputError"


def test_json_hints_name_the_command_line_options():
    data = json.loads(invoke("ask", "hi", "--json", "--provider", "openai-compatible/m").stdout)
    assert data["error"]["hint"] == "For example: --base-url http://localhost:8000/v1."


def test_interrupted_stream_ends_its_line_before_the_error(server, to_server):
    server.script(stream_head(), chunk(delta("hel")), CUT)
    result = invoke("ask", "hi", "--stream", *to_server)
    assert (result.exit_code, result.stdout) == (4, "hel\n")
    assert result.stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ask"], 2, "no question given"),
        (["ask", "hi", "--provider", "opnai"], 2, "Did you mean openai"),
        (["ask", "hi", "--provider", "openai"], 2, "needs a model"),
        (["ask", "hi", "--provider", "openai/gpt-5"], 2, "Set OPENAI_API_KEY.\n"),
        (["ask", "hi", "--provider", "openai"], 2, "For example: --model gpt-"),
        (["ask", "hi", "--provider", "openai-compatible/m"], 2, "For example: --base-url http://localhost:8000/v1."),
        (["ask", "hi", "--max-tokens", "0"], 2, "--max-tokens: must be at least 1, got 0"),
        (["ask", "hi", "--context-size", "12"], 2, "--context-size: expected an integer of at least 256, got 12"),
        (["ask", "hi", "--provider", "openai/gpt-5", "--context-size", "999"], 2, "Leave it out: the provider"),
        (["ask", "hi", "--temperature", "nan"], 2, "temperature"),
        (["ask", "hi", "--media", "missing.wav"], 2, "missing.wav does not exist"),
        (["ask", "hi", "--api-key", "x"], 2, "No such option"),
        (["chat", "--provider", "opnai"], 2, "Did you mean openai"),
        (["models", "pull", "smolm2"], 2, "smollm2-135m-instruct"),
        (["models", "remove", "./mine.gguf"], 2, "Delete it yourself"),
    ],
)
def test_error_is_a_line_with_hint_and_exit_code(arguments, code, message):
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_image_for_a_text_only_model_is_refused_before_sending(server, tmp_path):
    (tmp_path / "dot.gif").write_bytes(b"GIF89a\1\0\1\0\0\0\0;")
    to_server = ["--provider", "ollama/llama3.2", "--base-url", server.url]
    result = invoke("ask", "hi", "--media", str(tmp_path / "dot.gif"), *to_server)
    assert (result.exit_code, server.requests) == (2, [])


def test_timeout_is_exit_code_4(server, to_server):
    server.script(HANG)
    result = invoke("ask", "hi", "--timeout", "0.2", *to_server)
    assert (result.exit_code, "with --timeout SECONDS." in result.stderr) == (4, True)


def test_connection_failure_is_exit_code_4():
    result = invoke(
        "ask", "hi", "--provider", "openai-compatible/m", "--base-url", "http://127.0.0.1:1", "--timeout", "1"
    )
    assert result.exit_code == 4


def test_every_error_has_an_exit_code():
    errors = [getattr(abstractcore, name) for name in abstractcore.__all__ if name.endswith("Error")]
    codes = {kind.__name__: exit_code(kind("x")) for kind in errors if issubclass(kind, abstractcore.AbstractCoreError)}
    assert {name for name, code in codes.items() if code == 1} == {
        *(
            "AbstractCoreError",
            "BudgetExceededError",
            "CallInterruptedError",
            "FallbackExhaustedError",
            "OutputValidationError",
        ),
        *("CassetteError", "ReplayMismatchError", "ScriptExhaustedError", "ToolError"),
    }
    assert {name for name, code in codes.items() if code == 4} == {
        *(
            "ConnectionFailedError",
            "LimitExceededError",
            "RequestTimeoutError",
            "StreamInterruptedError",
            "ToolServerError",
        ),
    }
    assert codes["RateLimitError"] == 3
    assert codes["MissingExtraError"] == codes["UnknownOptionError"] == codes["MediaError"] == 2


def test_rejected_key_is_exit_code_3_and_missing_key_exit_code_2():
    refused = abstractcore.AuthenticationError("no", status=401)
    in_a_stream = abstractcore.AuthenticationError("no", attempts=[abstractcore.AttemptRecord(0, 0.0, 0.1)])
    assert [exit_code(error) for error in (refused, in_a_stream, abstractcore.AuthenticationError("no"))] == [3, 3, 2]


@pytest.mark.process
@pytest.mark.weights
def test_context_overflow_hint_names_the_context_size_option(monkeypatch, models: FileModelStore, tmp_path):
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(models.root.parent))
    (tmp_path / "long.txt").write_text("word " * 1000)
    result = invoke("ask", "How many?", "--media", str(tmp_path / "long.txt"), "--context-size", "256")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "enlarge the context with --context-size TOKENS" in " ".join(result.stderr.split())


PYTHON_ONLY = re.compile(r"api_key\b|base_url|context_size|max_output_tokens|\b(?:model|temperature|timeout)=")


def hints() -> list[str]:
    """Yields the hints of the library, with an X for each value."""
    found: list[str] = []
    for path in [*ROOT.glob("abstractcore/**/*.py"), *ROOT.glob("providers/**/*.py"), *ROOT.glob("media/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword | ast.Assign | ast.AnnAssign) and node.value and is_hint(node):
                found += texts_of(node.value)
    return found


def is_hint(node: ast.keyword | ast.Assign | ast.AnnAssign) -> bool:
    return "hint" in (node.arg or "" if isinstance(node, ast.keyword) else ast.unparse(node).split("=")[0].lower())


def texts_of(expression: ast.expr) -> list[str]:
    """The texts in an expression, those of f-strings as wholes."""
    if isinstance(expression, ast.JoinedStr):
        return ["".join(part.value if isinstance(part, ast.Constant) else "X" for part in expression.values)]
    if isinstance(expression, ast.Constant):
        return [expression.value] if isinstance(expression.value, str) else []
    return [text for part in ast.iter_child_nodes(expression) if isinstance(part, ast.expr) for text in texts_of(part)]


@pytest.mark.process
def test_hints_of_the_command_have_no_python_code():
    python_hints = [hint for hint in hints() if PYTHON_ONLY.search(hint)]
    assert len(python_hints) > 5
    assert [hint for hint in map(in_options, python_hints) if PYTHON_ONLY.search(hint)] == []


def test_markup_in_answers_is_plain_text(server, to_server, tmp_path):
    (tmp_path / "[red]a[_red].txt").write_text("x")
    server.script(completion("[bold]x[/bold] [/nope] :smile:"))
    result = invoke("ask", "hi", "--media", str(tmp_path / "[red]a[_red].txt"), *to_server)
    assert result.stdout == "[bold]x[/bold] [/nope] :smile:\n"
    assert "[red]a[_red].txt: inline" in result.stderr


def test_control_characters_are_escaped(server, to_server, tmp_path):
    name = "a\x1b]0;owned\x07\x9b2J.txt"
    (tmp_path / name).write_text("x")
    server.script(completion("x\x9b2J\x1b[2J\r\n"))
    result = invoke("ask", "hi", "--json", "--media", str(tmp_path / name), *to_server)
    assert not set("\x1b\x07\x9b\x7f") & set(result.stdout)
    assert json.loads(result.stdout)["content"] == "x\x9b2J\x1b[2J\r\n"

    server.script(failure(400, "no \x1b]52;c;eA==\x07 here"))
    assert "no \u241b]52;c;eA==\u2407 here" in invoke("ask", "hi", *to_server).stderr
    server.script(completion())
    assert (
        "a\u241b]0;owned\u2407\ufffd2J.txt: inline"
        in invoke("ask", "hi", "-f", str(tmp_path / name), *to_server).stderr
    )


def test_version_and_help():
    assert invoke("--version").stdout == f"abstractcore {abstractcore.__version__}\n"
    for command in ([], ["ask"], ["chat"]):
        text = invoke(*command, "--help").stdout
        assert "API keys are read from the environment only" in text
        assert "  4    connection error or timeout\n" in text


@pytest.mark.parametrize(
    "command", [[], ["ask"], ["models"], ["mcp"], ["mcp", "list"], ["mcp", "call"], ["mcp", "serve"]]
)
def test_help_fits_a_terminal_of_80_columns(command):
    lines = CliRunner(env={"COLUMNS": "80"}).invoke(app, [*command, "--help"]).stdout.splitlines()
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("command", ["list", "call", "serve"])
def test_examples_in_the_help_of_mcp_are_indented_lines(command):
    lines = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["mcp", command, "--help"]).stdout.splitlines()
    examples = [line for line in lines if line.lstrip().startswith(f"abstractcore mcp {command} ")]
    assert examples
    assert all(line.startswith("      ") for line in examples)


@pytest.mark.process
def test_help_imports_nothing_heavy():
    script = (
        "import sys, typer.testing; from abstractcore_cli.app import app;"
        "typer.testing.CliRunner().invoke(app, ['ask', '--help']);"
        "print(sorted({'rich', 'httpx2', 'asyncio', 'pluggy'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert result.stdout == "[]\n"


def test_downloadable_models_are_listed(monkeypatch, tmp_path):
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(tmp_path))
    result = invoke("models", "list")
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert {"smollm2-135m-instruct", "qwen2.5-coder-1.5b", "whisper-base", "whisper-tiny.en"} <= {
        row[0] for row in rows
    }
    assert all(row[3].startswith("not downloaded: ") for row in rows if row[0])
    assert "qwen2.5-coder-1.5b\t1.1 GB\tApache-2.0\tnot downloaded: " in result.stdout
    assert "abstractcore models pull NAME" in result.stderr


@pytest.mark.weights
def test_model_is_pulled_and_listed(monkeypatch, models: FileModelStore):
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(models.root.parent))
    pulled = invoke("models", "pull", "smollm2-135m-instruct").stdout
    assert Path(pulled.rstrip("\n")).read_bytes()[:4] == b"GGUF"
    assert f"smollm2-135m-instruct\t98 MB\tApache-2.0\t{pulled}" in invoke("models", "list").stdout


def test_model_is_removed_once(monkeypatch, tmp_path):
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(tmp_path))
    (tmp_path / "models" / "smollm2-135m-instruct").mkdir(parents=True)
    assert invoke("models", "remove", "smollm2-135m-instruct").stderr == "removed smollm2-135m-instruct\n"
    again = invoke("models", "remove", "smollm2-135m-instruct")
    assert (again.exit_code, "is not stored" in again.stderr) == (2, True)


@pytest.mark.process
def test_plugins_are_listed_despite_a_broken_one(tmp_path):
    metadata = tmp_path / "unlucky-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: unlucky\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[abstractcore.plugins]\nunlucky = no_such_module\n")
    result = run("plugins", PYTHONPATH=str(tmp_path))
    lines = [line.split("\t") for line in result.stdout.decode().splitlines()]
    assert result.returncode == 2
    assert ["unlucky", "unlucky 1.0", "", "ModuleNotFoundError: No module named 'no_such_module'"] in lines
    assert any(name == "providers" and what.startswith("provider local, scripted, ") for name, _, what, _ in lines)
    assert b"broken: unlucky\n" in result.stderr


@pytest.mark.process
def test_stdin_is_the_question(server, to_server):
    server.script(completion("hello"))
    result = run("ask", *to_server, stdin=b"Say hello.\n")
    assert (result.returncode, result.stdout) == (0, b"hello\n")
    assert sent(server) == [("user", "Say hello.\n")]


@pytest.mark.smoke
@pytest.mark.process
def test_stdin_is_appended_to_the_question(server, to_server):
    server.script(completion())
    run("ask", "Which language?", *to_server, stdin="caf\u00e9".encode())
    assert sent(server) == [("user", "Which language?\n\ncaf\u00e9")]


@pytest.mark.process
def test_a_document_on_stdin_is_a_file(server, to_server):
    server.script(completion("A page."))
    result = run("ask", "What is it?", *to_server, stdin=(ROOT / "examples/media/notice.pdf").read_bytes())
    assert (result.returncode, result.stdout) == (0, b"A page.\n")
    assert b"stdin: fallback" in result.stderr
    assert b"stdin" in server.requests[-1].body


@pytest.mark.process
def test_what_is_neither_text_nor_a_known_file_on_stdin_is_an_error(server, to_server):
    result = run("ask", "What is it?", *to_server, stdin=b"\x00\xff\xfe\x01\x02")
    assert (result.returncode, result.stdout, server.requests) == (2, b"", [])
    assert b"stdin has an unsupported file type" in result.stderr


@pytest.mark.process
def test_closed_stdout_ends_the_command_silently(server, to_server):
    gate = server.gate()
    server.script(stream_head(), chunk(delta("one\n")), gate, *[chunk(delta("more\n" * 1000))] * 100, HANG)
    command = [sys.executable, *COMMAND, "ask", "hi", "--stream", *to_server]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"one\n"
        process.stdout.close()
        gate.open()
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE_SECONDS) == 1


@pytest.mark.process
def test_piped_chat_answers_each_line_and_keeps_the_history(server, to_server):
    server.script(streamed("one"))
    server.script(streamed("two"))
    result = run("chat", "--system", "Count.", *to_server, stdin=b"first\n\nsecond\n/exit\nnever sent\n")
    assert (result.returncode, result.stdout) == (0, b"one\ntwo\n")
    assert sent(server) == [("system", "Count."), ("user", "first"), ("assistant", "one"), ("user", "second")]


@pytest.mark.process
def test_piped_chat_ends_at_the_first_error(server, to_server):
    server.script(failure(401))
    result = run("chat", *to_server, stdin=b"first\nsecond\n")
    assert (result.returncode, len(server.requests)) == (3, 1)


@pytest.fixture
def terminal() -> Callable[..., Any]:
    pytest.importorskip("pty")
    from tests.terminal import Terminal

    def terminal(*arguments: str, columns: int = 80, **environment: str) -> Terminal:
        return Terminal([*COMMAND, *arguments], {**os.environ, **environment}, columns)

    return terminal


@pytest.mark.process
@needs_linux
def test_terminal_streams_the_answer_without_control_characters(server, to_server, terminal):
    gate = server.gate()
    server.script(
        stream_head(), chunk(delta("[bold]first\x1b[31m")), gate, streamed("\x9b2J second")[len(stream_head()) :]
    )
    with terminal("ask", "hi", *to_server) as window:
        window.wait_for("[bold]first\u241b[31m")
        gate.open()
        window.wait_for("\ufffd2J second")
        assert window.wait_for_end() == 0


@pytest.mark.process
@needs_linux
def test_chat_continues_after_ctrl_c_and_after_an_error(server, to_server, terminal):
    server.script(stream_head(), chunk(delta("half an ans")), HANG)
    server.script(failure(400, "not that"))
    server.script(streamed("a whole answer"))
    with terminal("chat", *to_server) as window:
        window.wait_for("> ")
        window.type("first\n")
        window.wait_for("half an ans")
        window.wait_until_idle()
        window.type("\x03")
        place = window.wait_for("> ", window.wait_for("stopped"))
        window.type("second\n")
        place = window.wait_for("> ", window.wait_for("not that", place))
        window.type("third\n")
        window.wait_for("> ", window.wait_for("a whole answer", place))
        window.wait_until_idle()
        window.type("\x03")
        assert window.wait_for_end() == 130
        assert "Traceback" not in window.screen
        window.wait_for("`abstractcore chat -c` continues this conversation.", window.wait_for("stopped by Ctrl-C"))
    assert sent(server) == [("user", "first"), ("assistant", "half an ans"), ("user", "third")]


@pytest.mark.process
@needs_linux
@pytest.mark.parametrize("keys", ["/exit\n", "\x04"])
def test_chat_ends_on_exit_and_end_of_input(to_server, terminal, keys):
    with terminal("chat", *to_server) as window:
        window.wait_for("> ")
        window.type(keys)
        assert window.wait_for_end() == 0


@pytest.mark.process
@needs_linux
def test_chat_does_not_send_unknown_commands_to_the_model(to_server, terminal):
    with terminal("chat", *to_server) as window:
        window.wait_for("> ")
        window.type("/hlep\n")
        window.wait_for("unknown command /hlep: Did you mean /help?")
        window.type("/exit\n")
        assert window.wait_for_end() == 0


@pytest.mark.process
@pytest.mark.weights
@needs_linux
def test_ctrl_c_leaves_no_process_and_no_traceback(models: FileModelStore, terminal):
    models.path("smollm2-135m-instruct")
    story = ["ask", "Tell me a long story about a bear.", "--temperature", "0"]
    with terminal(*story, ABSTRACTCORE_CACHE=str(models.root.parent)) as window:
        window.wait_for("bear")
        children = Path(f"/proc/{window.pid}/task/{window.pid}/children").read_text().split()
        watched = [os.pidfd_open(int(child)) for child in children]
        window.type("\x03")
        assert window.wait_for_end() == 130
        assert "Traceback" not in window.screen
    assert len(watched) == 1
    for descriptor in watched:
        assert select.select([descriptor], [], [], PATIENCE_SECONDS)[0]
        os.close(descriptor)
