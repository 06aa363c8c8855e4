"""Commands in surroundings that are not as expected: full disks, closed pipes, devices, odd folders and names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, NamedTuple

import pytest
from typer.testing import CliRunner

from abstractcore_cli.app import app
from tests.catalogue_files import write_file
from tests.chaos_server import HANG

pytestmark = pytest.mark.process

COMMAND = [sys.executable, "-W", "error", "-c", "from abstractcore_cli import main; main()"]


class Ended(NamedTuple):
    """A command that has ended, and what it printed into pipes."""

    returncode: int
    stdout: str
    stderr: str


linux = pytest.mark.skipif(sys.platform != "linux", reason="has /dev/full and /dev/zero")


def run(
    *arguments: str, stdout: int | IO[str] = subprocess.PIPE, stderr: int = subprocess.PIPE, **options: Any
) -> Ended:
    """Runs a command to its end, which is never a traceback."""
    process = subprocess.Popen([*COMMAND, *arguments], stdout=stdout, stderr=stderr, encoding="utf-8", **options)
    out, err = process.communicate()
    assert "Traceback" not in (err or "")
    return Ended(process.returncode, out or "", err or "")


@linux
@pytest.mark.parametrize(
    "arguments",
    [
        ("models", "search"),
        ("models", "info", "gpt-4o", "--json"),
        ("models", "list"),
        ("plugins",),
        ("--help",),
        ("--version",),
    ],
)
def test_output_that_cannot_be_written_is_an_error_on_one_line(arguments: tuple[str, ...]):
    with open("/dev/full", "w") as full:
        found = run(*arguments, stdout=full)
    assert found.returncode == 1
    assert found.stderr.splitlines() == [
        "error: the output cannot be written: No space left on device.",
        "Free disk space, or write it to another place.",
    ]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_pipe_whose_reader_has_ended_is_no_traceback(stream: str):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        found = run("models", "search", stdout=writer) if stream == "stdout" else run("models", "search", stderr=writer)
    finally:
        os.close(writer)
    assert found.returncode == 1
    assert found.stderr == ""


@linux
@pytest.mark.parametrize("source", ["/dev/zero", "/dev/null", "/dev/stdin"])
def test_device_is_not_read_as_an_update(source: str):
    found = run("catalogue", "update", source, stdin=subprocess.DEVNULL)
    assert found.returncode == 2
    assert found.stderr.startswith(f"error: {source} is neither a file nor a folder.\nPass a wheel")


@linux
@pytest.mark.parametrize(
    "arguments",
    [
        ("ask",),
        ("speak", "-"),
        ("transcribe", "-"),
        ("embed", "-", "-o", "x.npz"),
        ("embed", "/dev/zero", "--lines", "-o", "x.npz"),
    ],
    ids=" ".join,
)
def test_input_without_end_is_refused_at_its_limit(arguments: tuple[str, ...], tmp_path: Path):
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        found = run(*arguments, stdin=endless.stdout, cwd=tmp_path)
        assert endless.stdout is not None
        endless.stdout.close()  # which ends it
    assert found.returncode == 2
    name = "/dev/zero" if "/dev/zero" in arguments else "stdin"
    assert found.stderr == (
        f"error: {name} has more than 268,435,456 bytes, the limit.\n"
        "Split it into smaller files, or extract the part you need.\n"
    )


@pytest.mark.parametrize("content", [b"caf\xe9", b"\xff\xfea\x00"])
def test_piped_bytes_that_are_no_text_are_not_embedded(content: bytes, tmp_path: Path):
    (tmp_path / "piped").write_bytes(content)
    with open(tmp_path / "piped", "rb") as piped:
        found = run("embed", "-", "-o", "x.npz", stdin=piped, cwd=tmp_path)
    assert (found.returncode, found.stderr.splitlines()[0]) == (2, "error: stdin is not text in UTF-8.")


def test_folder_is_searched_where_wheels_and_checkouts_have_their_files_alone(tmp_path: Path):
    for folder in ("a/b/catalogue", "a/b/c/catalogue", "a/other", "catalogue"):
        (tmp_path / folder).mkdir(parents=True)
    write_file(tmp_path / "a/b/catalogue/xai.jsonl", provider="xai", as_of="2026-01-01")
    for damaged in ("a/b/c/catalogue/xai.jsonl", "a/other/xai.jsonl"):
        (tmp_path / damaged).write_text("{")
    (tmp_path / "catalogue" / "notes.jsonl").write_text("{")
    found = run("catalogue", "update", str(tmp_path), env={**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")})
    assert found.returncode == 0
    assert found.stderr.startswith("0 of 1 files are later")
    (tmp_path / "a/b/catalogue/xai.jsonl").unlink()
    found = run("catalogue", "update", str(tmp_path))
    assert found.returncode == 2
    assert "has files of other providers than those installed.\nPass a wheel of abstractcore" in found.stderr


@linux
@pytest.mark.parametrize("home", ["/dev/null", "/proc", "", "relative", "/nonexistent"])
def test_any_home_folder_can_be_read(home: str, tmp_path: Path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    found = run("models", "search", "gpt-4o", "-p", "openai", env={**environment, "HOME": home}, cwd=tmp_path)
    assert (found.returncode, found.stdout.startswith("openai\tgpt-4o\t")) == (0, True)


@linux
def test_home_folder_that_cannot_be_written_is_an_error_of_an_update(tmp_path: Path):
    write_file(tmp_path / "xai.jsonl", provider="xai", as_of="2099-01-01")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    found = run("catalogue", "update", str(tmp_path), env={**environment, "HOME": "/dev/null"})
    assert found.returncode == 2
    assert "/dev/null/.local/share/abstractcore/catalogue cannot be written: Not a directory." in found.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("info", "openai/"),
            "error: no model of openai is given.\n`abstractcore models list --provider openai` lists",
        ),
        (("info", "", "-p", "openai"), "error: no model of openai is given.\n"),
        (("info", ""), "error: the catalogue has no model ''."),
        (("info", "x" * 100_000), "error: the catalogue has no model 'xxxx"),
        (("info", "\x1b[31m\u202e"), "error: the catalogue has no model '\\x1b[31m\\u202e'."),
        (("search", "--max-price", "-1"), "error: '-1' is not a price"),
        (("search", "--max-price", "sNaN"), "error: 'sNaN' is not a price"),
        (("search", "--context", "1e9"), "error: '1e9' is not a number of tokens.\nFor example: --context 200k."),
        (("search", "--context", "\u00b2"), "error: '\u00b2' is not a number of tokens."),
        (("list", "-p", "\x1b]0;title\x07"), "error: no provider is called '\\x1b]0;title\\x07'."),
        (("list", "-p", "a/b"), "error: no provider is called 'a/b'.\n"),
        (("list", "-p", "openai", "--timeout", "nan"), "error: --timeout: expected seconds"),
    ],
)
def test_argument_that_means_nothing_is_an_error(arguments: tuple[str, ...], message: str):
    found: Any = CliRunner().invoke(app, ["models", *arguments], catch_exceptions=False)
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith(message)
    assert "create_llm" not in found.stderr


@linux
def test_interrupted_download_ends_at_once(server: Any):
    from tests.terminal import Terminal

    server.script(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n", HANG)
    with Terminal([*COMMAND[1:], "catalogue", "update", f"{server.url}/x.whl"], dict(os.environ)) as window:
        server.wait_for_requests(1)
        window.wait_until_idle()
        window.type("\x03")
        assert window.wait_for_end() == 130
    assert "Traceback" not in window.screen
