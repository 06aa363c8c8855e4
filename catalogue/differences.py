"""Differences between the sources of the catalogue, as a page to read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from filled import Taken
from snapshots import Snapshot


@dataclass(frozen=True)
class Difference:
    """A field on which a hand-kept row and another source do not agree; the row wins, for what its `source` says."""

    provider: str
    model: str
    field: str
    ours: object
    theirs: object
    source: str


def report(differences: Sequence[Difference], snapshots: Sequence[Snapshot], taken: Sequence[Taken]) -> str:
    """Returns the page: a line a difference, a dated snapshot, and a row with facts that are from model_facts."""
    lines = [
        "# Differences between the sources",
        "",
        "Written by `catalogue/build.py`. Where the sources do not agree, the hand-kept row wins, after the page that",
        "it names; `model_facts` is as of its date in `sources/README.md`.",
        "",
        "| provider | model | field | row (taken) | model_facts | source of the row |",
        "|---|---|---|---|---|---|",
    ]
    for each in differences:
        values = (each.provider, each.model, each.field, each.ours, each.theirs, each.source)
        lines.append(f"| {' | '.join(str(value).replace('|', '/') for value in values)} |")
    lines += [
        "",
        "## Dated snapshots",
        "",
        "What a source says of a dated snapshot and not of the model without the date: these have a row of their own.",
        "",
        "| provider | snapshot | model | field | of the model | of the snapshot |",
        "|---|---|---|---|---|---|",
    ]
    for each in snapshots:
        for field, values in each.differences.items():
            lines.append(f"| {' | '.join((each.provider, each.model, each.base, field, *map(_text, values)))} |")
    lines += [
        "",
        "## Facts that a hand-kept row does not state",
        "",
        "They are from model_facts. A row that should have none of them states null.",
        "",
        "| provider | model | taken from model_facts |",
        "|---|---|---|",
    ]
    for each in taken:
        facts = ", ".join(f"{name} {value}" for name, value in each.facts.items())
        lines.append(f"| {each.provider} | {each.model} | {facts} |")
    return "\n".join(lines) + "\n"


def _text(value: object) -> str:
    return json.dumps(value).replace("|", "/")
