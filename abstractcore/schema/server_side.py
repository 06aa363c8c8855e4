"""What the server side of transpilers returns: a client's request as a call, and a reply as the body of a response.

A module of its own, so that a program that only calls models does without it.
"""

from __future__ import annotations

from dataclasses import dataclass

from .calls import ModelCall
from .replies import CallWarning
from .reprs import Immutable


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
