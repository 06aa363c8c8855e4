"""The rows of the catalogue's files, read without the code that makes profiles of them."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import abstractcore_providers

FOLDER = Path(abstractcore_providers.__file__).parent / "catalogue"


@cache
def rows(provider: str) -> Mapping[str, Mapping[str, Any]]:
    """The facts of each model of a provider, by its id: those of all models, of its templates, and its own."""
    header, *lines = map(json.loads, (FOLDER / f"{provider}.jsonl").read_text(encoding="utf-8").splitlines())
    return {line["model"]: _resolved(line, header) for line in lines if "model" in line and "alias_of" not in line}


def _resolved(row: Mapping[str, Any], header: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = dict(header.get("every", {}))
    for name in row.get("like", ()):
        facts = _merged(facts, _resolved(header["templates"][name], header))
    return _merged(facts, row)


def _merged(facts: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    both = {**facts, **more}
    for name in ("thinking", "settings"):
        if isinstance(facts.get(name), dict) and isinstance(more.get(name), dict):
            both[name] = {**facts[name], **more[name]}
    return both
