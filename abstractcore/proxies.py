"""Which proxy a URL is reached through, by HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY: for every client here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

_VARIABLES = tuple(
    name for kind in ("http", "https", "all", "no") for name in (f"{kind}_proxy", f"{kind.upper()}_PROXY")
)
_NO_PROXY = "no"
_PORTS = {"http": 80, "https": 443}
_SECURE = {"ws": "http", "wss": "https"}
"""The schemes by which a WebSocket connection is opened."""
_SEPARATORS = re.compile(r"[,\s]+")
_PORT = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*):(?P<port>[0-9]{1,5})")


def environment_proxies() -> tuple[tuple[str, str], ...]:
    """Returns proxies by scheme, and NO_PROXY as "no". Searching the environment takes as long as everything else in
    `create_llm`, so it is searched again only if a variable has changed. macOS and Windows also have system settings.
    """
    import urllib.request

    if urllib.request.getproxies is not urllib.request.getproxies_environment:
        return tuple(sorted(urllib.request.getproxies().items()))
    return _proxies_where(*map(os.environ.get, _VARIABLES))


@lru_cache(maxsize=8)
def _proxies_where(*variables: str | None) -> tuple[tuple[str, str], ...]:
    """Returns the proxies of the current environment; `variables` are the key of the cache."""
    import urllib.request

    return tuple(sorted(urllib.request.getproxies().items()))


def environment_proxy(url: str) -> str | None:
    """Returns the URL of the environment's proxy for a URL of HTTP or WebSocket; None if it is reached directly."""
    proxy = proxy_of(url, dict(environment_proxies()))
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def proxy_of(url: str, proxies: Mapping[str, str]) -> str | None:
    """Returns the proxy for `url` among `proxies`, as `environment_proxies` returns them."""
    parts = urlsplit(url)
    scheme = _SECURE.get(parts.scheme, parts.scheme)
    proxy = proxies.get(parts.scheme) or proxies.get(scheme) or proxies.get("all")
    if not proxy or parts.hostname is None:
        return proxy or None
    if _NO_PROXY in proxies:
        return None if is_excepted(parts.hostname, parts.port or _PORTS.get(scheme), proxies[_NO_PROXY]) else proxy
    return None if _system_excepts(parts.netloc) else proxy


def _system_excepts(netloc: str) -> bool:
    import urllib.request

    return bool(urllib.request.proxy_bypass(netloc))


def is_excepted(host: str, port: int | None, no_proxy: str) -> bool:
    """Returns whether a host is reached without a proxy, by the value of NO_PROXY: names, which stand for their
    subdomains too, addresses and networks, such as 10.0.0.0/8 and fd00::/8, each with a port or without, or *.
    """
    host = host.lower().rstrip(".")
    address = _address(host)
    for entry in filter(None, _SEPARATORS.split(no_proxy.lower())):
        if entry == "*":
            return True
        with_port = _PORT.fullmatch(entry)
        if with_port is not None and int(with_port["port"]) != port:
            continue
        name = with_port["host"] if with_port is not None else entry
        if address is not None and _is_in(address, name):
            return True
        name = name.removeprefix("*").strip(".")
        if address is None and name and (host == name or host.endswith(f".{name}")):
            return True
    return False


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """Returns the address that a host is written as; None for a name. An IPv4 address in IPv6 is that of IPv4."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _is_in(address: IPv4Address | IPv6Address, entry: str) -> bool:
    """Returns whether an address is the one, or in the network, of an entry; False for one that is neither."""
    try:
        return address in ip_network(entry.replace("[", "").replace("]", ""), strict=False)
    except ValueError:
        return False
