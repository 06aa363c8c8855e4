"""`ModelEntry`: what the catalogue knows about a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from ..ports import ModelProfile
from .facts import Facts

Match = Literal["model", "family", "unknown"]


class ModelEntry(NamedTuple):
    """What the catalogue knows about a model of a provider.

    `match` is how it was found: by its own row, by that of its family, or not at all. `name` is the name in that row,
    empty without one. `facts` are the fields of `profile` as JSON values; `own_facts` names those that are
    from the user's file, with "prices" if these are. `prices` are as in the file.
    """

    provider: str
    name: str
    match: Match
    facts: Facts
    profile: ModelProfile
    own_facts: frozenset[str] = frozenset()
    prices: Sequence[Any] = ()
