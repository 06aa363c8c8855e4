"""What AbstractCore and other libraries install, and how long their imports take: `python benchmarks/peers.py`.

Each is installed with uv into an environment of its own. Distributions and the megabytes of their files are counted
before anything is imported. Then new processes make the import that a first program needs, the libraries in turn; the
least processor time counts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
ROUNDS = 7
VERSIONS = (
    "from importlib.metadata import distributions; print(*{f'{each.name}=={each.version}' for each in distributions()})"
)
TIMED = "import time; start = time.process_time(); {}; print(time.process_time() - start)"


class Library(NamedTuple):
    """A distribution, what uv installs for it, and the import that a first program needs."""

    name: str
    installed: str
    needed: str


LIBRARIES = (
    Library("abstractcore", str(ROOT), "from abstractcore import create_llm"),
    Library("abstractcore[local]", f"{ROOT}[local]", "from abstractcore import create_llm"),
    Library("llm", "llm", "import llm"),
    Library("litellm", "litellm", "from litellm import completion"),
    Library("pydantic-ai", "pydantic-ai", "from pydantic_ai import Agent"),
    Library("pydantic-ai-slim", "pydantic-ai-slim", "from pydantic_ai import Agent"),
    Library("langchain", "langchain", "from langchain.chat_models import init_chat_model"),
)


def main() -> None:
    """Prints a line for each library."""
    with tempfile.TemporaryDirectory() as folder:
        pythons = {library: installed(Path(folder) / library.name, library) for library in LIBRARIES}
        counted = {library: contents(python) for library, python in pythons.items()}
        seconds: dict[Library, list[float]] = {library: [] for library in LIBRARIES}
        for _ in range(ROUNDS):
            for library, python in pythons.items():
                seconds[library].append(float(printed(python, TIMED.format(library.needed))))
    ours = min(seconds[LIBRARIES[0]])
    print(f"{'':20} {'version':>8} {'distributions':>13} {'MB':>5} {'import, ms':>10} {'of ours':>7}")
    for library, (versions, size) in counted.items():
        version, least = versions[library.name.partition("[")[0]], min(seconds[library])
        figures = f"{len(versions):13} {size / 1e6:5.0f} {1000 * least:10.0f} {least / ours:7.1f}"
        print(f"{library.name:20} {version:>8} {figures}")


def installed(folder: Path, library: Library) -> Path:
    """Installs a library into a new environment; returns its interpreter."""
    subprocess.run([UV, "venv", "-q", "--python", sys.executable, folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run([UV, "pip", "install", "-q", "--python", python, library.installed], check=True)
    return python


def contents(python: Path) -> tuple[dict[str, str], int]:
    """Returns the version of each distribution of an environment, and the bytes of all their files."""
    versions = dict(each.split("==") for each in printed(python, VERSIONS).split())
    files = (path for path in python.parents[1].glob("lib/*/site-packages/**/*") if path.is_file())
    return versions, sum(path.stat().st_size for path in files)


def printed(python: Path, code: str) -> str:
    """Returns what a program prints."""
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
