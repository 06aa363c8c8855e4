"""`Hosts`: by which names the server may be reached. A web page can make a browser connect here under another name."""

from __future__ import annotations

from collections.abc import Sequence

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Hosts:
    """Checks the header `Host`: it must be an allowed name, with any port."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(map(_as_in_url, (*_LOOPBACK, *names)))

    def allows(self, host: str) -> bool:
        """Whether a request with this `Host` is answered."""
        name, colon, port = host.rpartition(":")
        if not colon or not port.isdecimal():
            name = host
        return name.lower().rstrip(".") in self._names


def _as_in_url(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host.lower()
