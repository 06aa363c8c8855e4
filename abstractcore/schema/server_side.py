"""What the server side of transpilers returns: a client's request as a call or another input, and a result as
the body of a response.

A module of its own, so that a program that only calls models does without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from .calls import ModelCall
from .replies import CallWarning
from .reprs import Immutable

Input = TypeVar("Input")


@dataclass(frozen=True, slots=True)
class Parsed(Immutable):
    """A client's request decoded as a call (server side)."""

    call: ModelCall
    warnings: tuple[CallWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedInput(Immutable, Generic[Input]):
    """A client's request for another operation than chat, decoded as its input (server side)."""

    input: Input
    warnings: tuple[CallWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Rendered(Immutable):
    """A reply, or another result, encoded as the body of a response (server side)."""

    body: bytes
    warnings: tuple[CallWarning, ...] = ()
