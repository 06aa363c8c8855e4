"""Builds what is released of the last commit, and checks it: `python -m release.build [--into dist]`.

Each distribution of this repository as wheel and source, what it requires as CycloneDX, and SHA256SUMS of all of them.
Two builds of a commit have equal bytes. Nothing is published: docs/releasing.md has what comes after.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packaging.metadata import Metadata

from release.projects import ROOT, TESTS_EXTRA, Project, projects

_UV = (sys.executable, "-m", "uv", "--quiet")
_FIRST_CALL = """
from abstractcore import create_llm
assert create_llm("scripted", replies=["hello"]).generate("hi").content == "hello"
"""


class ReleaseError(Exception):
    """Something that is not fit for a release."""


def build(into: Path, commit: str = "HEAD") -> list[Path]:
    """Writes the files of a commit into an empty folder; returns them."""
    into.mkdir(parents=True, exist_ok=True)
    if any(into.iterdir()):
        raise ReleaseError(f"{into} is not empty: remove what is in it, or choose another folder with --into")
    made_at = int(_run("git", "log", "-1", "--format=%ct", commit))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        # What is not committed, such as files that were left in the folder of a package, is not in an archive.
        archive = Path(folder) / "source.tar"
        _run("git", "archive", "--output", str(archive), commit)
        _run("tar", "-xf", str(archive), "-C", str(source))
        locked = ("--all-packages", "--no-build-isolation", "--python", sys.executable, "--no-create-gitignore")
        _run(*_UV, "build", *locked, "--out-dir", str(into.resolve()), cwd=source, SOURCE_DATE_EPOCH=str(made_at))
        for each in projects():
            text = json.dumps(requirements(each, made_at, source), indent=2, ensure_ascii=False) + "\n"
            (into / f"{each.name}-{each.version}.cdx.json").write_text(text, encoding="utf-8")
    files = sorted(into.iterdir())
    (into / "SHA256SUMS").write_text("".join(f"{_sha256(each)}  {each.name}\n" for each in files), encoding="utf-8")
    return files


def requirements(distribution: Project, made_at: int, source: Path = ROOT) -> dict[str, Any]:
    """Returns what a distribution and its extras require, with the locked versions and their hashes, as CycloneDX 1.5.
    The id and the time that uv puts in are those of the content and the commit.
    """
    chosen = ("--package", distribution.name, "--all-extras", "--no-default-groups")
    tests = ("--no-extra", TESTS_EXTRA) if TESTS_EXTRA in distribution.extras else ()
    format_ = ("--format", "cyclonedx1.5", "--preview-features", "sbom-export")
    document = json.loads(_run(*_UV, "export", "--frozen", *chosen, *tests, *format_, cwd=source))
    document["metadata"]["timestamp"] = datetime.fromtimestamp(made_at, UTC).isoformat()
    del document["serialNumber"]
    content = json.dumps(document, sort_keys=True)
    return {**document, "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, content).urn}


def check(files: Sequence[Path]) -> None:
    """Checks the metadata and the contents of built distributions, installs the wheels, and makes a call with them."""
    wheels = [str(each) for each in files if each.suffix == ".whl"]
    sources = [str(each) for each in files if each.name.endswith(".tar.gz")]
    if not len(wheels) == len(sources) == len(projects()):
        raise ReleaseError(f"{len(wheels)} wheels and {len(sources)} sources of {len(projects())} distributions")
    for each in wheels:
        _check_metadata(Path(each))
    tools = (*_UV, "run", "--frozen", "--isolated", "--only-group", "release", "--python", sys.executable)
    # W002: licences of fonts and scripts are beside these, too. W009: the core has a package for each layer.
    _run(*tools, "check-wheel-contents", "--no-config", "--ignore=W002,W009", *wheels)
    with tempfile.TemporaryDirectory() as folder:
        commands = Path(folder) / ("Scripts" if os.name == "nt" else "bin")
        python = str(commands / "python")
        locked = ("--all-packages", "--no-default-groups", "--no-emit-workspace")
        wanted = _run(*_UV, "export", "--frozen", *locked)
        _run(*_UV, "venv", "--clear", "--python", sys.executable, folder)
        _run(*_UV, "pip", "install", "--python", python, "-r", "-", input=wanted)
        _run(*_UV, "pip", "install", "--python", python, "--no-index", "--no-deps", *wheels)
        _run(*_UV, "pip", "check", "--python", python)
        _run(python, "-W", "error", "-c", _FIRST_CALL, cwd=Path(folder))
        _run(str(commands / "abstractcore"), "--version", cwd=Path(folder))


def _check_metadata(wheel: Path) -> None:
    """Checks what an index would refuse, and that its page would have a text."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            metadata = Metadata.from_email(archive.read(name))
    except zipfile.BadZipFile as error:
        raise ReleaseError(f"{wheel.name} is damaged: {error}") from error
    except ExceptionGroup as error:
        raise ReleaseError(f"{wheel.name}: {'; '.join(map(str, error.exceptions))}") from error
    if metadata.description_content_type != "text/markdown" or not metadata.description:
        raise ReleaseError(f"{wheel.name} has no README")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _run(*command: str, cwd: Path = ROOT, input: str | None = None, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        command, cwd=cwd, env=environment | variables, input=input, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main(arguments: Iterable[str]) -> int:
    """Prints the files and the names of the distributions; returns 1 with what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m release.build", description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="an empty folder, or one to make: dist/")
    into: Path = parser.parse_args(list(arguments)).into
    try:
        files = build(into)
        check(files)
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    for each in files:
        print(f"{each.stat().st_size:12,}  {each.name}")
    print(f"SHA256SUMS: {_sha256(into / 'SHA256SUMS')}")
    print(f"Distributions of this repository: {', '.join(each.name for each in projects())}")
    if _run("git", "status", "--porcelain").strip():
        print("Changes that are not committed are not in them.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
