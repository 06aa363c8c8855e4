"""Ctrl-C in commands that take long: each ends at once with one sentence and one line, leaves nothing half-written, and
does the rest when it is repeated.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore_cli.app import app
from abstractcore_cli.interruptions import AGAIN, INTERRUPTION
from tests.chaos_server import completion_body
from tests.cli.test_search import EmbedsWords
from tests.core.stores.hub_server import hub_of

PATIENCE_SECONDS = 60.0
PROGRAM = ["-W", "error", "-c", "from abstractcore_cli import main; main()"]
LINES = 600
FILES = 300
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="uses a pseudo-terminal and /proc"),
]


class Held(EmbedsWords):
    """Embeds texts and answers questions; after `server.free` requests, it waits until `server.released`."""

    def do_POST(self) -> None:  # noqa: N802
        server: Any = self.server
        with server.lock:
            server.begun += 1
            is_held = server.begun > server.free
        if is_held:
            server.held.set()
            server.released.wait(PATIENCE_SECONDS)
        with contextlib.suppress(ConnectionError):  # of a command that was interrupted
            if self.path.endswith("/embeddings"):
                super().do_POST()
            else:
                self._answer(json.dumps(completion_body("It is red.")).encode())

    def do_GET(self) -> None:  # noqa: N802
        """A hub that does not answer."""
        server: Any = self.server
        server.held.set()
        server.released.wait(PATIENCE_SECONDS)

    do_HEAD = do_GET  # noqa: N815

    def _answer(self, body: bytes) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@dataclass(frozen=True, slots=True)
class LongCommand:
    """What is typed, the requests that are answered before Ctrl-C, and what is then said; the files that it leaves
    beside those that were there; what it prints when it is repeated, and how many requests that takes.
    """

    typed: str
    free: int
    says: str
    left: tuple[str, ...]
    prints: str
    requests: int


LONG = [
    LongCommand(
        "index add papers -p openai -m m",
        1,
        "it goes on after the files that are",
        ("data",),
        r"299 added, 1 unchanged",
        11,
    ),
    LongCommand("index rebuild --index old.db -p openai -m n", 1, "The index is as it was", (), r"300 added", 11),
    LongCommand(
        "embed many.txt --lines -o q.npz -p openai -m m",
        8,
        "it goes on with the vectors in q.npz.unfinished.",
        ("q.npz.unfinished",),
        r"q\.npz",
        11,
    ),
    LongCommand("search apples --index old.db", 0, AGAIN, (), r"fruit0\.md, line 3", 1),
    LongCommand("ask -p openai/m -f papers/fruit1.md -f papers/fruit2.md Colour?", 0, AGAIN, (), r"It is red\.", 1),
    LongCommand("models pull hf:owner/repo", 0, "the download goes on where it was.", ("cache",), r"owner", 0),
]


@pytest.fixture
def server() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Held)
    server.lock, server.held, server.released = threading.Lock(), threading.Event(), threading.Event()
    server.begun, server.free = 0, sys.maxsize
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def folder(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: papers, an index of them, lines to embed, and traces."""
    url = f"http://127.0.0.1:{server.server_port}"
    settings = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "sk-test", "HF_ENDPOINT": url}
    folders = {"XDG_DATA_HOME": "data", "ABSTRACTCORE_CACHE": "cache", "HF_HOME": "cache/hf"}
    for name, value in {**settings, **{name: str(tmp_path / path) for name, path in folders.items()}}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ABSTRACTCORE_KEEP_LAST", "off")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "papers").mkdir()
    for number in range(FILES):
        text = f"# Fruit\n\nOrchard {number} gave {number} tonnes of {'apples' if number == 0 else 'pears'}.\n"
        (tmp_path / "papers" / f"fruit{number}.md").write_text(text)
    (tmp_path / "many.txt").write_text("".join(f"line {number}\n" for number in range(LINES)))
    added: Any = CliRunner().invoke(app, ["index", "add", "papers", "--index", "old.db", "-p", "openai", "-m", "m"])
    assert added.stdout == f"{FILES} added\n"
    return tmp_path


@pytest.mark.parametrize("command", LONG, ids=lambda command: " ".join(command.typed.split()[:2]))
def test_ctrl_c_ends_it_at_once_and_it_goes_on_when_repeated(command: LongCommand, server: Any, folder: Path):
    from tests.terminal import Terminal

    before = {path.name for path in folder.iterdir()}
    server.begun, server.free = 0, command.free
    with Terminal([*PROGRAM, *shlex.split(command.typed)], dict(os.environ), columns=200) as window:
        assert server.held.wait(PATIENCE_SECONDS), window.screen
        window.wait_until_idle()
        window.type("\x03")
        assert window.wait_for_end() == 130
    assert "Traceback" not in window.screen
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", window.screen).replace("\r", "")
    assert re.search(rf"stopped by Ctrl-C\n[^\n]*{re.escape(command.says)}[^\n]*\n\Z", shown), shown
    assert {path.name for path in folder.iterdir()} - before == {*command.left}
    server.released.set()
    server.begun, server.free = 0, sys.maxsize
    with hub_of({"model.gguf": b"GGUF" + bytes(1000)}) as hub:
        again = subprocess.run(
            [sys.executable, *PROGRAM, *shlex.split(command.typed)],
            env={**os.environ, "HF_ENDPOINT": hub},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
    assert again.returncode == 0, again.stderr
    assert re.search(command.prints, again.stdout), again.stdout
    assert server.begun == command.requests
    assert not [path for path in folder.iterdir() if "unfinished" in path.name]


def test_ctrl_c_during_the_import_is_said_too():
    interrupt = (
        "import sys, types\n"
        "def find(name, *rest):\n"
        "    if name == 'abstractcore_cli.app': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, types.SimpleNamespace(find_spec=find))\n"
        "from abstractcore_cli import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", interrupt], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr.splitlines() == [INTERRUPTION, AGAIN]


@pytest.mark.parametrize("as_json", [False, True])
def test_json_of_an_interrupted_command_has_its_exit_code(monkeypatch: pytest.MonkeyPatch, as_json: bool):
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("abstractcore_cli.provider_list.show_providers", interrupted)
    found: Any = CliRunner().invoke(app, ["providers", *(["--json"] if as_json else [])])
    assert found.exit_code == 130
    if as_json:
        error = {"type": "KeyboardInterrupt", "message": INTERRUPTION, "hint": AGAIN}
        assert json.loads(found.stdout) == {"error": error, "exit_code": 130}
    else:
        assert found.stderr.splitlines() == [INTERRUPTION, AGAIN]
