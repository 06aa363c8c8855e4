"""Source trees, and the results of their wire formats, each in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

WORKER = Path(__file__).with_name("worker.py")
ROOT = Path(__file__).parents[2]


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """The tree of a git revision, in a folder that is removed afterwards; a folder is used unchanged."""
    if Path(revision).is_dir():
        yield Path(revision).resolve()
        return
    archived = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=False)
    if archived.returncode:
        raise SystemExit(f"{revision!r} is neither a folder nor a git revision: {archived.stderr.decode().strip()}")
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(archived.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder).resolve()


def run(trees: Sequence[Path], inputs: Path, outcomes: Sequence[Path]) -> None:
    """Writes each tree's outcomes of the inputs; raises `SystemExit` if a tree fails."""
    started = [
        subprocess.Popen([sys.executable, "-P", str(WORKER), str(tree), str(inputs), str(out)], env=_environment(tree))
        for tree, out in zip(trees, outcomes, strict=True)
    ]
    codes = [process.wait() for process in started]
    for tree, code in zip(trees, codes, strict=True):
        if code:
            raise SystemExit(f"the formats of {tree} did not run: exit code {code}")


def _environment(tree: Path) -> dict[str, str]:
    """The tree's packages before installed ones, and a fixed hash seed."""
    project = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))
    folders = [str(tree / name) for name in project["tool"]["hatch"]["build"]["dev-mode-dirs"]]
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "PATH", "SYSTEMROOT", "TMPDIR")}
    return {**kept, "PYTHONPATH": os.pathsep.join(folders), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
