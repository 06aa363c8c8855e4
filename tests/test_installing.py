"""What to install: no text takes a package of this repository from an index, and neither does a documented command."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstractcore.ports import CAPABILITIES
from abstractcore.registry import Registry
from abstractcore.schema.base_error import checkout_hint, install_hint
from release.projects import projects
from tests.packages import ROOT, Environment, build_wheel, run

FIRST_PARTY = {each.name: each.folder for each in projects()}
PACKAGES = ("abstractcore", "cli", "media", "packages", "plugins", "providers", "server")
COMMAND = re.compile(
    r"(?:\bpip3? (?:install|download|wheel)|\buv add|\buv tool install|\bpipx install|\buvx)\b([^\n`|;&]*)"
)
"""A command that may take packages from an index, with its arguments."""
INSTALL = re.compile(r"\bpip3? (install|download|wheel)\b|\buv (add|pip)\b")
BY_NAME = re.compile(rf"['\"(]*({'|'.join(FIRST_PARTY)})(?![\w./-])", re.IGNORECASE)
"""A requirement: no path, no file and no other name."""


def texts() -> Iterator[tuple[Path, str]]:
    """The files of this repository that are text."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink() and b"\0" not in (content := path.read_bytes()):
            yield path, content.decode("utf-8", "replace")


def commands(text: str) -> list[str]:
    """The arguments of the commands in a text that may take packages from an index."""
    return [found[1] for found in COMMAND.finditer(text)]


def is_safe(arguments: str) -> bool:
    """Whether no package of this repository is named, but with an index that is not used."""
    return "--no-index" in arguments or not any(map(BY_NAME.match, arguments.split()))


@pytest.mark.process
def test_no_text_takes_a_package_of_this_repository_from_an_index():
    found = [(path, arguments) for path, text in texts() if path != Path(__file__) for arguments in commands(text)]
    files = {path for path, _ in found}
    assert len(found) >= 60, f"{len(found)} commands in {len(files)} files: fewer than were there"
    assert {path.suffix for path in files} >= {".md", ".py", ".service"}
    assert [(str(path), arguments) for path, arguments in found if not is_safe(arguments)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pip install abstractvoice", False),
        ("Run `uv add 'abstractcore[audio]>=0.1'`.", False),
        ("uv pip install -U AbstractMusic", False),
        ("pip install --no-deps abstractcore==0.1", False),
        ("pip install ./plugins/abstractvoice", True),
        (
            "pip install 'dist/abstractcore-0.1.0-py3-none-any.whl[audio]' dist/abstractvoice-0.1.0-py3-none-any.whl",
            True,
        ),
        ("pip install --no-index --find-links dist abstractvoice", True),
        ("pip install websockets", True),
    ],
)
def test_commands_are_judged(text: str, expected: bool):
    (arguments,) = commands(text)
    assert is_safe(arguments) is expected


def test_commands_that_install_are_made_in_one_module():
    sources = {file: file.read_text("utf-8") for package in PACKAGES for file in (ROOT / package).rglob("*.py")}
    assert len(sources) > 900, f"only {len(sources)} modules"
    makers = {file for file, source in sources.items() if INSTALL.search(source) and any(installing_strings(source))}
    assert makers == {ROOT / "abstractcore/schema/base_error.py"}


def installing_strings(source: str) -> Iterator[str]:
    """Yields the strings of a module that are part of a command, and no docstring."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and INSTALL.search(node.value):
            yield from () if id(node) in docstrings else (node.value,)


def test_hints_are_commands_that_can_be_typed():
    backends = Registry.from_entry_points().backends
    hints = [
        install_hint("pypdf[crypto]>=7", extra="documents"),
        install_hint("torch", "transformers"),
        *(checkout_hint(f"./{path.relative_to(ROOT)}") for path in FIRST_PARTY.values()),
        *(entry.install_hint for entries in map(backends.of, CAPABILITIES) for entry in entries if entry.install_hint),
    ]
    assert len(hints) >= 9, hints
    for hint in hints:
        assert commands(hint)
        assert all(map(is_safe, commands(hint))), hint
    assert shlex.split(commands(hints[0])[0].partition(" (part")[0]) == ["pypdf[crypto]>=7"]


def documented() -> list[list[str]]:
    """The commands of the section about installing safely."""
    page = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    section = page.partition("## Installing safely")[2].partition("\n## ")[0]
    lines = re.findall(r"^\.venv/bin/pip (.*)$", section, re.MULTILINE)
    return [shlex.split(line) for line in lines]


def pip(environment: Environment, *arguments: str | Path, cwd: Path, code: int = 0) -> str:
    """Runs pip for an environment, without an index; returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", environment.python, "--disable-pip-version-check", *arguments],
        cwd=cwd, env={"PIP_NO_INDEX": "1", "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def stranger(folder: Path) -> Path:
    """Returns a folder with the wheel of another project, of the core's name and a version that plugins accept."""
    folder.mkdir()
    name = "abstractcore-0.9.9"
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.dist-info/METADATA", "Metadata-Version: 2.1\nName: abstractcore\nVersion: 0.9.9\n")
        wheel.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}.dist-info/RECORD", "")
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with what the plugin requires of others."""
    return Environment(tmp_path_factory.mktemp("installing") / "venv", package="abstractvoice")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheels of the core and of the plugin."""
    folder = tmp_path_factory.mktemp("wheels")
    for name in ("abstractcore", "abstractvoice"):
        build_wheel(FIRST_PARTY[name], folder / name).rename(folder / f"{name}-0.1.0-py3-none-any.whl")
    return folder


def core_of(environment: Environment) -> str:
    """The version of the core that is installed."""
    program = "from importlib.metadata import version; print(version('abstractcore'))"
    return run(environment.python, "-c", program).strip()


@pytest.mark.process
def test_documented_commands_install_our_core_and_never_one_of_an_index(
    environment: Environment, dist: Path, tmp_path: Path
):
    together, built, from_folder = documented()
    assert (together, built) == (
        ["install", ".", "./plugins/abstractvoice"],
        ["wheel", "-w", "dist", ".", "./plugins/abstractvoice"],
    )
    (tmp_path / "dist").symlink_to(dist)
    pip(environment, *from_folder, cwd=tmp_path)
    assert core_of(environment) == "0.1.0"
    environment.uninstall("abstractcore", "abstractvoice")

    # An index is a folder here. Both named in one command are ours; the plugin alone takes what the index has.
    index = stranger(tmp_path / "index")
    wheels = [dist / f"{name}-0.1.0-py3-none-any.whl" for name in ("abstractcore", "abstractvoice")]
    pip(environment, "install", "--find-links", index, *wheels, cwd=tmp_path)
    assert core_of(environment) == "0.1.0"
    environment.uninstall("abstractcore", "abstractvoice")
    pip(environment, "install", "--find-links", index, wheels[1], cwd=tmp_path)
    assert core_of(environment) == "0.9.9"
    environment.uninstall("abstractcore", "abstractvoice")


@pytest.mark.process
def test_missing_wheel_of_the_core_is_an_error_without_an_index(environment: Environment, dist: Path, tmp_path: Path):
    (tmp_path / "dist").mkdir()
    wheel = dist / "abstractvoice-0.1.0-py3-none-any.whl"
    (tmp_path / "dist" / wheel.name).write_bytes(wheel.read_bytes())
    _, _, from_folder = documented()
    assert "No matching distribution found for abstractcore" in pip(environment, *from_folder, cwd=tmp_path, code=1)
