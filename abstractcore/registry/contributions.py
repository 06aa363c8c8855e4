"""Calls the hooks of a plugin through pluggy, and validates what they return."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import pluggy

from ..errors import PluginError
from ..version import __version__
from . import hooks
from .kinds import KINDS, Kind

_ANOTHER_VERSION = f"The plugin may be written for another version of abstractcore: this is {__version__}."


def contributions(load: Callable[[], object], name: str) -> list[tuple[Kind[Any], Any]]:
    """Returns the objects that the plugin `name` registers, each with its kind.

    Raises `PluginError` for invalid ones, and whatever the plugin raises.
    """
    manager = _manager_of(_loaded(load), name)
    return [(kind, item) for kind in KINDS for item in _given(manager, kind)]


def _loaded(load: Callable[[], object]) -> object:
    try:
        return load()
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "abstractcore":
            raise
        raise PluginError(f"{error}.", hint=_ANOTHER_VERSION) from error


def _manager_of(plugin: object, name: str) -> pluggy.PluginManager:
    manager = pluggy.PluginManager("abstractcore")
    manager.add_hookspecs(hooks)
    try:
        manager.register(plugin, name)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise PluginError(f"{' '.join(str(error).split())}.", hint=_ANOTHER_VERSION) from error
    if not manager.get_hookcallers(plugin):
        known = ", ".join(kind.hook for kind in KINDS)
        raise PluginError("it implements no hook.", hint=f"Mark one with @hookimpl: {known}.")
    return manager


def _given(manager: pluggy.PluginManager, kind: Kind[Any]) -> list[Any]:
    given: list[Any] = []
    for items in getattr(manager.hook, kind.hook)():
        if not isinstance(items, Iterable):
            raise PluginError(f"{kind.hook} returns a {type(items).__name__}: expected a list.")
        given.extend(cast("Iterable[object]", items))
    for item in given:
        kind.check(item)
    return given
