"""What is registered under which name, collected from plugins once. Built-ins come the same way as anyone's."""

from __future__ import annotations

import difflib
import importlib.metadata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pluggy

from . import hooks
from .errors import PluginError, UnknownProviderError
from .ports import MediaHandler, Provider


@dataclass(frozen=True, slots=True)
class PluginReport:
    """One entry point: what it is, what it registered, and what went wrong with it, if anything."""

    name: str
    target: str
    distribution: str
    registered: tuple[str, ...] = ()
    error: str | None = None


class Registry:
    """Providers and media handlers by name. A broken plugin is reported and takes nothing else down."""

    def __init__(self) -> None:
        self.reports: list[PluginReport] = []
        self._providers: dict[str, Provider] = {}
        self._owners: dict[str, str] = {}
        self._handlers: list[MediaHandler] = []

    @classmethod
    def from_entry_points(cls) -> Registry:
        """Everything installed packages register."""
        registry = cls()
        for point in importlib.metadata.entry_points(group=hooks.GROUP):
            distribution = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "?"
            registry.add_plugin(point.name, point.load, target=point.value, distribution=distribution)
        return registry

    @property
    def media_handlers(self) -> tuple[MediaHandler, ...]:
        """All media handlers, in the order they are asked."""
        return tuple(self._handlers)

    @property
    def providers(self) -> dict[str, Provider]:
        """All providers by name."""
        return dict(self._providers)

    def provider(self, name: str) -> Provider:
        """The provider called `name`; raises `UnknownProviderError` with the nearest names."""
        provider = self._providers.get(name)
        if provider is None:
            near = difflib.get_close_matches(name, self._providers, n=3, cutoff=0.5) or sorted(self._providers)
            broken = "".join(f" The plugin {report.name!r} is broken: {report.error}" for report in self._broken())
            if not near:
                install = "Install the package (from the checkout: pip install .), so that its entry points are found."
                raise UnknownProviderError(
                    f"no provider is called {name!r}: none is registered at all.", hint=broken.strip() or install
                )
            raise UnknownProviderError(
                f"no provider is called {name!r}.", hint=f"Did you mean {', '.join(near)}?{broken}"
            )
        return provider

    def add_plugin(
        self, name: str, load: Callable[[], object], *, target: str = "", distribution: str = ""
    ) -> PluginReport:
        """Load one plugin and register what its hooks give; what goes wrong is in the report."""
        registered: list[str] = []
        error = None
        try:
            for entry, register in self._entries(load(), name):
                register()
                registered.append(entry)
        except (Exception, SystemExit) as failure:
            error = f"{type(failure).__name__}: {failure}"
        report = PluginReport(name, target, distribution, tuple(registered), error)
        self.reports.append(report)
        return report

    def add_provider(self, provider: Provider, owner: str = "this program") -> None:
        """Register a provider; raises `PluginError` if another has its name."""
        other = self._owners.get(provider.name)
        if other is not None:
            raise PluginError(
                f"two plugins register a provider called {provider.name!r}: {other} and {owner}",
                hint="Uninstall one of them.",
            )
        self._owners[provider.name] = owner
        self._providers[provider.name] = provider

    def add_media_handler(self, handler: MediaHandler) -> None:
        """Register a media handler."""
        self._handlers.append(handler)

    def _entries(self, plugin: object, name: str) -> Iterable[tuple[str, Callable[[], None]]]:
        """What a plugin wants to register, each with the function that does it."""
        manager = pluggy.PluginManager("abstractcore")
        manager.add_hookspecs(hooks)
        manager.register(plugin, name)
        manager.check_pending()
        for provider in _given(manager.hook.register_providers()):
            yield f"provider {provider.name}", lambda provider=provider: self.add_provider(provider, f"plugin {name!r}")
        for handler in _given(manager.hook.register_media_handlers()):
            yield f"media handler {handler.name}", lambda handler=handler: self.add_media_handler(handler)

    def _broken(self) -> list[PluginReport]:
        return [report for report in self.reports if report.error is not None]


def _given(results: list[Iterable[Any]]) -> list[Any]:
    return [item for result in results for item in result]
