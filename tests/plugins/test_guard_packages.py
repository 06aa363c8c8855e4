"""The package with guards, as users install it: from its wheel, in the configuration of a server."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packages import ROOT, build_wheel, run

pytestmark = pytest.mark.process

CONFIGURATION = """
[guards.privacy]
guard = "{name}"
options.replacement = "(hidden)"
"""


@pytest.fixture(scope="module")
def abstractcore(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs the command where the wheel is installed."""
    folder = tmp_path_factory.mktemp("installed")
    wheel = build_wheel(ROOT / "examples" / "plugin_guards", tmp_path_factory.mktemp("wheel"))
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder)

    def abstractcore(*arguments: str, code: int = 0) -> str:
        env = {**os.environ, "PYTHONPATH": str(folder), "NO_COLOR": "1", "COLUMNS": "200"}
        return run(sys.executable, "-m", "abstractcore", *arguments, env=env, cwd=folder, code=code)

    return abstractcore


def test_guards_of_a_wheel_are_listed(abstractcore: Callable[..., str]):
    rows = {row["name"]: row for row in json.loads(abstractcore("plugins", "--json"))["plugins"]}
    assert rows["guards"]["error"] is None
    assert rows["guards"]["registered"] == [["guard", name] for name in ("emails", "words", "judge")]


def test_configuration_is_checked_with_the_guards_of_a_wheel(abstractcore: Callable[..., str], tmp_path: Path):
    file = tmp_path / "server.toml"
    file.write_text(CONFIGURATION.format(name="emails"))
    abstractcore("serve", "--check", "--config", str(file))
    file.write_text(CONFIGURATION.format(name="email"))
    abstractcore("serve", "--check", "--config", str(file), code=2)
