"""`Registry`: objects that plugins register, by kind and name. Built-in ones are registered the same way.

Calls the hooks of a plugin through pluggy, and validates what they return. `PluginReport`: the result of loading a
plugin.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

import pluggy

from ..errors import AbstractCoreError, InvalidInputError, PluginError, UnknownCapabilityError, UnknownProviderError
from ..ports import (
    CAPABILITIES,
    Capability,
    CatalogueFile,
    Guard,
    MediaHandler,
    ModelWeights,
    Provider,
    ToolSource,
    TraceSubscriber,
    WireFormat,
)
from ..schema.base_error import checkout_hint
from ..version import __version__
from . import hooks
from .entry_points import BACKENDS_GROUP, FoundPlugin, failure_text, found_plugins
from .kinds import (
    CAPABILITY,
    CATALOGUE,
    GUARD,
    KINDS,
    MEDIA_HANDLER,
    MODEL,
    PROVIDER,
    TOOL_SOURCE,
    TRACE_SUBSCRIBER,
    WIRE_FORMAT,
    GuardedHandler,
    Kind,
)
from .suggestions import did_you_mean, nearest_names, whose_model

if TYPE_CHECKING:
    from ..ports import BackendEntry, BackendRegistry
    from .backends import RegisteredBackends

_ANOTHER_VERSION = f"The plugin may be written for another version of abstractcore: this is {__version__}."


def contributions(load: Callable[[], object], name: str) -> list[tuple[Kind[Any], Any]]:
    """Returns the objects that the plugin `name` registers, each with its kind.

    Raises `PluginError` for invalid ones, and whatever the plugin raises.
    """
    manager = _manager_of(_load(load), name)
    return [(kind, item) for kind in KINDS for item in _items_of(manager, kind)]


def _load(load: Callable[[], object]) -> object:
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


def _items_of(manager: pluggy.PluginManager, kind: Kind[Any]) -> list[Any]:
    given: list[Any] = []
    for items in getattr(manager.hook, kind.hook)():
        if not isinstance(items, Iterable):
            raise PluginError(f"{kind.hook} returns a {type(items).__name__}: expected a list.")
        given.extend(cast("Iterable[object]", items))
    for item in given:
        kind.check(item)
    return given


SLOW_SECONDS = 0.5
"""A plugin that takes longer than this to load is reported."""


@dataclass(frozen=True, slots=True)
class PluginReport:
    """The result of loading an entry point: what it registered, its loading time, and its error, if it failed.

    `registered` holds pairs of a kind ("provider", "tool source") and a name. With an error it is empty.
    """

    name: str
    target: str
    distribution: str
    registered: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    error: str | None = None

    @property
    def slow(self) -> bool:
        """Whether loading took longer than `SLOW_SECONDS`, which delays the first `create_llm`."""
        return self.seconds > SLOW_SECONDS


T = TypeVar("T")
Watch: TypeAlias = Callable[[str], AbstractContextManager[object]]
"""Wraps the loading of the plugin of an owner."""

_PROGRAM = "this program"
_SEE_PLUGINS = "`abstractcore plugins` lists what is installed."


class _Contribution(NamedTuple):
    kind: Kind[Any]
    name: str
    item: Any
    owner: str

    @property
    def key(self) -> tuple[str, str]:
        return (self.kind.name, self.name)


class Registry:
    """Objects that plugins register, by kind and name. A broken plugin is reported and does not affect others.

    A program may register its own objects with `add_...`, which raises `PluginError` for an invalid object and for a
    name that is in use. `now` returns seconds, to measure how long plugins take to load.
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self.reports: list[PluginReport] = []
        self._now = now
        self._registered: dict[str, dict[str, _Contribution]] = {kind.name: {} for kind in KINDS}
        self._guarded_handlers: tuple[MediaHandler, ...] = ()
        self._backends: RegisteredBackends | None = None
        self._find_backends: Callable[[], list[FoundPlugin]] = list
        self._watch: Watch = nullcontext[object]

    @classmethod
    def from_entry_points(cls, watch: Watch = nullcontext[object]) -> Registry:
        """Returns a registry of all installed plugins. Each is loaded inside `watch(owner)`, those with backends of
        capabilities when `backends` is first read.
        """
        registry = cls()
        registry._watch = watch
        registry._find_backends = partial(found_plugins, BACKENDS_GROUP)
        for found in found_plugins():
            with watch(_owner(found.name, found.distribution)):
                registry.add_plugin(found.name, found.load, target=found.target, distribution=found.distribution)
        return registry

    @property
    def backends(self) -> RegisteredBackends:
        """The backends of `llm.voice`, `llm.audio`, `llm.vision` and `llm.music`, loaded on first use."""
        if self._backends is None:
            from .backends import RegisteredBackends, load_backends

            backends = RegisteredBackends()
            reports = [load_backends(backends, found, self._watch, self._now) for found in self._find_backends()]
            if self._backends is None:  # the first of two threads
                self._backends = backends
                self.reports += reports
        return self._backends

    def uses_option(self, name: str) -> bool:
        """Whether there is a capability, or a backend of one, whose options begin as `name` does."""
        capability = name.partition("_")[0]
        return capability in self.capabilities or (capability in CAPABILITIES and bool(self.backends.of(capability)))

    @property
    def providers(self) -> dict[str, Provider]:
        """All providers by name."""
        return self._all(PROVIDER)

    @property
    def catalogues(self) -> dict[str, CatalogueFile]:
        """The files with facts about models, by provider."""
        return self._all(CATALOGUE)

    @property
    def wire_formats(self) -> dict[str, WireFormat]:
        """All wire formats by name."""
        return self._all(WIRE_FORMAT)

    @property
    def media_handlers(self) -> tuple[MediaHandler, ...]:
        """All media handlers, in the order in which they are tried: those of the last plugin first."""
        return self._guarded_handlers

    @property
    def capabilities(self) -> dict[str, Capability]:
        """All capabilities by name."""
        return self._all(CAPABILITY)

    @property
    def models(self) -> dict[str, ModelWeights]:
        """All rows of weights by name."""
        return self._all(MODEL)

    @property
    def tool_sources(self) -> dict[str, ToolSource]:
        """All tool sources by name."""
        return self._all(TOOL_SOURCE)

    @property
    def trace_subscribers(self) -> tuple[TraceSubscriber, ...]:
        """All trace subscribers."""
        return tuple(self._all(TRACE_SUBSCRIBER).values())

    @property
    def guards(self) -> dict[str, Guard]:
        """All guards of servers by name."""
        return self._all(GUARD)

    def provider(self, name: str, model: str | None = None) -> Provider:
        """Returns the provider called `name`; raises `UnknownProviderError` with similar names.

        For the name of a model, the error suggests its provider. `model` is the model given with the provider.
        """
        found = self._find(PROVIDER, name)
        if found is None:
            install = f"Install the package, so that its entry points are found. {checkout_hint('.')}"
            whose = whose_model(name, model, self.providers)
            hint = " ".join([whose, *self._broken_plugins()]) if whose else self._hint(PROVIDER, name, install)
            if not whose and name and not nearest_names(name, self.providers):
                given = name if model is None else f"{name}/{model}"
                hint += f' If that is a model, name its provider first: create_llm("PROVIDER/{given}").'
            raise UnknownProviderError(f"no provider is called {name!r}.", hint=hint)
        return found.item

    def wire_format(self, name: str) -> WireFormat:
        """Returns the wire format called `name`; raises `InvalidInputError` with similar names."""
        return self._get(WIRE_FORMAT, name)

    def capability(self, name: str) -> Capability:
        """Returns the capability called `name`; raises `UnknownCapabilityError` with similar names."""
        return self._get(CAPABILITY, name, UnknownCapabilityError)

    def tool_source(self, name: str) -> ToolSource:
        """Returns the tool source called `name`; raises `InvalidInputError` with similar names."""
        return self._get(TOOL_SOURCE, name, instead=", or pass a ToolSpec")

    def guard(self, name: str) -> Guard:
        """Returns the guard called `name`; raises `InvalidInputError` with similar names."""
        return self._get(GUARD, name)

    def owner(self, kind: str, name: str) -> str:
        """Returns who registered the `kind` ("provider", "capability", ...) called `name`, for messages."""
        return self._registered[kind][name].owner

    def add_plugin(
        self, name: str, load: Callable[[], object], *, target: str = "", distribution: str = ""
    ) -> PluginReport:
        """Loads one plugin and registers everything that its hooks return. If that fails, it registers nothing.

        The report holds the error; only `KeyboardInterrupt` propagates.
        """
        start, registered, error = self._now(), (), None
        owner = _owner(name, distribution)
        try:
            entries = [_Contribution(kind, item.name, item, owner) for kind, item in contributions(load, name)]
            self._register(entries)
            registered = tuple(entry.key for entry in entries)
        except KeyboardInterrupt:
            raise
        except BaseException as failure:
            error = failure_text(failure)
        report = PluginReport(name, target, distribution, registered, self._now() - start, error)
        self.reports.append(report)
        return report

    def add_provider(self, provider: Provider) -> None:
        """Registers a provider."""
        self._add(PROVIDER, provider)

    def add_catalogue(self, catalogue: CatalogueFile) -> None:
        """Registers a file with facts about the models of a provider."""
        self._add(CATALOGUE, catalogue)

    def add_wire_format(self, format: WireFormat) -> None:
        """Registers a wire format."""
        self._add(WIRE_FORMAT, format)

    def add_media_handler(self, handler: MediaHandler) -> None:
        """Registers a media handler, which is tried before those that are registered."""
        self._add(MEDIA_HANDLER, handler)

    def add_capability(self, capability: Capability) -> None:
        """Registers a capability."""
        self._add(CAPABILITY, capability)

    def add_model(self, model: ModelWeights) -> None:
        """Registers a row of weights, for model stores that are created afterwards."""
        self._add(MODEL, model)

    def add_backends(self, register: Callable[[BackendRegistry], object]) -> None:
        """Registers what `register` registers, as an entry point of the group `abstractcore.capabilities_plugins`."""
        self.backends.registering(register, "")

    def replace_backends(self, entries: Iterable[BackendEntry]) -> None:
        """Makes `entries` the only backends, for tests."""
        from .backends import RegisteredBackends

        self._backends = RegisteredBackends(entries)

    def add_tool_source(self, source: ToolSource) -> None:
        """Registers a tool source."""
        self._add(TOOL_SOURCE, source)

    def add_trace_subscriber(self, subscriber: TraceSubscriber) -> None:
        """Registers a trace subscriber, for LLMs that are created afterwards."""
        self._add(TRACE_SUBSCRIBER, subscriber)

    def add_guard(self, guard: Guard) -> None:
        """Registers a guard, for servers that are started afterwards."""
        self._add(GUARD, guard)

    def _add(self, kind: Kind[T], item: T) -> None:
        kind.check(item)
        given: Any = item
        self._register([_Contribution(kind, given.name, item, _PROGRAM)])

    def _register(self, entries: Iterable[_Contribution]) -> None:
        """Registers all entries; raises `PluginError` and registers none if a name is in use."""
        new: dict[tuple[str, str], _Contribution] = {}
        for entry in entries:
            other = self._find(entry.kind, entry.name) or new.get(entry.key)
            if other is not None:
                raise PluginError(
                    f"two plugins register a {entry.kind.name} called {entry.name!r}: {other.owner} and {entry.owner}.",
                    hint="The first one is used. Uninstall one of them: pip uninstall PACKAGE",
                )
            new[entry.key] = entry
        handlers = [entry for entry in new.values() if entry.kind is MEDIA_HANDLER]
        guarded = [GuardedHandler(entry.item, entry.owner) for entry in handlers]
        self._guarded_handlers = (*guarded, *self._guarded_handlers)
        for entry in new.values():
            self._registered[entry.kind.name][entry.name] = entry

    def _all(self, kind: Kind[T]) -> dict[str, T]:
        return {name: entry.item for name, entry in list(self._registered[kind.name].items())}

    def _find(self, kind: Kind[Any], name: str) -> _Contribution | None:
        return self._registered[kind.name].get(name)

    def _get(
        self, kind: Kind[T], name: str, error: type[AbstractCoreError] = InvalidInputError, *, instead: str = ""
    ) -> T:
        found = self._find(kind, name)
        if found is None:
            install = f"Install a plugin that provides it{instead}; {_SEE_PLUGINS}"
            raise error(f"no {kind.name} is called {name!r}.", hint=self._hint(kind, name, install))
        return found.item

    def _hint(self, kind: Kind[Any], name: str, install: str) -> str:
        """Returns a hint: similar names, else all names, else how to install some; and broken plugins."""
        names = sorted(self._all(kind))
        near = nearest_names(name, names)
        first = did_you_mean(near) if near else f"The names are {', '.join(names)}." if names else install
        return " ".join([first, *self._broken_plugins()])

    def _broken_plugins(self) -> list[str]:
        return [f"The plugin {report.name!r} is broken: {report.error}" for report in self.reports if report.error]


def _owner(name: str, distribution: str) -> str:
    return f"plugin {name!r} of {distribution}" if distribution else f"plugin {name!r}"
