"""`abstractcore doctor`: what is wrong or missing is found, with the command that mends it."""

from __future__ import annotations

import io
import json
import sys
from collections import namedtuple
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore.registry import PluginReport, Registry
from abstractcore_cli import doctor
from abstractcore_cli.app import app

Disk = namedtuple("Disk", "total used free")
KEY = "sk-canary-1234567890"


class Screen(io.StringIO):
    """A stdout that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without files."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("ABSTRACTCORE_CONFIG", "ABSTRACTCORE_CACHE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run() -> tuple[int, dict[tuple[str, str], dict[str, Any]]]:
    """The exit code, and the findings by area and name."""
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert KEY not in result.output
    data = json.loads(result.stdout)
    assert data["exit_code"] == result.exit_code
    return result.exit_code, {(each["area"], each["name"]): each for each in data["findings"]}


def test_of_a_new_user_nothing_is_wrong(home: Path):
    code, found = run()
    assert code == 0
    assert found["program", "Python"]["state"] == "ok"
    assert found["configuration", "config.toml"]["fix"] == "abstractcore config edit"
    weights = found["weights", "smollm2-135m-instruct"]
    assert (weights["state"], weights["fix"]) == ("missing", "abstractcore models pull smollm2-135m-instruct")
    assert found["weights", "all-minilm-l6-v2"]["fix"] == "abstractcore models pull all-minilm-l6-v2"
    assert str(home) in found["disk", "cache"]["detail"]
    table = CliRunner().invoke(app, ["doctor"])
    assert (table.exit_code, table.stderr) == (0, "Nothing is wrong.\n")
    lines = {tuple(line.split("\t")[:2]) for line in table.stdout.splitlines()}
    assert lines == set(found)


def test_every_extra_is_listed_and_what_is_missing_of_it_is_installed_by_the_command(monkeypatch: pytest.MonkeyPatch):
    def without_av(name: str) -> Any:
        if name == "av":
            raise PackageNotFoundError(name)
        return distribution(name)

    monkeypatch.setattr(doctor, "distribution", without_av)
    code, found = run()
    extras = {name for area, name in found if area == "extra"}
    assert extras == set(distribution("abstractcore").metadata.get_all("Provides-Extra") or ()) - {"all", "test"}
    video = found["extra", "video"]
    assert (code, video["state"]) == (0, "missing")
    assert video["fix"].startswith("Install with: pip install 'av>=14' (part of the extra 'video'")


def test_broken_plugin_is_wrong(monkeypatch: pytest.MonkeyPatch):
    registry = Registry.from_entry_points()
    registry.reports = [PluginReport("bad", "bad", "bad-pack 2.0", error="ImportError: no luck")]
    monkeypatch.setattr(doctor, "registry", lambda: registry)
    code, found = run()
    plugin = found["plugin", "bad"]
    assert (code, plugin["state"], plugin["detail"]) == (2, "wrong", "ImportError: no luck")
    assert plugin["fix"] == "Install another version of bad-pack, or pip uninstall bad-pack"


def test_wrong_configuration_is_found(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ABSTRACTCORE_CONFIG", str(home / "config.toml"))
    assert run()[1]["configuration", "config.toml"]["state"] == "wrong", "a file that is named has to exist"
    (home / "config.toml").write_text("[llm.a]\nmodle = 1\n")
    code, found = run()
    assert (code, found["configuration", "config.toml"]["state"]) == (2, "wrong")
    assert "config.toml:2:1: llm.a.modle" in found["configuration", "config.toml"]["detail"]
    (home / "config.toml").write_text('[llm.a]\nmodel = "openai/x"\n')
    code, found = run()
    assert (code, "1 named LLM," in found["configuration", "config.toml"]["detail"]) == (0, True)


def test_key_that_is_missing_has_its_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    _, found = run()
    assert found["key", "openai"]["state"] == "ok"
    for name, variable in (("mistral", "MISTRAL_API_KEY"), ("voyage", "VOYAGE_API_KEY")):
        assert (found["key", name]["state"], found["key", name]["fix"]) == ("missing", f"Set {variable}.")


def test_on_a_terminal_each_finding_begins_a_line_with_its_area_name_and_state(monkeypatch: pytest.MonkeyPatch):
    findings = [
        doctor.HealthFinding("program", "Python", "ok", "3.11"),
        doctor.HealthFinding("extra", "server", "missing", "without " + "a-package " * 20, "pip install it " * 20),
    ]
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")
    doctor.show_findings(findings)
    lines = screen.getvalue().splitlines()
    assert [line.split()[:3] for line in lines if not line.startswith(" ")] == [
        ["area", "what", "state"],
        ["program", "Python", "ok"],
        ["extra", "server", "missing"],
    ]
    assert max(map(len, lines)) <= 100


def test_full_disk_is_wrong(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: Disk(10, 9, 1))
    code, found = run()
    assert (code, found["disk", "data"]["state"]) == (2, "wrong")
    assert "abstractcore traces prune --keep-days 30" in found["disk", "data"]["fix"]
    assert CliRunner().invoke(app, ["traces", "prune", "--help"]).stdout.count("--keep-days")


def test_folder_of_somebody_else_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(tmp_path / "missing" / "cache"))
    monkeypatch.setattr(doctor.os, "access", lambda path, mode: path != tmp_path)
    code, found = run()
    assert (code, found["disk", "cache"]["state"]) == (2, "wrong")
    assert found["disk", "cache"]["fix"] == f"Make {tmp_path} writable, or set ABSTRACTCORE_CACHE to another folder."
