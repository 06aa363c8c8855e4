"""Finds installed plugins. A package with broken metadata does not hide others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import metadata
from typing import NamedTuple

from ..errors import PluginError
from ..version import __version__
from .hooks import GROUP
from .requirements import unmet

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
    """Returns the built-in plugins of a group, then others by distribution and name. Loads none."""
    found: dict[tuple[str, str], FoundPlugin] = {}
    for distribution in metadata.distributions():
        for plugin in _plugins(distribution, group):
            # As in imports, the first distribution of a name on the path wins.
            found.setdefault((plugin.distribution.partition(" ")[0], plugin.name), plugin)
    return [found[key] for key in sorted(found, key=lambda key: (key[0] != _OURSELVES, key))]


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


def _raising(failure: Exception) -> Callable[[], object]:
    def load() -> object:
        raise PluginError(f"its entry_points.txt cannot be read: {failure}") from failure

    return load


def _loading(distribution: metadata.Distribution, name: str, point: metadata.EntryPoint) -> Callable[[], object]:
    def load() -> object:
        asked = None if name == _OURSELVES else unmet(distribution.requires or (), _OURSELVES, __version__)
        if asked is not None:
            raise PluginError(
                f"it is for another version: it requires {_OURSELVES}{asked}, and this is {__version__}.",
                hint=f"Install a release of {name} for this version, or uninstall it: pip uninstall {name}",
            )
        return point.load()

    return load
