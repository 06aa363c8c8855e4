"""Input and output of transpilers: HTTP requests and responses as data, and calls before they are encoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .. import schema
from .call_warnings import CallWarning
from .calls import ModelCall, ToolSearch
from .frozen_json import freeze_object
from .immutable import Immutable
from .reprs import ShortRepr

ENCODINGS = ("gzip", "deflate")
"""The values of `Accept-Encoding` in requests, and the `Content-Encoding` that responses may have."""


@dataclass(frozen=True, slots=True)
class WireRequest(Immutable):
    """An HTTP request. A transpiler sets a path (`/chat/completions`); the engine adds the URL of the endpoint.

    Header names are lower-case. Headers hold credentials, so the repr hides them.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes
    method: str = "POST"

    def __post_init__(self) -> None:
        object.__setattr__(self, "headers", freeze_object(self.headers, "headers"))

    def with_url(self, url: str) -> WireRequest:
        """Returns the request with another URL."""
        return WireRequest(url, self.headers, self.body, self.method)

    def with_headers(self, headers: Mapping[str, str]) -> WireRequest:
        """Returns the request with `headers` added; they replace headers of the same name."""
        return WireRequest(self.url, {**self.headers, **headers}, self.body, self.method)


@dataclass(frozen=True, slots=True)
class WireResponse(ShortRepr):
    """A complete HTTP response; header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def unexpected_encoding(headers: Mapping[str, str]) -> str | None:
    """Returns the `Content-Encoding` of a response unless it is one of `ENCODINGS`, applied once: a kilobyte that is
    compressed twice can fill the memory.
    """
    encoding = headers.get("content-encoding", "").strip()
    return None if encoding.lower() in ("", "identity", *ENCODINGS) else encoding


@dataclass(frozen=True, slots=True)
class Encoded(Immutable):
    """A call encoded as a request, with a warning for everything that the format cannot express. `names` are those that
    it has in place of the call's own, which are restored in the reply; None if it has all of them.
    """

    request: WireRequest
    warnings: tuple[CallWarning, ...] = ()
    names: schema.SentNames | None = None


@dataclass(frozen=True, slots=True)
class Lowered(Immutable):
    """A lowered call (adapted to the model), with the decision for each file. `reading` is None for replies that are
    read as they are; `tool_search` is where deferred tools are searched, None if there are none.
    """

    call: ModelCall
    decisions: tuple[schema.MediaDecision, ...] = ()
    warnings: tuple[CallWarning, ...] = ()
    reading: schema.ReplyReading | None = None
    tool_search: ToolSearch | None = None
