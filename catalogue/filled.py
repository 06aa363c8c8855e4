"""Facts that hand-kept rows do not state, from `sources/model_facts.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rows import ProviderRows, Row, resolved

_TAKEN = ("context_tokens", "retires")
"""The longest output is none of them: it would reduce what a call asks for, and needs the vendor's page."""


@dataclass(frozen=True)
class Taken:
    """The facts of a hand-kept row that are from model_facts, since the row does not state them."""

    provider: str
    model: str
    facts: Row


def taken(provider: str, rows: ProviderRows, listed: Mapping[str, Row]) -> list[Taken]:
    """Returns contexts and dates of retirement that hand-kept rows do not state; one that states null has the fact."""
    found: list[Taken] = []
    for model, row in sorted(rows.models.items()):
        if "alias_of" in row or model not in listed:
            continue
        ours = resolved(row, rows.templates)
        facts = {name: listed[model][name] for name in _TAKEN if name in listed[model] and name not in ours}
        if facts:
            found.append(Taken(provider, model, facts))
    return found


def same_model(model: str, rows: ProviderRows, listed: Mapping[str, Row]) -> str | None:
    """Returns the hand-kept row that an id is another name of: the id without "-latest", or with "-" for ".", if
    model_facts says the same of both.
    """
    others = (model.removesuffix("-latest"), model.replace(".", "-"))
    return next(
        (name for name in others if name != model and name in rows.models and listed.get(name) == listed[model]), None
    )
