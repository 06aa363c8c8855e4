"""Wrong commands: each ends with one sentence and one line that says what to do, its exit code, and no traceback."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from abstractcore_cli.app import app
from tests.chaos_server import ScriptedServer, failure

PATIENCE_SECONDS = 240.0
KEY = "sk-secret-0123456789abcdef"
PROGRAM = [sys.executable, "-W", "error", "-c", "from abstractcore_cli import main; main()"]
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="uses /proc and /dev/full")


@dataclass(frozen=True, slots=True)
class WrongCommand:
    """What is typed, in a folder with the files of `folder`; the exit code; and parts of the sentence and the hint.

    `{url}` is a server that answers with an error of this status.
    """

    typed: str
    code: int
    says: str
    hint: str
    status: int = 401
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


NOWHERE = {"HOME": "/proc/nowhere", "XDG_DATA_HOME": "", "ABSTRACTCORE_CACHE": ""}
WITH_KEY = {"OPENAI_API_KEY": KEY}
WRONG = [
    # Names
    WrongCommand("asc hi", 2, "No such command 'asc'", "Did you mean 'ask'"),
    WrongCommand("models pul x", 2, "No such command 'pul'", "Did you mean 'pull'"),
    WrongCommand("ask hi --temperatur 1", 2, "No such option: --temperatur", "Did you mean --temperature?"),
    WrongCommand("ask hi --nonsense", 2, "No such option: --nonsense", "Run `abstractcore ask --help`."),
    WrongCommand("ask hi -p opnai", 2, "opnai", "Did you mean openai"),
    WrongCommand("models list -p opnai", 2, "opnai", "Did you mean openai"),
    WrongCommand("models info gpt-5.4-minni", 2, "the catalogue has no model", "Did you mean gpt-5.4-mini"),
    WrongCommand("models pull whisper-bse", 2, "no model is called 'whisper-bse'", "whisper-base"),
    WrongCommand("models remove nope", 2, "no model is called 'nope'", "whisper-base"),
    WrongCommand("sessions show nope", 2, "there is no session 'nope'", "abstractcore sessions list"),
    WrongCommand(
        "ask hi -p openai/gpt-5.4-minni --base-url {url}",
        3,
        "HTTP 404",
        "`abstractcore models list --provider openai --base-url {url}` lists the models of this server.",
        404,
        WITH_KEY,
    ),
    # Values
    WrongCommand("ask", 2, "no question given", "abstractcore ask"),
    WrongCommand("ask ''", 2, "no question given", "abstractcore ask"),
    WrongCommand("search", 2, "Missing argument", "abstractcore search --help"),
    WrongCommand("ask hi --temperature warm", 2, "--temperature", "abstractcore ask --help"),
    WrongCommand("ask hi --max-tokens 0", 2, "--max-tokens: must be at least 1", "."),
    WrongCommand("ask hi --tool nomodule:fn", 2, "'nomodule'", "current folder"),
    WrongCommand("draw house --size 10by10", 2, "is not a size", "--size 1024x768"),
    WrongCommand("speak ''", 2, "the text is empty", "--help"),
    WrongCommand("models search --context abc", 2, "abc", "."),
    WrongCommand("models search --max-price x", 2, "x", "."),
    WrongCommand("index add notes.txt --tag team", 2, "'team' is not a tag", "--tag NAME=VALUE"),
    WrongCommand("keys create ann --expires soon", 2, "soon", "."),
    WrongCommand("mcp list", 2, "expected a server", "--url URL"),
    WrongCommand("mcp call x '[' --url http://127.0.0.1:1/mcp", 2, "not JSON", "JSON object"),
    # Files
    WrongCommand("ask hi -f missing.pdf", 2, "missing.pdf does not exist", "Looked in"),
    WrongCommand("ask hi -f folder", 2, "folder is a directory", "one by one"),
    WrongCommand("ask hi -f empty.txt", 2, "empty.txt is empty", "abstractcore media FILE"),
    WrongCommand("ask hi -f odd.xyz", 2, "odd.xyz", "Convert it"),
    WrongCommand("ask hi -f broken.pdf", 2, "broken.pdf is truncated", "Download it again"),
    WrongCommand("transcribe missing.wav", 2, "missing.wav does not exist", "Looked in"),
    WrongCommand("transcribe notes.txt", 2, "expected audio or video", "."),
    WrongCommand("embed notes.txt -o x.csv", 2, "no known ending", ".npz"),
    WrongCommand("embed missing.txt -o x.npz", 2, "missing.txt", "."),
    WrongCommand("speak hello -o /no/such/folder/x.wav", 2, "there is no such folder", "--output FILE"),
    WrongCommand("search hello", 2, "There is no index", "abstractcore index add"),
    WrongCommand("index list --index notes.txt", 2, "notes.txt", "."),
    WrongCommand("sessions show ./notes.txt", 2, "notes.txt", "."),
    WrongCommand("traces list", 2, "no traces are kept", "ABSTRACTCORE_TRACES"),
    WrongCommand("mcp list --config missing.json", 2, "missing.json cannot be read", "."),
    WrongCommand("catalogue update ./nope.whl", 2, "nope.whl", "."),
    WrongCommand("config check", 2, "bad.toml", ".", environment={"ABSTRACTCORE_CONFIG": "bad.toml"}),
    WrongCommand("ask hi", 2, "not TOML", "abstractcore doctor", environment={"ABSTRACTCORE_CONFIG": "bad.toml"}),
    WrongCommand("ask hi", 2, "does not exist", "Looked in", environment={"ABSTRACTCORE_CONFIG": "no.toml"}),
    # Files with similar names
    WrongCommand("ask hi -f note.txt", 2, "note.txt does not exist", "Did you mean notes.txt?"),
    WrongCommand("ask hi --schema note.json", 2, "note.json cannot be read", "Did you mean notes.json?"),
    WrongCommand("embed note.txt --lines -o x.npz", 2, "note.txt", "Did you mean notes.txt?"),
    WrongCommand("speak note.txt", 2, "there is no file note.txt", "Did you mean notes.txt?"),
    WrongCommand("compose waltz --lyrics-file note.txt", 2, "note.txt cannot be read", "Did you mean notes.txt?"),
    WrongCommand("index add foldr", 2, "does not exist", "Did you mean folder?"),
    WrongCommand("index list --index note.txt", 2, "There is no index note.txt", "Did you mean notes.txt?"),
    WrongCommand("traces list --store note.txt", 2, "no traces are kept in note.txt", "Did you mean notes.txt?"),
    WrongCommand("mcp list --config note.json", 2, "note.json cannot be read", "Did you mean notes.json?"),
    WrongCommand("catalogue update ./notes.tx", 2, "notes.tx does not exist", "Did you mean notes.txt?"),
    WrongCommand("runs list --store note.txt", 2, "note.txt does not exist", "Did you mean notes.txt?"),
    WrongCommand(
        "ask hi", 2, "does not exist", "Did you mean bad.toml", environment={"ABSTRACTCORE_CONFIG": "bed.toml"}
    ),
    # Folders that cannot be written
    WrongCommand("chat --session trip -p ollama/x", 2, "cannot be made", "abstractcore doctor", environment=NOWHERE),
    WrongCommand("index add notes.txt", 2, "cannot be used", "Check the path", environment=NOWHERE),
    WrongCommand("models pull whisper-base", 2, "cannot be stored", "ABSTRACTCORE_CACHE", environment=NOWHERE),
    WrongCommand("keys create ann", 2, "cannot be opened", ".", environment=NOWHERE),
    # Keys and connections
    WrongCommand("ask hi -p openai/gpt-5.4-mini", 2, "no API key", "Set OPENAI_API_KEY"),
    WrongCommand(
        "ask hi -p openai/gpt-5.4-mini --base-url {url}", 3, "HTTP 401", "Check OPENAI_API_KEY", 401, WITH_KEY
    ),
    WrongCommand("ask hi -p openai-compatible/m --base-url localhost:80", 2, "is not a URL", "http://localhost"),
    WrongCommand(
        "ask hi -p openai-compatible/m --base-url http://127.0.0.1:1 --timeout 1", 4, "cannot connect", "Check that the"
    ),
    WrongCommand(
        "ask hi -p openai-compatible/m --base-url http://no-host.invalid --timeout 1", 4, "no-host.invalid", "Check"
    ),
    # The server
    WrongCommand("serve --port 99999", 2, "--port", "abstractcore serve --help"),
    WrongCommand("serve --config bad.toml", 2, "not TOML", "abstractcore doctor"),
    WrongCommand("dashboard", 2, "no traces are kept", "ABSTRACTCORE_TRACES"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with an empty home, no key, and the files that the commands name."""
    for name in list(os.environ):
        if name.upper().endswith(("_API_KEY", "_PROXY")):
            monkeypatch.delenv(name)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("Bring two copies.")
    (tmp_path / "notes.json").write_text("{}")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "odd.xyz").write_bytes(bytes(range(256)))
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\nnonsense")
    (tmp_path / "bad.toml").write_text("[models\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(stderr: str, wrong: WrongCommand) -> None:
    """Fails unless one error is reported, in a sentence and a line that says what to do."""
    lines = [line for line in stderr.splitlines() if not line.startswith("still loading")]
    assert [line.startswith("error: ") for line in lines[-2:]] == [True, False], stderr
    assert sum(line.startswith("error: ") for line in lines) == 1
    assert wrong.says in lines[-2]
    assert wrong.hint in lines[-1]


@pytest.mark.exhaustive
@needs_linux
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.typed)
def test_wrong_command_is_one_sentence_and_one_line_to_type(wrong: WrongCommand, server: ScriptedServer, folder: Path):
    server.script(failure(wrong.status, f"no such model for {KEY}"))
    arguments = shlex.split(wrong.typed.format(url=f"{server.url}/v1"))
    environment = {name: value or None for name, value in wrong.environment.items()}
    result = CliRunner(env=environment).invoke(app, arguments, catch_exceptions=False)
    assert (result.exit_code, KEY in result.output) == (wrong.code, False), result.output
    check(result.stderr, replace(wrong, hint=wrong.hint.format(url=f"{server.url}/v1")))


def run(typed: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of the shell, in which $PROGRAM is the command."""
    program = " ".join(map(shlex.quote, PROGRAM))
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", typed.replace("$PROGRAM", program)],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PATIENCE_SECONDS,
    )


@pytest.fixture
def taken() -> Iterator[int]:
    """A port at which another program listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


@pytest.mark.process
@needs_linux
@pytest.mark.parametrize(
    ("typed", "code", "says"),
    [
        ("$PROGRAM models search >/dev/full", 1, "the output cannot be written: No space left on device"),
        ("$PROGRAM serve --port {port}", 2, "{port}"),
        ("$PROGRAM ask -f $'caf\\xe9.txt' hi", 2, "does not exist"),
        ("head -c 300 /dev/zero | $PROGRAM ask hi", 2, "Supported file types"),
    ],
)
def test_wrong_process_ends_without_traceback(typed: str, code: int, says: str, taken: int, folder: Path):
    result = run(typed.replace("{port}", str(taken)), folder)
    assert (result.returncode, "Traceback" in result.stderr) == (code, False), result.stderr
    assert says.replace("{port}", str(taken)) in result.stderr


@pytest.mark.process
def test_closed_pipe_ends_the_command_without_an_error(folder: Path):
    result = run("$PROGRAM models search | head -1", folder)
    assert (len(result.stdout.splitlines()), "Traceback" in result.stderr, "error" in result.stderr) == (
        1,
        False,
        False,
    )
