"""Clients of others ask one `abstractcore serve`, and print what the README shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from difflib import SequenceMatcher

import pytest

from abstractcore.stores.models import FileModelStore
from tests.documents import ROOT

pytestmark = pytest.mark.process

EXAMPLES = ROOT / "examples" / "server_clients"
PATIENCE_SECONDS = 300.0
SHOWN = re.compile(r"^\$ python examples/server_clients/(\w+\.py)\n((?:(?!\$ |```).*\n)+)", re.MULTILINE)
README = dict(SHOWN.findall((ROOT / "README.md").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def server(models: FileModelStore) -> Iterator[str]:
    """The address of a server with the embedded model."""
    env = {**os.environ, "ABSTRACTCORE_CACHE": str(models.root.parent.resolve())}
    command = [sys.executable, "-m", "abstractcore", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"listening at (\S+)", line)
        assert found, line + process.stderr.read()
        yield found[1]
        process.terminate()


def test_readme_shows_all_of_them():
    assert set(README) == {path.name for path in EXAMPLES.glob("*.py")}


@pytest.mark.weights
@pytest.mark.parametrize("name", sorted(README))
def test_client_prints_what_the_readme_shows(name: str, server: str):
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        env={**os.environ, "ABSTRACTCORE_URL": server},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # The embedded model's words may differ a little from machine to machine.
    assert SequenceMatcher(None, done.stdout, README[name]).ratio() > 0.9, done.stdout
