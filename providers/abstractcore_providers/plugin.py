"""The built-in providers, registered as any plugin's are."""

from __future__ import annotations

from collections.abc import Iterable

from abstractcore.hooks import hookimpl
from abstractcore.ports import Provider

from .local import LocalProvider
from .presets import PRESETS
from .scripted import ScriptedProvider


@hookimpl
def register_providers() -> Iterable[Provider]:
    """The embedded model, the scripted one, and the vendors' rows."""
    return (LocalProvider(), ScriptedProvider(), *PRESETS)
