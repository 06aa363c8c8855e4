"""Clients of others ask one `abstractcore serve`, installed from the wheels, and print what the README shows."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from tests.documents import ROOT
from tests.installed import started
from tests.packages import Environment

pytestmark = pytest.mark.process

EXAMPLES = ROOT / "examples" / "server_clients"
SHOWN = re.compile(r"^\$ python examples/server_clients/(\w+\.py)\n((?:(?!\$ |```).*\n)+)", re.MULTILINE)
README, PAGE = (
    dict(SHOWN.findall((ROOT / path).read_text(encoding="utf-8"))) for path in ("README.md", "docs/server.md")
)


@pytest.fixture
def server(installed: Environment, clean: dict[str, str]) -> Iterator[str]:
    """The address of a server with the embedded model."""
    command = [installed.executables.absolute() / "abstractcore", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=clean) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"listening at (\S+)", line)
        assert found, line + process.stderr.read()
        yield found[1]
        process.terminate()


def test_readme_shows_all_of_them_and_the_page_of_the_server_the_same():
    assert set(README) == {path.name for path in EXAMPLES.glob("*.py")}
    assert README == PAGE


@pytest.mark.weights
def test_clients_print_what_the_readme_shows(
    server: str, installed: Environment, clean: dict[str, str], tmp_path: Path
):
    for (
        name,
        shown,
    ) in README.items():
        command = [installed.python.absolute(), "-W", "error", EXAMPLES / name]
        printed = started(command, env={**clean, "ABSTRACTCORE_URL": server}, cwd=tmp_path)
        # The embedded model's words may differ a little from machine to machine.
        assert SequenceMatcher(None, printed, shown).ratio() > 0.9, printed
