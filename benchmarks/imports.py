"""Start-up time, in fresh interpreters with compiled modules. Wall time."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable

from rounds import Row, Setup, best

_TIMED = """
import sys, time
start = time.perf_counter()
{code}
print(time.perf_counter() - start)
print(*sys.modules)
"""
_IMPORT = "import abstractcore"
_BARE_IMPORT = "import httpx2, pydantic"
_FIRST_CALL = """
import abstractcore
llm = abstractcore.create_llm("openai", model="gpt-4o-mini", base_url="{url}/v1", api_key="sk-benchmark")
llm.generate("How fast is light?")
"""
_BARE_FIRST_CALL = """
import httpx2, pydantic
body = {{"model": "gpt-4o-mini", "messages": [{{"role": "user", "content": "How fast is light?"}}]}}
httpx2.Client(headers={{"authorization": "Bearer sk-benchmark"}}).post("{url}/v1/chat/completions", json=body).json()
"""
_GOAL = 1.3


def imports(setup: Setup) -> list[Row]:
    """`import abstractcore`, the time to the first answer, and whether either imports an optional package."""
    codes = {
        "import": _IMPORT,
        "bare import": _BARE_IMPORT,
        "first call": _FIRST_CALL.format(url=setup.url),
        "bare first call": _BARE_FIRST_CALL.format(url=setup.url),
    }
    loaded: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        times = best(
            {name: _batch(name, code, folder, loaded) for name, code in codes.items()},
            setup.rounds if setup.quick else 2 * setup.rounds,
        )
    optional = _optional_modules()
    for name in ("import", "first call"):
        if unwanted := loaded[name] & optional:
            print(f"{name} loads {', '.join(sorted(unwanted))}")
    return [
        Row("import / httpx2, pydantic", times["import"], times["bare import"], _GOAL),
        Row("first answer / httpx2", times["first call"], times["bare first call"]),
        Row("optional packages: import", len(loaded["import"] & optional), goal=0, is_count=True),
        Row("optional packages: call", len(loaded["first call"] & optional), goal=0, is_count=True),
    ]


def _batch(name: str, code: str, folder: str, loaded: dict[str, set[str]]) -> Callable[[], float]:
    """One fresh interpreter; its compiled modules are kept in `folder`."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = folder

    def run() -> float:
        command = [sys.executable, "-c", _TIMED.format(code=code)]
        done = subprocess.run(command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
        seconds, modules = done.stdout.splitlines()
        loaded[name] = {module.partition(".")[0] for module in modules.split()}
        return float(seconds)

    return run


def _optional_modules() -> set[str]:
    """The top-level modules of installed packages that only extras require."""
    needed: set[str] = set()
    optional: set[str] = set()
    for requirement in importlib.metadata.requires("abstractcore") or ():
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        (optional if "extra ==" in requirement else needed).add(_normal(name))
    modules = importlib.metadata.packages_distributions()
    return {top for top, names in modules.items() if {_normal(name) for name in names} & (optional - needed)}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
