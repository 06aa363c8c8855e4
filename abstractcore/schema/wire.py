"""What transpilers read and write: HTTP requests and responses as data, and the results of each operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .call_warnings import CallWarning
from .calls import ModelCall
from .frozen_json import freeze_object
from .immutable import Immutable
from .reprs import ShortRepr
from .responses import MediaDecision

ENCODINGS = ("gzip", "deflate")
"""The encodings of a response's body (`Content-Encoding`) that requests ask for."""


@dataclass(frozen=True, slots=True)
class WireRequest(Immutable):
    """An HTTP request. A transpiler gives a path (`/chat/completions`); the engine puts the endpoint's URL before it.

    Header names are lower-case. Headers hold keys, so they are not shown.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes
    method: str = "POST"

    def __post_init__(self) -> None:
        object.__setattr__(self, "headers", freeze_object(self.headers, "headers"))

    def with_url(self, url: str) -> WireRequest:
        """The same request to another URL."""
        return WireRequest(url, self.headers, self.body, self.method)

    def with_headers(self, headers: Mapping[str, str]) -> WireRequest:
        """The request with `headers` added over its own."""
        return WireRequest(self.url, {**self.headers, **headers}, self.body, self.method)


@dataclass(frozen=True, slots=True)
class WireResponse(ShortRepr):
    """A whole HTTP response; header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def unexpected_encoding(headers: Mapping[str, str]) -> str | None:
    """The `Content-Encoding` of a response if it is not one that was asked for, once: a kilobyte compressed twice can
    fill the memory.
    """
    encoding = headers.get("content-encoding", "").strip()
    return None if encoding.lower() in ("", "identity", *ENCODINGS) else encoding


@dataclass(frozen=True, slots=True)
class Encoded(Immutable):
    """A call as a request, with every loss named."""

    request: WireRequest
    warnings: tuple[CallWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Lowered(Immutable):
    """A call after the model-dependent choices, with what was decided for each file."""

    call: ModelCall
    decisions: tuple[MediaDecision, ...] = ()
    warnings: tuple[CallWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed(Immutable):
    """A client's request as a call (server side)."""

    call: ModelCall
    warnings: tuple[CallWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Rendered(Immutable):
    """A reply as a response's body (server side)."""

    body: bytes
    warnings: tuple[CallWarning, ...] = ()
