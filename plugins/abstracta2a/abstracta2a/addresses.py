"""`AgentAddress`: where an agent's card is, and the origins that requests may go to."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from urllib.parse import SplitResult, unquote, urlsplit

from abstractcore import ConfigurationError, InvalidInputError
from abstractcore.toolservers import cleaned_name, shown

if TYPE_CHECKING:
    from a2a.types import AgentCard

WELL_KNOWN_PATH = "/.well-known/agent-card.json"
"""https://a2a-protocol.org/latest/specification/, "Agent Discovery"."""
MOST_CARD_BYTES = 1024 * 1024
_PORTS = {"http": 80, "https": 443}
_HINT = "For example A2AAgent('https://agent.example') or A2AAgent(card='agent-card.json')."

Origin: TypeAlias = tuple[str, str, int]
"""Scheme, host and port."""


def origin_of(url: str) -> Origin | None:
    """Returns the origin of an http or https URL; None for other texts."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port or _PORTS[parts.scheme]


@dataclass(frozen=True, slots=True)
class AgentAddress:
    """The URL of a card, or a given card as JSON; `origins` are those that requests may go to.

    `user` is the name and password of the URL, which `card_url` lacks.
    """

    name: str
    card_url: str | None
    card: Mapping[str, Any] | None = field(repr=False)
    origins: frozenset[Origin]
    user: tuple[str, str] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, url: object, card: object, origins: object) -> AgentAddress:
        """Returns an address.

        Raises `InvalidInputError` for arguments of other types, or that do not fit together, and `ConfigurationError`
        for a file without a card.
        """
        if (url is None) == (card is None):
            given = "none" if url is None else "both"
            raise InvalidInputError(f"expected either url or card, got {given}", path="A2AAgent", hint=_HINT)
        if isinstance(origins, str) or not isinstance(origins, Sequence):
            raise InvalidInputError(f"expected a list of URLs, got {shown(origins)}", path="origins")
        further = {_origin(each, f"origins[{index}]") for index, each in enumerate(cast("Sequence[object]", origins))}
        if url is not None:
            origin = _origin(url, "url")
            parts = urlsplit(cast(str, url))
            user = (unquote(parts.username or ""), unquote(parts.password or "")) if "@" in parts.netloc else None
            return cls(origin[1], _card_url(parts), None, frozenset({origin, *further}), user)
        content = _card(card)
        own = {origin for each in _urls(content) if (origin := origin_of(each)) is not None}
        name = content.get("name")
        shown_name = cleaned_name(name[:100]) if isinstance(name, str) else ""
        return cls(shown_name or "agent", None, content, frozenset({*own, *further}))


def _origin(url: object, path: str) -> Origin:
    origin = origin_of(url) if isinstance(url, str) else None
    if origin is None:
        what = "a path" if isinstance(url, str) and Path(url).suffix == ".json" else type(url).__name__
        raise InvalidInputError(f"expected an http or https URL, got {what}", path=path, hint=_HINT)
    return origin


def _card_url(parts: SplitResult) -> str:
    """Returns the URL of the card of an agent at an address, which may be that of the card."""
    path = parts.path if parts.path.endswith(".json") else parts.path.rstrip("/") + WELL_KNOWN_PATH
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], path=path, fragment="").geturl()


def _card(given: object) -> Mapping[str, Any]:
    if isinstance(given, str | os.PathLike):
        return _of_file(Path(cast("str | os.PathLike[str]", given)))
    if isinstance(given, Mapping):
        return dict(cast("Mapping[str, Any]", given))
    if hasattr(given, "DESCRIPTOR") and hasattr(given, "supported_interfaces"):
        from google.protobuf.json_format import MessageToDict

        return MessageToDict(cast("AgentCard", given))
    raise InvalidInputError(f"expected a path, a mapping or an AgentCard, got {shown(given)}", path="card", hint=_HINT)


def _of_file(file: Path) -> Mapping[str, Any]:
    try:
        if file.stat().st_size > MOST_CARD_BYTES:
            raise ConfigurationError(f"{file} has more than {MOST_CARD_BYTES:,} bytes: it is not an agent card.")
        content: Any = json.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror or type(error).__name__}.") from None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file} is not JSON: {error}.") from None
    if not isinstance(content, dict):
        raise ConfigurationError(f"{file} is not an agent card: expected an object.")
    return cast("dict[str, Any]", content)


def _urls(card: Mapping[str, Any]) -> list[str]:
    """Returns the URLs of a card's interfaces, of both versions of the protocol."""
    listed = [card.get(key) for key in ("supportedInterfaces", "additionalInterfaces")]
    interfaces = [each for items in listed if isinstance(items, list) for each in cast("list[Any]", items)]
    found = [card, *(cast("dict[str, Any]", each) for each in interfaces if isinstance(each, dict))]
    return [url for each in found if isinstance(url := each.get("url"), str)]
