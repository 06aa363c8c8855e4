"""Chooses the transports of an LLM from the options of `create_llm`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from ..errors import ConfigurationError, MissingExtraError
from ..ports import Transport
from ..schema.install_hints import install_hint
from ..schema.quoting import shown
from ..transport import TransportSettings, http_only
from .option_values import at_least_one
from .services import Services

TransportName: TypeAlias = Literal["httpx2", "fast", "aiohttp"]
"""The HTTP stack: httpx2; "fast", which is libcurl for sync calls and aiohttp for async calls; or "aiohttp", which is
httpx2 for sync calls.
"""
_PACKAGES = {"httpx2": (), "fast": ("aiohttp", "pycurl"), "aiohttp": ("aiohttp",)}
"""What each stack needs beside httpx2, which is always installed."""
_NOT_WITH_A_CLIENT = ("transport", "proxy", "verify", "max_connections")


class Connections(NamedTuple):
    """Functions that return the sync and the async transport, called when needed."""

    sync: Callable[[], Transport]
    asynchronous: Callable[[], Transport]


def connections(given: Mapping[str, Any], services: Services, own_process: bool = False) -> Connections:
    """Returns the connections of an LLM with these options, to a child process or to a server; raises
    `ConfigurationError` for invalid options.
    """
    client = given.get("http_client")
    if client is None:
        return _shared(given, services, own_process)
    for name in _NOT_WITH_A_CLIENT:
        if name in given:
            hint = "Configure the client instead, and leave the option out."
            raise ConfigurationError(f"`{name}` has no effect together with `http_client`.", hint=hint)
    from ..transport import client_transports

    sync, asynchronous = client_transports(client)
    return Connections(lambda: sync, lambda: asynchronous)


def _shared(given: Mapping[str, Any], services: Services, own_process: bool) -> Connections:
    options: dict[str, Any] = {name: given[name] for name in ("proxy", "verify") if name in given}
    if "max_connections" in given:
        most = at_least_one(given["max_connections"], "max_connections")
        options |= {"max_connections": most, "max_idle_connections": most}
    settings = TransportSettings(**options, environment_proxies=not own_process)
    name = _transport_name(given)
    if name == "httpx2":
        return Connections(partial(services.sync_transport, settings), partial(services.async_transport, settings))
    http_only(settings.proxy)
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
