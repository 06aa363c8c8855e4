"""`Backends`: the backends of one capability of an LLM, and the one that has a method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import PluginError
from ..ports.capabilities import BACKEND_METHODS, BackendEntry, CapabilityName
from ..registry import failures_of
from .caller import Caller
from .owner import Owner
from .unavailable import without_backend, without_method

_OTHER_NAMES: Mapping[str, Sequence[str]] = {"list_models": ("list_provider_models",)}
"""Names that published plugins have for a method."""


@dataclass(frozen=True, slots=True)
class Backend:
    """A backend of this LLM."""

    entry: BackendEntry
    instance: object

    @property
    def id(self) -> str:
        """Its id."""
        return self.entry.backend_id

    @property
    def is_local(self) -> bool:
        """Whether it costs nothing."""
        return getattr(self.instance, "is_local", False) is True

    @property
    def takes_parts(self) -> bool:
        """Whether it takes files as parts, and reads them itself."""
        return getattr(self.instance, "takes_parts", False) is True

    @property
    def streams_text(self) -> bool:
        """Whether it takes texts in pieces."""
        return getattr(self.instance, "streams_text", False) is True

    def method(self, name: str) -> Callable[..., object] | None:
        """Returns its method, if it has one of this name."""
        names = (name, *_OTHER_NAMES.get(name, ()))
        found = (getattr(self.instance, each, None) for each in names)
        return next((each for each in found if callable(each)), None)


class Backends:
    """The backends of one capability of an LLM, each made at first use.

    It has no lock, which a fork could leave locked forever: of backends that threads make at once, one is kept.
    """

    def __init__(self, capability: CapabilityName, caller: Caller) -> None:
        self.capability: CapabilityName = capability
        self.caller = caller
        self._owner = Owner(caller)
        self._made: dict[str, Backend] = {}

    def with_method(self, name: str) -> tuple[Backend, Callable[..., object]]:
        """Returns the preferred backend that has a method, and the method.

        Raises `CapabilityUnavailableError` without one, and `PluginError` for a backend that cannot be made.
        """
        entries = self.entries()
        if not entries:
            raise without_backend(self.capability, self.caller.registry)
        for entry in entries:
            backend = self._get(entry)
            method = backend.method(name)
            if method is not None:
                return backend, method
        raise without_method(self.capability, name, entries)

    def entries(self) -> list[BackendEntry]:
        """Returns the backends that may be used, the preferred one first."""
        name = self.caller.options.get(f"{self.capability}_backend")
        return self.caller.registry.backends.preferred(self.capability, name)

    def _get(self, entry: BackendEntry) -> Backend:
        if entry.backend_id not in self._made:
            who = f"the backend {entry.backend_id!r}{f' of {entry.distribution}' if entry.distribution else ''}"
            with failures_of(who):
                instance = entry.factory(self._owner)
            if not any(callable(getattr(instance, name, None)) for name in BACKEND_METHODS[self.capability]):
                known = ", ".join(BACKEND_METHODS[self.capability])
                raise PluginError(f"{who} has none of the methods {known}.", hint="This is a bug in the plugin.")
            self._made.setdefault(entry.backend_id, Backend(entry, instance))
        return self._made[entry.backend_id]
