"""`RegisteredBackends`: the backends of capabilities that entry points register, and which of them is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, cast

from ..errors import CapabilityUnavailableError, InvalidInputError, PluginError
from ..ports.capabilities import CAPABILITIES, BackendEntry, BackendFactory, CapabilityName
from ..schema.base_error import shown
from .entry_points import FoundPlugin, failure_text
from .registry import PluginReport
from .suggestions import name_hint


class RegisteredBackends:
    """What `register(registry)` of a package fills, and the backends of all packages, by capability.

    A package that fails while it registers leaves none of its backends here: see `registering`.
    """

    def __init__(self, entries: Iterable[BackendEntry] = ()) -> None:
        self._entries = {(entry.capability, entry.backend_id): entry for entry in entries}

    def registering(self, register: object, distribution: str) -> list[BackendEntry]:
        """Calls `register` and adds what it registers; raises `PluginError`, and whatever `register` raises."""
        if not callable(register):
            raise PluginError(
                f"its entry point is a {type(register).__name__}: expected a function register(registry)."
            )
        new = _Registrations(distribution)
        cast("Callable[[object], object]", register)(new)
        if not new.entries:
            raise PluginError(
                "it registers no backend.", hint="Call registry.register_voice_backend(...), for example."
            )
        for entry in new.entries:
            other = self._entries.get((entry.capability, entry.backend_id))
            if other is not None:
                raise PluginError(
                    f"two packages register the {entry.capability} backend {entry.backend_id!r}: "
                    f"{other.distribution or 'this program'} and {distribution or 'this program'}.",
                    hint="The first one is used. Uninstall one of them: pip uninstall PACKAGE",
                )
        self._entries.update({(entry.capability, entry.backend_id): entry for entry in new.entries})
        return new.entries

    def of(self, capability: str) -> list[BackendEntry]:
        """Returns the backends of a capability in the order in which they are preferred: by priority, then name."""
        found = [entry for entry in self._entries.values() if entry.capability == capability]
        return sorted(found, key=lambda entry: (-entry.priority, entry.backend_id))

    def preferred(self, capability: CapabilityName, name: object = None) -> list[BackendEntry]:
        """Returns the backends to use, the best first: the one that `name` names, or all.

        `name` is the id of a backend, or the part of it after the colon. Raises `CapabilityUnavailableError` with
        similar names if there is no such backend.
        """
        entries = self.of(capability)
        if name is None:
            return entries
        option = f"{capability}_backend"
        if not isinstance(name, str):
            raise InvalidInputError(f"expected the name of a backend, got {type(name).__name__}", path=option)
        named = [entry for entry in entries if entry.backend_id == name]
        named = named or [entry for entry in entries if entry.backend_id.rpartition(":")[2] == name]
        if not named and entries:
            hint = name_hint(name, [entry.backend_id for entry in entries], "backends", "`abstractcore plugins`")
            raise CapabilityUnavailableError(
                f"{option}: no backend of {capability} is called {shown(name)}.", hint=hint
            )
        return named[:1]


class _Registrations:
    """The registry that a package is given. Raises `PluginError` for invalid arguments."""

    def __init__(self, distribution: str) -> None:
        self.entries: list[BackendEntry] = []
        self._distribution = distribution

    def register_backend(
        self,
        *,
        capability: str,
        backend_id: str,
        factory: BackendFactory,
        priority: float = 0,
        description: str = "",
        install_hint: str | None = None,
        config_hint: str | None = None,
    ) -> None:
        """Registers a backend."""
        _check(capability, backend_id, factory, priority)
        if any((entry.capability, entry.backend_id) == (capability, backend_id) for entry in self.entries):
            raise PluginError(f"it registers the {capability} backend {backend_id!r} twice.")
        self.entries.append(
            BackendEntry(
                cast("CapabilityName", capability),
                backend_id,
                factory,
                priority,
                _text(description) or "",
                _text(install_hint),
                _text(config_hint),
                self._distribution,
            )
        )

    def register_voice_backend(self, *, backend_id: str, factory: BackendFactory, **about: Any) -> None:
        """Registers a backend of `llm.voice`."""
        self.register_backend(capability="voice", backend_id=backend_id, factory=factory, **about)

    def register_audio_backend(self, *, backend_id: str, factory: BackendFactory, **about: Any) -> None:
        """Registers a backend of `llm.audio`."""
        self.register_backend(capability="audio", backend_id=backend_id, factory=factory, **about)

    def register_vision_backend(self, *, backend_id: str, factory: BackendFactory, **about: Any) -> None:
        """Registers a backend of `llm.vision`."""
        self.register_backend(capability="vision", backend_id=backend_id, factory=factory, **about)

    def register_music_backend(self, *, backend_id: str, factory: BackendFactory, **about: Any) -> None:
        """Registers a backend of `llm.music`."""
        self.register_backend(capability="music", backend_id=backend_id, factory=factory, **about)


def _check(capability: object, backend_id: object, factory: object, priority: object) -> None:
    if capability not in CAPABILITIES:
        raise PluginError(f"it registers a backend of {capability!r}: expected {', '.join(CAPABILITIES)}.")
    if not isinstance(backend_id, str) or not backend_id.isprintable() or not backend_id.strip():
        raise PluginError(f"it registers a {capability} backend with the id {backend_id!r}: expected text.")
    if not callable(factory):
        raise PluginError(f"the backend {backend_id!r} has a {type(factory).__name__} as factory: expected a function.")
    if isinstance(priority, bool) or not isinstance(priority, int | float) or priority != priority:
        raise PluginError(f"the backend {backend_id!r} has the priority {priority!r}: expected a number.")


def _text(given: object) -> str | None:
    return given.strip() or None if isinstance(given, str) else None


def load_backends(
    backends: RegisteredBackends,
    found: FoundPlugin,
    watch: Callable[[str], AbstractContextManager[object]],
    now: Callable[[], float],
) -> PluginReport:
    """Loads an entry point into `backends`. The report has the error of a broken one; only `KeyboardInterrupt` is
    raised.

    `now` returns seconds.
    """
    start, error = now(), None
    registered: tuple[tuple[str, str], ...] = ()
    with watch(f"plugin {found.name!r} of {found.distribution}"):
        try:
            entries = backends.registering(found.load(), found.distribution)
            registered = tuple((f"{entry.capability} backend", entry.backend_id) for entry in entries)
        except KeyboardInterrupt:
            raise
        except BaseException as failure:
            error = failure_text(failure)
    return PluginReport(found.name, found.target, found.distribution, registered, now() - start, error)
