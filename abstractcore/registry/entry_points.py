"""Finds installed plugins. A package with broken metadata does not hide others.

Checks version requirements of a distribution: the part of PEP 440 that they usually use. Turns exceptions of plugins
into `PluginError`, which names the plugin.

Only release numbers are compared: 0.2rc1 counts as 0.2.
"""

from __future__ import annotations

import operator
import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import metadata
from typing import Any, NamedTuple

from ..errors import AbstractCoreError, PluginError, SchemaError
from ..version import __version__
from .hooks import GROUP

_ROW = re.compile(r"\s*(?P<name>[\w.-]+)\s*(\[[^]]*])?\s*\(?(?P<clauses>[^;)]*)\)?\s*(?P<marker>;.*)?")
_CLAUSE = re.compile(r"\s*(?P<operator>~=|==|!=|<=|>=|<|>)\s*v?(?P<release>\d+(\.\d+)*)(?P<any>\.\*)?")
_RELEASE = re.compile(r"v?(\d+(?:\.\d+)*)")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def unmet(rows: Iterable[str], name: str, version: str) -> str | None:
    """Returns the requirement in `rows` (`Requires-Dist`) for `name` that `version` does not meet, or None.

    Rows with a marker, and those that cannot be parsed, are ignored.
    """
    for row in rows:
        read = _ROW.fullmatch(row)
        if read is None or read["marker"] or _normal(read["name"]) != _normal(name):
            continue
        clauses = read["clauses"].strip()
        if not all(_is_met(clause, _release(version)) for clause in clauses.split(",")):
            return clauses
    return None


def _is_met(clause: str, have: list[int]) -> bool:
    read = _CLAUSE.match(clause)
    if read is None:
        return True
    asked, sign = _numbers(read["release"]), read["operator"]
    if sign == "~=":
        return _compare(">=", have, asked) and _compare("==", have[: len(asked) - 1], asked[:-1])
    return _compare(sign, have[: len(asked)] if read["any"] else have, asked)


def _compare(sign: str, have: list[int], asked: list[int]) -> bool:
    """Compares with zeros appended to the shorter one: 1.0 equals 1."""
    length = max(len(have), len(asked))
    padded = [[*numbers, *[0] * (length - len(numbers))] for numbers in (have, asked)]
    return _COMPARISONS[sign](*padded)


def _release(version: str) -> list[int]:
    read = _RELEASE.match(version)
    return _numbers(read[1]) if read else []


def _numbers(release: str) -> list[int]:
    return [int(number) for number in release.split(".")]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


BACKENDS_GROUP = "abstractcore.capabilities_plugins"
"""The group of functions that register backends of capabilities."""
_OURSELVES = "abstractcore"


class FoundPlugin(NamedTuple):
    """An entry point: its name, its value, its distribution (name and version), the function that loads it, its
    group.
    """

    name: str
    target: str
    distribution: str
    load: Callable[[], object]


def found_plugins(group: str = GROUP) -> list[FoundPlugin]:
    """Returns the built-in plugins of a group, then others by distribution and name. Loads none.

    The metadata of everything installed are read once, and again when something is installed or the path changes.
    """
    return [*_found_on(_path(), group)]


def _path() -> tuple[tuple[str, int], ...]:
    """Returns the folders that are searched, each with when its entries last changed, in nanoseconds."""
    changed: list[tuple[str, int]] = []
    for entry in sys.path:
        folder = os.path.abspath(str(entry))
        try:
            changed.append((folder, os.stat(folder).st_mtime_ns))
        except OSError:
            changed.append((folder, 0))
    return tuple(changed)


@lru_cache(maxsize=2)  # a process asks for two groups
def _found_on(path: tuple[tuple[str, int], ...], group: str) -> tuple[FoundPlugin, ...]:
    found: dict[tuple[str, str], FoundPlugin] = {}
    for distribution in metadata.distributions():
        for plugin in _plugins(distribution, group):
            # As in imports, the first distribution of a name on the path wins.
            found.setdefault((plugin.distribution.partition(" ")[0], plugin.name), plugin)
    return tuple(found[key] for key in sorted(found, key=lambda key: (key[0] != _OURSELVES, key)))


def _plugins(distribution: metadata.Distribution, group: str) -> Iterator[FoundPlugin]:
    try:
        if group not in (distribution.read_text("entry_points.txt") or ""):
            return
        points = distribution.entry_points.select(group=group)
    except Exception as failure:
        yield FoundPlugin("?", "", _label(distribution), _raising(failure))
        return
    label = _label(distribution)
    for point in points:
        yield FoundPlugin(point.name, point.value, label, _loading(distribution, label.partition(" ")[0], point))


def _label(distribution: metadata.Distribution) -> str:
    try:
        found = distribution.metadata  # parsed at each access
        name, version = found["Name"], found["Version"]
    except Exception:
        name = version = ""
    return f"{name} {version}" if name and version else f"? in {distribution.locate_file('')}"


def _requirements(distribution: metadata.Distribution) -> list[str]:
    """Returns what it requires: nothing without metadata, which are empty or, for `importlib_metadata`, None. Once
    imported, that package answers in the place of `importlib.metadata`.
    """
    try:
        return distribution.requires or []
    except AttributeError:
        return []


def _raising(failure: Exception) -> Callable[[], object]:
    def load() -> object:
        raise PluginError(f"its entry_points.txt cannot be read: {failure}") from failure

    return load


def _loading(distribution: metadata.Distribution, name: str, point: metadata.EntryPoint) -> Callable[[], object]:
    def load() -> object:
        asked = None if name == _OURSELVES else unmet(_requirements(distribution), _OURSELVES, __version__)
        if asked is not None:
            raise PluginError(
                f"it is for another version: it requires {_OURSELVES}{asked}, and this is {__version__}.",
                hint=f"Install a release of {name} for this version, or uninstall it: pip uninstall {name}",
            )
        return point.load()

    return load


def failure_text(failure: BaseException) -> str:
    """Returns one line about `failure`, even if its `__str__` raises."""
    try:
        text = str(failure)
    except Exception:
        text = "(its message cannot be read)"
    return text if isinstance(failure, AbstractCoreError) else f"{type(failure).__name__}: {text}".removesuffix(": ")


@contextmanager
def failures_of(what: str, expected: tuple[type[Exception], ...] = ()) -> Generator[None]:
    """Raises exceptions of its body as `PluginError`, which names `what`; `AbstractCoreError`s and `expected` pass.

    A `SchemaError` means that the plugin misused schema classes: it passes only if it is expected.
    """
    try:
        yield
    except expected:
        raise
    except Exception as failure:
        if isinstance(failure, AbstractCoreError) and not isinstance(failure, SchemaError):
            raise
        raise PluginError(f"{what} failed: {failure_text(failure)}", hint="This is a bug in the plugin.") from failure
