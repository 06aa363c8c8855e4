"""AbstractCore beside other libraries: what each installs and how long its import takes: `python benchmarks/peers.py`.

Each is installed into an environment of its own, with uv. Times are the best of several rounds, as multiples of
`import pydantic`, which all of them need.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
PEERS = {
    "abstractcore": ([str(ROOT)], "import abstractcore; abstractcore.create_llm"),
    "llm": (["llm"], "import llm; llm.get_model"),
    "litellm": (["litellm"], "import litellm; litellm.completion"),
    "pydantic-ai": (["pydantic-ai"], "from pydantic_ai import Agent"),
    "pydantic-ai-slim": (["pydantic-ai-slim"], "from pydantic_ai import Agent"),
    "langchain": (["langchain"], "from langchain.chat_models import init_chat_model"),
}
ROUNDS = 7
TIMED = "import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
COUNTED = "from importlib.metadata import distributions; print(len({each.name for each in distributions()}))"


def main() -> None:
    """Prints a line for each library."""
    with tempfile.TemporaryDirectory() as folder:
        pythons = {name: installed(Path(folder, name), packages) for name, (packages, _) in PEERS.items()}
        times = dict.fromkeys(PEERS, float("inf"))
        least = dict.fromkeys(PEERS, float("inf"))
        for _ in range(ROUNDS):
            for name, (_, code) in PEERS.items():
                times[name] = min(times[name], seconds(pythons[name], code))
                least[name] = min(least[name], seconds(pythons[name], "import pydantic; pydantic.BaseModel"))
        for name, python in pythons.items():
            count = int(printed(python, COUNTED))
            print(f"{name:17} {count:3} distributions, import: {times[name] / least[name]:.1f} times pydantic's")


def installed(folder: Path, packages: list[str]) -> Path:
    """Installs packages into a new environment; returns its interpreter."""
    subprocess.run([UV, "venv", "-q", "--python", sys.executable, folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run([UV, "pip", "install", "-q", "--compile-bytecode", "--python", python, *packages], check=True)
    return python


def seconds(python: Path, code: str) -> float:
    """How long an import takes in a fresh interpreter."""
    return float(printed(python, TIMED.format(code=code)))


def printed(python: Path, code: str) -> str:
    """What a program prints."""
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
