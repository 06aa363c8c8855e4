"""The cost of capabilities: finding backends, and calling one instead of its method. Wall time and CPU time."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from rounds import Row, Setup, best, cpu_seconds, repeated

from abstractcore import Services, create_llm
from abstractcore.ports import BackendRegistry, Made
from abstractcore.testing.plugin.calls import wav

_FRESH = """
import site, sys, time
site.addsitedir(sys.argv[1])
start = time.process_time()
import abstractcore
imported = time.process_time()
services = abstractcore.Services()
abstractcore.create_llm("scripted", replies=[], services=services)
created = time.process_time()
services.registry.backends
print(imported - start, created - imported, time.process_time() - created)
"""
"""Prints the CPU time of the import, of the first `create_llm`, and of the first look-up of backends."""
_PLUGINS = ("abstracta2a", "abstractmusic", "abstractvision", "abstractvoice")
_DISCOVERY_GOAL_SECONDS = 0.020
_IMPORT_GOAL_SECONDS = 0.001
_CALL_GOAL_SECONDS = 0.001
_SECONDS_OF_SPEECH = 3.0


class _Voice:
    """Returns the same three seconds of sound."""

    is_local = True
    sound = wav(_SECONDS_OF_SPEECH)

    def __init__(self, owner: object) -> None:
        self.owner = owner

    def tts(self, text: str) -> Made:
        return Made.of(self.sound, "audio/wav", transcript=text)


class _AsyncVoice(_Voice):
    async def tts(self, text: str) -> Made:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Made.of(self.sound, "audio/wav", transcript=text)


def capabilities(setup: Setup) -> list[Row]:
    """What installed plugins add to a fresh interpreter, and `llm.voice.tts` over the method."""
    count = 50 if setup.quick else 200
    method, sync = _Voice(None), _llm(_Voice)
    asynchronous = _llm(_AsyncVoice)

    async def speak() -> None:
        for _ in range(count):
            await asynchronous.voice.atts("Good morning.")

    with asyncio.Runner() as runner:
        times = best(
            {
                "method": cpu_seconds(repeated(lambda: method.tts("Good morning."), count), count),
                "sync": cpu_seconds(repeated(lambda: sync.voice.tts("Good morning."), count), count),
                "async": cpu_seconds(lambda: runner.run(speak()), count),
            },
            setup.rounds,
        )
    imported, created, looked_up = _plugins_cost(setup)
    return [
        Row("import with plugins - without", imported, goal=_IMPORT_GOAL_SECONDS),
        Row("first create_llm with plugins - without", created, goal=_DISCOVERY_GOAL_SECONDS),
        Row("first use of a capability - without", looked_up),
        Row("tts over its method", times["sync"] - times["method"], goal=_CALL_GOAL_SECONDS),
        Row("async tts over its method", times["async"] - times["method"], goal=_CALL_GOAL_SECONDS),
    ]


def _llm(backend: Callable[[Any], object]) -> Any:
    services = Services()

    def register(registry: BackendRegistry) -> None:
        registry.register_voice_backend(backend_id="benchmark:voice", factory=backend, priority=100)

    services.registry.add_backends(register)
    return create_llm("scripted", replies=[], services=services)


def _plugins_cost(setup: Setup) -> tuple[float, ...]:
    """Returns the CPU time that the plugins of this project add, in fresh interpreters: to the import, to the first
    `create_llm`, and to the first look-up of backends. Runs with and without them alternate: the median of the
    differences of pairs counts.
    """
    with tempfile.TemporaryDirectory() as folder:
        sites = [Path(folder, name) for name in ("with", "without")]
        for site, hidden in zip(sites, ((), _PLUGINS), strict=True):
            site.mkdir()
            for entry in _as_from_wheels(Path(sysconfig.get_path("purelib"))):
                if not any(name in entry.name for name in hidden):
                    (site / entry.name).symlink_to(entry)
        times: dict[Path, list[list[float]]] = {site: [] for site in sites}
        for _ in range(setup.rounds if setup.quick else 3 * setup.rounds):
            for site in sites:
                command = [sys.executable, "-I", "-S", "-c", _FRESH, str(site)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                times[site].append([*map(float, done.stdout.split())])
    pairs = zip(*(times[site] for site in sites), strict=True)
    added = ([after - before for after, before in zip(*pair, strict=True)] for pair in pairs)
    return tuple(median(values) for values in zip(*added, strict=True))


def _as_from_wheels(purelib: Path) -> Iterator[Path]:
    """Yields what is installed, with the packages of this project in place of the files that name their folders: each
    of those makes `sys.path` longer, and every import slower, which wheels do not.
    """
    for entry in purelib.iterdir():
        if entry.suffix != ".pth" or "abstract" not in entry.name:
            yield entry
            continue
        for folder in entry.read_text(encoding="utf-8").splitlines():
            yield from (package.parent for package in Path(folder).glob("abstract*/__init__.py"))
