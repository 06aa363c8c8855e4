"""`abstractcore plugins`: the list, broken and slow plugins, and what plugins may not do to the commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from abstractcore.registry import PluginReport, Registry
from abstractcore_cli import plugins as command
from abstractcore_cli.app import app

PATIENCE_SECONDS = 60.0
CODE = """
from abstractcore.registry import hookimpl
from abstractcore_providers.scripted import ScriptedProvider

@hookimpl
def register_providers():
    return [ScriptedProvider("parrot"), ScriptedProvider("macaw")]
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`install(code)` puts a plugin called "bird" on the path, and gives the folder."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "bird_plugin", raising=False)

    def install(code: str) -> Path:
        info = tmp_path / "birds-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: birds\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[abstractcore.plugins]\nbird = bird_plugin\n")
        (tmp_path / "bird_plugin.py").write_text(code)
        return tmp_path

    yield install
    sys.modules.pop("bird_plugin", None)


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch):
    """`reports(...)` makes these all the plugins there are."""

    def give(*given: PluginReport) -> None:
        registry = Registry()
        registry.reports = list(given)
        monkeypatch.setattr(command, "registry", lambda: registry)

    return give


def invoke(*arguments: str):
    return CliRunner().invoke(app, ["plugins", *arguments])


GOOD = PluginReport("good", "good", "good 1.0", (("provider", "a"), ("provider", "b"), ("tool source", "c d")), 0.1)
BROKEN = PluginReport("bad", "bad", "bad 2.0", error="ImportError: no\nluck")
SLOW = PluginReport("slow", "slow", "slow 3.0", (("capability", "wait"),), 2.34)


def test_each_plugin_is_a_row_with_its_contributions_by_kind(reports):
    reports(GOOD)
    result = invoke()
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "good\tgood 1.0\tprovider a, b; tool source c d\n"


def test_broken_plugins_are_listed_with_their_error_and_exit_code_2(reports):
    reports(GOOD, BROKEN)
    result = invoke()
    assert (result.exit_code, result.stderr) == (2, "broken: bad\n")
    assert result.stdout.splitlines()[1] == "bad\tbad 2.0\t\tImportError: no luck"


def test_slow_plugins_are_listed_with_their_seconds_and_exit_code_0(reports):
    reports(GOOD, SLOW)
    result = invoke()
    assert (result.exit_code, result.stderr) == (0, "slow to load: slow (2.3 s)\n")


def test_json_is_one_object(reports):
    reports(GOOD, BROKEN, SLOW)
    result = invoke("--json")
    output = json.loads(result.stdout)
    assert (result.exit_code, result.stderr, output["exit_code"]) == (2, "", 2)
    good, bad, slow = output["plugins"]
    assert good == {
        "name": "good",
        "target": "good",
        "distribution": "good 1.0",
        "registered": [["provider", "a"], ["provider", "b"], ["tool source", "c d"]],
        "seconds": 0.1,
        "error": None,
        "slow": False,
    }
    assert (bad["error"], slow["slow"]) == ("ImportError: no\nluck", True)


def test_stdout_of_plugins_is_redirected_to_stderr(install):
    install(f"print('I am a parrot')\n{CODE}")
    result = invoke("--json")
    names = [row["name"] for row in json.loads(result.stdout)["plugins"]]
    assert names[:2] == ["media", "providers"]
    assert "bird" in names
    assert result.stderr == "I am a parrot\n"


def test_slow_plugin_is_named_while_it_loads(monkeypatch):
    noted, lines = threading.Event(), []

    def note(line: str) -> None:
        lines.append(line)
        noted.set()

    monkeypatch.setattr(command, "note", note)
    monkeypatch.setattr(command, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("abstractcore.registry.registry.found_plugins", lambda: [Waiting(noted)])
    (report,) = command.registry().reports
    assert report.error.startswith("it implements no hook.")
    assert lines == ["still loading: plugin 'waiting' of patience 1.0"]


class Waiting:
    """A plugin that waits until it was noted."""

    name, target, distribution = "waiting", "waiting", "patience 1.0"

    def __init__(self, noted: threading.Event) -> None:
        self._noted = noted

    def load(self) -> object:
        assert self._noted.wait(PATIENCE_SECONDS)
        return None


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="signals of this kind are a matter of Unix")
@pytest.mark.parametrize("arguments", [["plugins"], ["ask", "hi"]])
def test_ctrl_c_while_a_plugin_loads_ends_the_command_without_a_traceback(install, arguments):
    folder = install("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass\n")
    result = subprocess.run(
        [sys.executable, "-m", "abstractcore", *arguments],
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        check=False,
    )
    said = "stopped by Ctrl-C\nRun the same command again to begin anew.\n"
    assert (result.returncode, result.stdout, result.stderr) == (130, "", said)
