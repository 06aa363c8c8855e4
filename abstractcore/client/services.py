"""`Services`: the clock, ids, registry, stores, environment and connections that LLMs use; and which `Connections` of
these an LLM has.
"""

from __future__ import annotations

import atexit
import logging
import os
import random
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from .. import concurrency, ports, schema
from ..concurrency import SyncRuntime, SystemClock
from ..concurrency.functions import spare_cores
from ..copying import NotCopied
from ..errors import ConfigurationError, MissingExtraError
from ..lazy_modules import LazyModule
from ..ports import Clock, ModelCatalogue
from ..registry import Registry
from ..schema.base_error import install_hint, shown
from ..telemetry import Recorder, Records, Subscriber, Subscription, default_recorder
from ..user_folders import config_file_path, exists
from . import option_values

if TYPE_CHECKING:
    from .. import configuration as user_configuration
    from .. import transport
    from ..concurrency.process_pool import ProcessPool
    from ..files import loading
    from ..transport import aiohttp_http, pycurl_http
    from . import key_commands
else:
    aiohttp_http = LazyModule("abstractcore.transport.aiohttp_http")
    pycurl_http = LazyModule("abstractcore.transport.pycurl_http")
    loading = LazyModule("abstractcore.files.loading")
    transport = LazyModule("abstractcore.transport")
    user_configuration = LazyModule("abstractcore.configuration")

_LAST_RECORDS_SECONDS = 2.0
_TRACES_VARIABLE = "ABSTRACTCORE_TRACES"
_log = logging.getLogger("abstractcore.traces")
new_trace_id = partial(secrets.token_hex, 16)
"""Returns 32 hex digits (W3C Trace Context) that no one can guess: a response is found by its id."""

TransportName: TypeAlias = Literal["httpx2", "fast", "aiohttp"]
"""The HTTP stack: httpx2; "fast", which is libcurl for sync calls and aiohttp for async calls; or "aiohttp", which is
httpx2 for sync calls.
"""
_PACKAGES = {"httpx2": (), "fast": ("aiohttp", "pycurl"), "aiohttp": ("aiohttp",)}
"""What each stack needs beside httpx2, which is always installed."""
_NOT_WITH_A_CLIENT = ("transport", "proxy", "verify", "max_connections")


class Services(NotCopied):
    """Clock, ids, random numbers, registry, catalogue, stores, environment, subscribers and connections.

    `random` returns numbers from 0 to 1; `new_id` a trace id of 32 hex digits (W3C Trace Context). The defaults are
    those of this machine. `media_policy` and `media_history` hold for calls that set none for a kind of file, instead
    of those in the user's `config.toml`. It has no locks, which a fork could leave locked forever: if two threads
    create a service at once, one of them is dropped. Raises `ConfigurationError` for an invalid clock.
    """

    _holds = "connections and threads"
    _instead = "Share the object within a process, and make another one in another process."

    def __init__(
        self,
        *,
        registry: Registry | None = None,
        models: ports.ModelStore | None = None,
        environment: Mapping[str, str] | None = None,
        artifacts: ports.ArtifactStore | None = None,
        conversions: ports.ConversionStore | None = None,
        fetcher: ports.Fetcher | None = None,
        isolation: ports.Isolation | None = None,
        stored_files: ports.StoredFileIndex | None = None,
        clock: Clock | None = None,
        random: Callable[[], float] = random.random,
        new_id: Callable[[], str] | None = None,
        catalogue: ModelCatalogue | None = None,
        media_policy: schema.MediaPolicy | Mapping[schema.MediaKind, schema.MediaPolicy] | None = None,
        media_history: schema.MediaHistory | Mapping[schema.MediaKind, schema.MediaHistory] | None = None,
    ) -> None:
        self.clock: Clock = SystemClock() if clock is None else clock
        if not callable(getattr(self.clock, "now", None)):
            raise ConfigurationError(f"clock: expected a Clock, got {type(self.clock).__name__}.")
        self.sync_runtime = SyncRuntime(self.clock)
        self.records = Recorder()
        self.usual_sizes: dict[Any, Any] = {}
        """What budgets have learned about requests of models."""
        self.key_commands: dict[str, key_commands.KeyCommand] = {}
        """The commands of the configuration that have printed keys, by provider."""
        self.random = random
        self.new_id = new_id or new_trace_id
        self.environment: Mapping[str, str] = os.environ if environment is None else environment
        self._async_runtime: concurrency.AsyncRuntime | None = None
        self._keeps_traces = False
        self._registry = registry
        self._models = models
        self._artifacts = artifacts
        self._conversions = conversions
        self._fetcher = fetcher
        self._isolation = isolation
        self._stored_files = stored_files
        self._process_pools: dict[str, ProcessPool] = {}
        self._catalogue = catalogue
        self._media_policy = media_policy if media_policy is None else option_values.media_policy(media_policy)
        self._media_history = media_history if media_history is None else option_values.media_history(media_history)
        self._configuration: user_configuration.Configuration | None = None
        self._sync: dict[transport.TransportSettings, transport.SyncHttpTransport] = {}
        self._async: dict[transport.TransportSettings, transport.AsyncHttpTransport] = {}
        self._pycurl: dict[transport.TransportSettings, pycurl_http.PycurlTransport] = {}
        self._aiohttp: dict[transport.TransportSettings, aiohttp_http.AiohttpTransport] = {}

    @property
    def async_runtime(self) -> concurrency.AsyncRuntime:
        """The runtime of async calls, created on first use: it imports asyncio."""
        if self._async_runtime is None:
            from ..concurrency import AsyncRuntime

            runtime = AsyncRuntime(self.clock)
            self._async_runtime = self._async_runtime or runtime
        return self._async_runtime

    @property
    def registry(self) -> Registry:
        """The registry of plugins, loaded on first use."""
        if self._registry is None:
            registry = Registry.from_entry_points()
            self._registry = self._registry or registry
        return self._registry

    @property
    def models(self) -> ports.ModelStore:
        """The store of model weights."""
        if self._models is None:
            from ..stores.models import PACKAGED_MODELS, FileModelStore

            self._models = FileModelStore(packaged=(*PACKAGED_MODELS, *self.registry.models.values()))
        return self._models

    @property
    def artifacts(self) -> ports.ArtifactStore:
        """The store of blobs of form "artifact"."""
        if self._artifacts is None:
            from ..stores.artifacts import FileArtifactStore

            self._artifacts = FileArtifactStore()
        return self._artifacts

    @property
    def conversions(self) -> ports.ConversionStore:
        """The conversions of files that are kept: in memory, unless another store was given."""
        if self._conversions is None:
            from ..stores.conversions import MemoryConversions

            conversions = MemoryConversions()
            self._conversions = self._conversions or conversions
        return self._conversions

    @property
    def stored_files(self) -> ports.StoredFileIndex:
        """The index of files that were uploaded to providers: in memory, unless another one was given."""
        if self._stored_files is None:
            from ..stores.artifacts import MemoryStoredFiles

            stored_files = MemoryStoredFiles()
            self._stored_files = self._stored_files or stored_files
        return self._stored_files

    @property
    def fetcher(self) -> ports.Fetcher:
        """Downloads files that are given as URLs: from public addresses, unless another fetcher was given."""
        if self._fetcher is None:
            from ..transport import URLFetcher

            fetcher = URLFetcher()
            self._fetcher = self._fetcher or fetcher
        return self._fetcher

    @property
    def isolation(self) -> ports.Isolation:
        """Runs decoders of files in processes of their own: of a pool, which `close` ends, unless another was given."""
        if self._isolation is None:
            from ..concurrency.process_pool import ProcessPool

            return self._process_pools.get("default") or self._process_pools.setdefault("default", ProcessPool())
        return self._isolation

    @property
    def catalogue(self) -> ModelCatalogue:
        """What is known about models: the files of plugins, and the user's own."""
        if self._catalogue is None:
            from ..catalogue import FileCatalogue

            self._catalogue = FileCatalogue(
                lambda: self.registry.catalogues, self.environment, time=self.clock.time_of_day
            )
        return self._catalogue

    @property
    def configuration(self) -> user_configuration.Configuration:
        """What holds for LLMs for which a program sets nothing, read once from the user's `config.toml`; `media_policy`
        and `media_history` as they were given, if they were. Raises `ConfigurationError` with the file, line and column
        of an invalid setting.
        """
        if self._configuration is None:
            found, (path, is_named) = user_configuration.Configuration(), config_file_path(self.environment)
            if is_named or exists(path):
                handlers, providers = self.registry.media_handlers, self.registry.providers
                found = user_configuration.read_configuration(path, handlers, providers)
            given = {"media_policy": self._media_policy, "media_history": self._media_history}
            self._configuration = replace(found, **{name: each for name, each in given.items() if each is not None})
        return self._configuration

    def check_media_policy(self) -> None:
        """Raises `InvalidInputError` for a given policy that is neither a rule nor the name of a fallback."""
        if self._media_policy:
            for kind, policy in self._media_policy.items():
                user_configuration.check_policy(kind, policy, self.registry.media_handlers)

    def keep_traces(self) -> None:
        """Begins to keep traces as the environment's `ABSTRACTCORE_TRACES` says; without it, imports no code of them.

        Raises `ConfigurationError` for another value than "off", "redacted" or "full".
        """
        if self._keeps_traces or self.environment.get(_TRACES_VARIABLE, "off") in ("", "off"):
            return
        self._keeps_traces = True
        try:
            from ..traces.environment import keep_traces
        except MissingExtraError as error:
            _log.warning("%s has no effect: %s", _TRACES_VARIABLE, error)
        else:
            keep_traces(self.environment, self.records)

    @property
    def spare_cores(self) -> int:
        """Returns the physical cores this process may use, minus one for everything else; at least 1."""
        return spare_cores()

    def sync_transport(self, settings: transport.TransportSettings | None = None) -> transport.SyncHttpTransport:
        """Returns the sync transport that all LLMs with these settings share; the defaults hold without any."""
        from ..transport import SyncHttpTransport, TransportSettings

        settings = settings or TransportSettings()
        return self._sync.get(settings) or self._sync.setdefault(settings, SyncHttpTransport(settings))

    def async_transport(self, settings: transport.TransportSettings) -> transport.AsyncHttpTransport:
        """Returns the async transport that all LLMs with these settings share."""
        from ..transport import AsyncHttpTransport

        return self._async.get(settings) or self._async.setdefault(settings, AsyncHttpTransport(settings))

    def pycurl_transport(self, settings: transport.TransportSettings) -> pycurl_http.PycurlTransport:
        """Returns the sync transport on libcurl."""
        from ..transport.pycurl_http import PycurlTransport

        return self._pycurl.get(settings) or self._pycurl.setdefault(settings, PycurlTransport(settings))

    def aiohttp_transport(self, settings: transport.TransportSettings) -> aiohttp_http.AiohttpTransport:
        """Returns the async transport on aiohttp."""
        from ..transport.aiohttp_http import AiohttpTransport

        return self._aiohttp.get(settings) or self._aiohttp.setdefault(settings, AiohttpTransport(settings))

    def media_type(self, item: loading.MediaInput) -> str:
        """Returns the type of an item of `media=[...]`, by its content, its name or as it is declared.

        Raises `MediaError` for an unusable file, `InvalidInputError` for a value that is not a file.
        """
        loader = loading.MediaLoader(self.registry.media_handlers, self.fetcher, lambda digest, password: None)
        return loader.load_one(item, "file").blob.media_type

    def extract_text(self, item: loading.MediaInput) -> str:
        """Returns the text of an item of `media=[...]` as it is read on this machine: of a recording, its transcript.

        Raises `MediaError` for a file without text that can be read, and as `media_type` does. Blocks.
        """
        from ..files.extraction import extract_text

        handlers = self.registry.media_handlers
        part = loading.MediaLoader(handlers, self.fetcher, lambda digest, password: None).load_one(item, "file")
        context = ports.MediaContext(self.models, {}, self.spare_cores, isolation=self.isolation)
        return extract_text(part, handlers, context, lambda digest: self.artifacts.get(digest)).text

    @staticmethod
    def estimate_tokens(call: schema.ModelCall) -> schema.TokenCount:
        """Returns an estimate of the input tokens of a call, as `LLM.estimate_tokens`, for an unknown model."""
        from ..files.token_estimates import estimated_tokens

        return estimated_tokens(call)

    def close(self) -> None:
        """Close the idle connections of sync code, and end the processes that decode files; connections of event loops
        close with their loop.

        Async functions that sync code waits for are cancelled. Subscribers to records have two seconds to be
        notified of the last calls.
        """
        self.sync_runtime.close()
        for pool in self._process_pools.values():
            pool.close()
        self.records.close(_LAST_RECORDS_SECONDS)
        for transport in [*self._sync.values(), *self._pycurl.values()]:
            transport.close_now()

    async def close_connections(self) -> None:
        """Closes the connections of the running event loop; further calls open new ones."""
        for transport in [*self._async.values(), *self._aiohttp.values()]:
            await transport.close()


class Connections(NamedTuple):
    """Functions that return the sync and the async transport, called when needed."""

    sync: Callable[[], ports.Transport]
    asynchronous: Callable[[], ports.Transport]


def connections(given: Mapping[str, Any], services: Services, own_process: bool = False) -> Connections:
    """Returns the connections of an LLM with these options, to a child process or to a server; raises
    `ConfigurationError` for invalid options.
    """
    client = given.get("http_client")
    if client is None:
        return _shared_connections(given, services, own_process)
    for name in _NOT_WITH_A_CLIENT:
        if name in given:
            hint = "Configure the client instead, and leave the option out."
            raise ConfigurationError(f"`{name}` has no effect together with `http_client`.", hint=hint)
    sync, asynchronous = transport.client_transports(client)
    return Connections(lambda: sync, lambda: asynchronous)


def _shared_connections(given: Mapping[str, Any], services: Services, own_process: bool) -> Connections:
    options: dict[str, Any] = {name: given[name] for name in ("proxy", "verify") if name in given}
    if "max_connections" in given:
        most = option_values.at_least_one(given["max_connections"], "max_connections")
        options |= {"max_connections": most, "max_idle_connections": most}
    settings = transport.TransportSettings(**options, environment_proxies=not own_process)
    name = _transport_name(given)
    if name == "httpx2":
        return Connections(partial(services.sync_transport, settings), partial(services.async_transport, settings))
    transport.http_only(settings.proxy)
    sync = services.pycurl_transport if name == "fast" else services.sync_transport
    return Connections(partial(sync, settings), partial(services.aiohttp_transport, settings))


def _transport_name(given: Mapping[str, Any]) -> TransportName:
    name = given.get("transport", "httpx2")
    if not isinstance(name, str) or name not in _PACKAGES:
        raise ConfigurationError(f"unknown transport {shown(name)}.", hint="Use 'httpx2', 'fast' or 'aiohttp'.")
    missing = [package for package in _PACKAGES[name] if find_spec(package) is None]
    if missing:
        message = f"transport={name!r} requires {' and '.join(missing)}, which is not installed."
        raise MissingExtraError(message, hint=install_hint(*missing, extra="fast"))
    return cast(TransportName, name)


_shared: dict[str, Services] = {}


def default_services() -> Services:
    """Returns the services of LLMs created without any: one object per process, closed at exit."""
    services = _shared.get("default")
    if services is None:
        new = Services()
        new.records = default_recorder()
        services = _shared.setdefault(
            "default", new
        )  # the first of several threads wins, which `cache` does not ensure
        if services is new:
            atexit.register(services.close)
    return services


def subscribe(subscriber: Subscriber, capture: schema.Capture = "off", records: Records = "calls") -> Subscription:
    """Notifies `subscriber`, a function or a coroutine function, of every call from now on with a `CallRecord`.

    With `records="all"` it also gets an `InteractionRecord` of each interaction of several calls, such as a loop of
    tools, and a `ToolRecord` of each tool run. `parent_id` of each record then names another one.

    It is called when the call has ended, also if it failed, was cancelled or abandoned, in a separate thread: its
    exceptions are logged, and it does not block calls. `capture` sets how much content the records hold. Up to 10,000
    records and 64 MiB of content are queued for a slow subscriber; `dropped` counts the records lost beyond that.

    A subscriber may call models. It is not notified of calls that it makes itself, including those in its tasks and
    in `asyncio.to_thread`, nor of calls that other subscribers make because of them. A new thread starts without
    context variables (see `context`): run your function in it with `contextvars.copy_context().run`, or use an LLM
    with separate `services`; otherwise the subscriber is notified of its calls.

    Applies to LLMs created without `services`; for others use `services.records.subscribe`. Raises
    `InvalidInputError` if `subscriber` is not callable, and for another value of `capture` or `records`.
    """
    return default_services().records.subscribe(subscriber, capture, records)
