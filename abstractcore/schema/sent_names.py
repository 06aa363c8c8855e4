"""`SentNames`: names that a request has in place of those that its provider refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .frozen_json import EMPTY, freeze_object
from .immutable import Immutable


@dataclass(frozen=True, slots=True)
class SentNames(Immutable):
    """The names that a request has in place of a call's own, each with the call's own name.

    `tools` has names of tools. `arguments` has, by the name of a tool in the request, names of properties of its
    arguments, and `output` those of the typed answer.
    """

    tools: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    arguments: Mapping[str, Mapping[str, str]] = EMPTY  # pyright: ignore[reportAssignmentType]
    output: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    def __post_init__(self) -> None:
        for name in ("tools", "arguments", "output"):
            object.__setattr__(self, name, freeze_object(getattr(self, name), name))
