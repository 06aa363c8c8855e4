"""The backends of one capability of an LLM: which one has a method, what it costs, and what to do without one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from threading import RLock
from typing import Final

from ..errors import AbstractCoreError, AuthenticationError, CapabilityUnavailableError, ConfigurationError, PluginError
from ..ports import BilledResponse, Charge, Pricing
from ..ports.capabilities import BACKEND_METHODS, BackendEntry, CapabilityName
from ..registry import Registry, failures_of
from ..schema.base_error import checkout_hint
from .owner import Caller, Owner

_OTHER_NAMES: Mapping[str, Sequence[str]] = {"list_models": ("list_provider_models",)}
"""Names that published plugins have for a method."""
_PACKAGES: Final[Mapping[CapabilityName, str]] = {
    "voice": "abstractvoice",
    "audio": "abstractvoice",
    "vision": "abstractvision",
    "music": "abstractmusic",
}


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
        """Whether it costs nothing itself."""
        return self._attribute("is_local") is True

    @property
    def takes_parts(self) -> bool:
        """Whether it takes files as parts, and reads them itself."""
        return self._attribute("takes_parts") is True

    @property
    def streams_text(self) -> bool:
        """Whether it takes texts in pieces."""
        return self._attribute("streams_text") is True

    def method(self, name: str) -> Callable[..., object] | None:
        """Returns its method, if it has one of this name."""
        names = (name, *_OTHER_NAMES.get(name, ()))
        return next((found for each in names if callable(found := self._attribute(each))), None)

    def _attribute(self, name: str) -> object:
        """Returns an attribute, if it has it; raises `PluginError` if it cannot be read."""
        with failures_of(_who(self.entry)):
            return getattr(self.instance, name, None)


@dataclass(frozen=True, slots=True)
class BackendPricing:
    """The prices of a backend: what it reports, else those of the catalogue for its model; a local one costs
    nothing.
    """

    backend_id: str
    is_local: bool
    pricing: Callable[[str], Pricing | None]

    def charge(self, response: BilledResponse) -> Charge:
        """Returns the cost of one call."""
        billing = response.usage.billing
        if billing is not None and billing.cost is not None:
            return Charge(billing.cost, "vendor")
        if self.is_local:
            return Charge(Decimal(0), "computed")
        try:
            prices = self.pricing(response.model) if "/" in response.model else None
        except ConfigurationError as error:
            return Charge(reason=error.message)
        if prices is None:
            of = f"{response.model} of " if response.model else ""
            return Charge(reason=f"no price is known for {of}the backend {self.backend_id}")
        return prices.charge(response._replace(model=response.model.partition("/")[2]))


def _who(entry: BackendEntry) -> str:
    return f"the backend {entry.backend_id!r}{f' of {entry.distribution}' if entry.distribution else ''}"


class CapabilityBackends:
    """The backends of one capability of an LLM, each made once, at first use."""

    def __init__(self, capability: CapabilityName, caller: Caller) -> None:
        self.capability: CapabilityName = capability
        self.caller = caller
        self._owner = Owner(caller)
        self._backends: dict[str, Backend] = {}
        self._locks: dict[int, RLock] = {}

    def with_method(self, name: str) -> tuple[Backend, Callable[..., object]]:
        """Returns the preferred backend that has a method, and the method.

        Raises `CapabilityUnavailableError` without one, and `PluginError` for a backend that cannot be made.
        """
        entries = self.entries()
        if not entries:
            raise _without_backend(self.capability, self.caller.registry)
        for entry in entries:
            backend = self._get(entry)
            method = backend.method(name)
            if method is not None:
                return backend, method
        raise _without_method(self.capability, name, entries)

    def without_key(self, backend: Backend, method: str, error: AuthenticationError) -> AbstractCoreError:
        """Returns the error of a backend without a key: that a choice is missing, if it was taken only because the one
        before it has no such method.
        """
        entries = self.entries()
        if backend.entry is entries[0]:
            return error
        choices = [entry for entry in entries if self._get(entry).method(method) is not None]
        return _without_choice(self.capability, method, choices)

    def entries(self) -> list[BackendEntry]:
        """Returns the backends that may be used, the preferred one first."""
        name = self.caller.options.get(f"{self.capability}_backend")
        return self.caller.registry.backends.preferred(self.capability, name)

    def _get(self, entry: BackendEntry) -> Backend:
        found = self._backends.get(entry.backend_id)
        if found is not None:
            return found
        # By process: a forked one has a copy of the lock, but not of the thread that may hold it. Reentrant: making a
        # backend may free an object that uses one.
        with self._locks.setdefault(os.getpid(), RLock()):
            try:
                return self._backends.get(entry.backend_id) or self._backends.setdefault(
                    entry.backend_id, self._make(entry)
                )
            except AbstractCoreError as error:
                self.caller.scrub(error)
                raise

    def _make(self, entry: BackendEntry) -> Backend:
        with failures_of(_who(entry)):
            backend = Backend(entry, entry.factory(self._owner))
        if not any(map(backend.method, BACKEND_METHODS[self.capability])):
            known = ", ".join(BACKEND_METHODS[self.capability])
            raise PluginError(f"{_who(entry)} has none of the methods {known}.", hint="This is a bug in the plugin.")
        return backend


def _without_backend(capability: CapabilityName, registry: Registry) -> CapabilityUnavailableError:
    """Returns the error for a capability without backends; it names packages that are broken."""
    broken = [f"The plugin {report.name!r} is broken: {report.error}" for report in registry.reports if report.error]
    return CapabilityUnavailableError(
        f"no backend of llm.{capability} is installed.",
        hint=" ".join(
            [checkout_hint(f"./plugins/{_PACKAGES[capability]}"), "`abstractcore plugins` lists them.", *broken]
        ),
    )


def _without_method(
    capability: CapabilityName, method: str, entries: Sequence[BackendEntry]
) -> CapabilityUnavailableError:
    """Returns the error for a method that none of the backends has."""
    names = ", ".join(entry.backend_id for entry in entries)
    return CapabilityUnavailableError(
        f"llm.{capability}.{method}: no backend can do this; asked: {names}.",
        hint=" ".join(filter(None, (entry.config_hint or entry.install_hint for entry in entries)))
        or f"Set {capability}_backend=... in create_llm; `abstractcore plugins` lists the backends.",
    )


def _without_choice(
    capability: CapabilityName, method: str, entries: Sequence[BackendEntry]
) -> CapabilityUnavailableError:
    """Returns the error for a method whose backends need a key, or more, and of which the user has chosen none."""
    option = f"{capability}_backend"
    choices = [f"{option}={entry.backend_id.rpartition(':')[2]!r} ({_requirement(entry)})" for entry in entries]
    return CapabilityUnavailableError(
        f"llm.{capability}.{method}: no backend does this as it is installed and set up.",
        hint=f"Choose one in create_llm: {', '.join(choices)}.",
    )


def _requirement(entry: BackendEntry) -> str:
    """Returns the first step before a backend can be used, for hints."""
    needed = entry.config_hint or entry.install_hint or "see `abstractcore plugins`"
    first = needed.partition(";")[0].removesuffix(" in create_llm")
    return first if first.endswith("...") else first.rstrip(".")
