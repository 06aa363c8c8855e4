"""Everything a call needs from its surroundings, in one object that can be put together differently."""

from __future__ import annotations

import atexit
import os
import random
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from .cores import spare_cores
from .ports import ModelStore
from .registry import Registry

if TYPE_CHECKING:
    from .transport import AsyncHttpTransport, SyncHttpTransport, TransportSettings


class Services:
    """Clock, ids, chance, registry, model store, environment and connections.

    `time_of_day` gives seconds since the epoch; `random` numbers from 0 to 1; `new_id` a new trace id of 32 hex
    digits (W3C Trace Context). What is not given is the real thing. There are no locks in it, which a fork could leave
    locked for ever: what two threads make at once, one of them throws away.
    """

    def __init__(
        self,
        *,
        registry: Registry | None = None,
        models: ModelStore | None = None,
        environment: Mapping[str, str] | None = None,
        time_of_day: Callable[[], float] = time.time,
        random: Callable[[], float] = random.random,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self.time_of_day = time_of_day
        self.random = random
        self.new_id = new_id or _trace_id
        self.environment: Mapping[str, str] = os.environ if environment is None else environment
        self._registry = registry
        self._models = models
        self._sync: dict[TransportSettings, SyncHttpTransport] = {}
        self._async: dict[TransportSettings, AsyncHttpTransport] = {}

    @property
    def registry(self) -> Registry:
        """What plugins registered; collected when first asked for."""
        if self._registry is None:
            registry = Registry.from_entry_points()
            self._registry = self._registry or registry
        return self._registry

    @property
    def models(self) -> ModelStore:
        """The weights on this machine."""
        if self._models is None:
            from .model_store import FileModelStore

            self._models = FileModelStore()
        return self._models

    @property
    def spare_cores(self) -> int:
        """Physical cores this process may use, minus one for everything else; at least one."""
        return spare_cores()

    def sync_transport(self, settings: TransportSettings) -> SyncHttpTransport:
        """The sync transport that all LLMs with these settings share."""
        from .transport import SyncHttpTransport

        return self._sync.get(settings) or self._sync.setdefault(settings, SyncHttpTransport(settings))

    def async_transport(self, settings: TransportSettings) -> AsyncHttpTransport:
        """The async transport that all LLMs with these settings share."""
        from .transport import AsyncHttpTransport

        return self._async.get(settings) or self._async.setdefault(settings, AsyncHttpTransport(settings))

    def close(self) -> None:
        """Close the idle connections of sync code; those of event loops close with their loop."""
        for transport in list(self._sync.values()):
            transport.close_now()


def _trace_id() -> str:
    return f"{random.getrandbits(128):032x}"


@cache
def default_services() -> Services:
    """The services of LLMs that are given none: one set a process, closed at its end."""
    services = Services()
    atexit.register(services.close)
    return services
