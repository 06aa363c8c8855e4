"""The bodies of records as bytes: large values are stored apart, by their hash, and come back on read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..json_documents import JSON, canonical, canonical_around, check, digest, member, parsed

LARGE: Final = 4096
"""A value with more bytes of JSON is stored apart."""
_MARK: Final = "$artifact"
_PLACES: Final = (("item", "payload"), ("effect", "payload"), ("output",), ("result", "value"), ("entry",), ("error",))
"""Where bodies have values of the user's."""


def encoded(body: dict[str, JSON]) -> tuple[bytes, list[tuple[str, bytes]]]:
    """Returns the bytes of a body, and the values that are stored apart, by their hash."""
    is_marked = False
    for place in _PLACES:
        value: Any = body
        for name in place:
            value = member(value, name)
        if isinstance(value, list | tuple | dict | str):
            check(value, ".".join(place))
            is_marked |= isinstance(value, dict) and _MARK in value
    data = canonical_around(body, "body")
    return (data, []) if len(data) <= LARGE and not is_marked else _shortened(body)


def _shortened(body: dict[str, JSON]) -> tuple[bytes, list[tuple[str, bytes]]]:
    """Returns the bytes of a body without its large values, and these."""
    apart: list[tuple[str, bytes]] = []
    shortened = dict(body)
    for place in _PLACES:
        holder: Any = shortened
        for name in place[:-1]:
            if isinstance(holder.get(name), dict):
                holder[name] = dict(holder[name])
            holder = holder.get(name) or {}
        value: Any = holder.get(place[-1])
        if isinstance(value, str | list | tuple | dict):
            data = canonical(value, ".".join(place))
            if len(data) > LARGE or (isinstance(value, dict) and _MARK in value):
                apart.append((digest(data), data))
                holder[place[-1]] = {_MARK: digest(data), "bytes": len(data)}
    return canonical_around(shortened, "body"), apart


def decoded(data: bytes, artifact: Callable[[str], bytes | None]) -> JSON:
    """Returns the body of a record; `artifact` returns a value that is stored apart, None without it.

    Raises `ValueError` for invalid JSON, and for a value that is missing or does not fit its hash.
    """
    body = parsed(data)
    for holder, name in _marked(body):
        sha256 = holder[name][_MARK]
        found = artifact(sha256)
        if found is None:
            raise ValueError(f"the value {sha256} is missing")
        if digest(found) != sha256:
            raise ValueError(f"the value {sha256} does not fit its hash")
        holder[name] = parsed(found)
    return body


def artifact_hashes(body: JSON) -> Sequence[str]:
    """Returns the hashes of the values of a stored body that are stored apart."""
    return [holder[name][_MARK] for holder, name in _marked(body)]


def _marked(body: Any) -> list[tuple[Any, str]]:
    found: list[tuple[Any, str]] = []
    for place in _PLACES:
        holder = body
        for name in place[:-1]:
            holder = member(holder, name)
        if member(member(holder, place[-1]), _MARK) is not None:
            found.append((holder, place[-1]))
    return found
