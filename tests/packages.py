"""Wheels and fresh environments, for tests of what a user installs."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
_UV = (sys.executable, "-m", "uv", "--quiet")


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None, code: int = 0) -> str:
    """What a command prints; it must end with this exit code."""
    result = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert result.returncode == code, f"\n$ {' '.join(map(str, command))}\n{result.stdout}{result.stderr}"
    return result.stdout


def build_wheel(source: Path, folder: Path) -> Path:
    """The wheel of the project in `source`, put into `folder`."""
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, cwd=source)
    (built,) = folder.glob("*.whl")
    return built


def kept_environment(requirements: Path) -> Path:
    """The commands of an environment with the packages that a file lists. Later runs keep it, with its bytecode."""
    digest = hashlib.sha256(f"{sys.version} {sys.base_prefix} {requirements.read_text()}".encode()).hexdigest()[:16]
    kept = Path(os.environ.get("ABSTRACTCORE_CACHE") or ROOT / ".cache") / "environments" / digest
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=kept.parent))
        run(*_UV, "venv", "--clear", "--relocatable", "--python", sys.executable, folder)
        run(*_UV, "pip", "install", "--python", _commands(folder) / "python", "-r", requirements)
        try:
            folder.rename(kept)
        except OSError:  # another process has made it meanwhile
            shutil.rmtree(folder)
    return _commands(kept)


def _commands(environment: Path) -> Path:
    return environment / ("Scripts" if os.name == "nt" else "bin")


class Environment:
    """A fresh environment with the locked base dependencies, or those of a plugin, and of extras; without a package,
    with those of all first-party packages and all extras. `executables` is its folder of commands.
    """

    def __init__(self, folder: Path, package: str | None = "abstractcore", extras: Sequence[str] = ()) -> None:
        env = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "UV_PYTHON")}
        env |= {"UV_PROJECT_ENVIRONMENT": str(folder), "UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never"}
        plain = ("--frozen", "--no-default-groups", "--no-install-workspace")
        what = ("--all-packages", "--all-extras") if package is None else ("--package", package)
        run(*_UV, "sync", *what, *plain, *(f"--extra={extra}" for extra in extras), env=env)
        self.executables = _commands(folder)
        self.python = self.executables / "python"

    def install(self, *wheels: Path) -> None:
        """Install wheels, and nothing they ask for."""
        run(*_UV, "pip", "install", "--python", self.python, "--no-index", "--no-deps", *wheels)

    def uninstall(self, *names: str) -> None:
        """Take distributions away."""
        run(*_UV, "pip", "uninstall", "--python", self.python, *names)

    def check(self) -> None:
        """What is installed has all it asks for."""
        run(*_UV, "pip", "check", "--python", self.python)
