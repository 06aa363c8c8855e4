"""Which plugins are installed. One package with broken metadata, a plugin's or anyone's, hides no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata

from ..errors import PluginError
from ..version import __version__
from .hooks import GROUP
from .requirements import unmet

_OURSELVES = "abstractcore"


@dataclass(frozen=True, slots=True)
class FoundPlugin:
    """An entry point: its name, what it points to, the distribution (name and version), and how it is loaded."""

    name: str
    target: str
    distribution: str
    load: Callable[[], object]


def found_plugins() -> list[FoundPlugin]:
    """The built-in ones first, then by distribution and name. Loads none."""
    found: dict[tuple[str, str], FoundPlugin] = {}
    for distribution in metadata.distributions():
        for plugin in _plugins(distribution):
            # As in imports, what stands earlier on the path hides what stands later.
            found.setdefault((plugin.distribution.partition(" ")[0], plugin.name), plugin)
    return [found[key] for key in sorted(found, key=lambda key: (key[0] != _OURSELVES, key))]


def _plugins(distribution: metadata.Distribution) -> Iterator[FoundPlugin]:
    try:
        if GROUP not in (distribution.read_text("entry_points.txt") or ""):
            return
        points = distribution.entry_points.select(group=GROUP)
    except Exception as failure:
        yield FoundPlugin("?", "", _label(distribution), _raising(failure))
        return
    for point in points:
        yield FoundPlugin(point.name, point.value, _label(distribution), _loading(distribution, point))


def _label(distribution: metadata.Distribution) -> str:
    try:
        name, version = distribution.metadata["Name"], distribution.version
    except Exception:
        name = version = ""
    return f"{name} {version}" if name and version else f"? in {distribution.locate_file('')}"


def _raising(failure: Exception) -> Callable[[], object]:
    def load() -> object:
        raise PluginError(f"its entry_points.txt cannot be read: {failure}") from failure

    return load


def _loading(distribution: metadata.Distribution, point: metadata.EntryPoint) -> Callable[[], object]:
    def load() -> object:
        name = distribution.metadata["Name"]
        asked = unmet(distribution.requires or (), _OURSELVES, __version__)
        if asked is not None:
            raise PluginError(
                f"it is made for another version: it requires {_OURSELVES}{asked}, and this is {__version__}.",
                hint=f"Install a release of {name} for this version, or take it away: pip uninstall {name}",
            )
        return point.load()

    return load
