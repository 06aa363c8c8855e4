"""Output of the server side of transpilers: a request read as a call, a reply written as a body."""

from __future__ import annotations

from dataclasses import dataclass

from .call_warnings import CallWarning
from .calls import ModelCall
from .immutable import Immutable


@dataclass(frozen=True, slots=True)
class Parsed(Immutable):
    """A client's request decoded as a call (server side)."""

    call: ModelCall
    warnings: tuple[CallWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Rendered(Immutable):
    """A reply encoded as the body of a response (server side)."""

    body: bytes
    warnings: tuple[CallWarning, ...] = ()
