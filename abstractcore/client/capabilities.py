"""The capabilities of an LLM: objects that capability plugins create."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import RLock
from typing import Any

from ..errors import InvalidInputError
from ..ports import CapabilityServices
from ..registry import Registry, failures_of


class Capabilities:
    """The capabilities of one LLM, each created on first use with its options; requests of backends are retried
    `max_retries` times.
    """

    def __init__(
        self, registry: Registry, services: CapabilityServices, options: Mapping[str, Any], max_retries: int
    ) -> None:
        self._registry = registry
        self._services = services
        self.options = options
        self.max_retries = max_retries
        self._made: dict[str, Any] = {}
        self._locks: dict[int, RLock] = {}

    def get(self, name: str) -> Any:
        """Returns the object; raises `UnknownCapabilityError`, `PluginError`, and errors of the capability."""
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a capability's name, got {type(name).__name__}", path="name")
        if name not in self._made:
            # By process: a forked one has a copy of the lock, but not of the thread that may hold it.
            with self._locks.setdefault(os.getpid(), RLock()):
                if name not in self._made:
                    self._made.setdefault(name, self._connect(name))
        return self._made[name]

    def _connect(self, name: str) -> Any:
        capability = self._registry.capability(name)
        options = {option: value for option, value in self.options.items() if option.startswith(f"{name}_")}
        with failures_of(f"the capability {name!r} ({self._registry.owner('capability', name)})"):
            return capability.connect(options, self._services)
