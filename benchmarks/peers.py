"""What AbstractCore and other libraries install: `python benchmarks/peers.py`. Each is installed into an environment of
its own, with uv.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
PEERS = (str(ROOT), f"{ROOT}[local]", "llm", "litellm", "pydantic-ai", "pydantic-ai-slim", "langchain")
COUNTED = "from importlib.metadata import distributions; print(len({each.name for each in distributions()}))"


def main() -> None:
    """Prints a line for each library."""
    for library in PEERS:
        with tempfile.TemporaryDirectory() as folder:
            python = installed(Path(folder), library)
            count = subprocess.run([python, "-c", COUNTED], capture_output=True, text=True, check=True).stdout.strip()
            print(f"{library.replace(str(ROOT), 'abstractcore'):20} {count:>3} distributions", flush=True)


def installed(folder: Path, library: str) -> Path:
    """Installs a library into a new environment; returns its interpreter."""
    subprocess.run([UV, "venv", "-q", "--clear", "--python", sys.executable, folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run([UV, "pip", "install", "-q", "--python", python, library], check=True)
    return python


if __name__ == "__main__":
    main()
