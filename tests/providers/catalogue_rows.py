"""The rows of the catalogue as they stand in the files, for tests that do not want to read them as the code does."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import abstractcore_providers

FOLDER = Path(abstractcore_providers.__file__).parent / "catalogue"
PROVIDERS = sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def header(provider: str) -> dict[str, Any]:
    """The header of a provider's file, which is an object on several lines."""
    joined: dict[str, Any] = {"sources": {}, "templates": {}}
    for line in lines(provider):
        for name, value in line.items() if "model" not in line and "family" not in line else ():
            joined[name] = {**joined[name], **value} if name in ("sources", "templates") else value
    return joined


@cache
def rows(provider: str) -> Mapping[str, Mapping[str, Any]]:
    """The rows by the id of the model: those that are not aliases, with the fields of their templates."""
    first = header(provider)
    templates = first["templates"]
    joined = {
        row["model"]: _joined(_joined(first.get("every", {}), _of_templates(row, templates)), row)
        for row in lines(provider)
        if "model" in row and "alias_of" not in row
    }
    return MappingProxyType({model: MappingProxyType(row) for model, row in joined.items()})


def models(provider: str) -> list[str]:
    """The names of the provider's models, aliases too."""
    return [row["model"] for row in lines(provider) if "model" in row]


def lines(provider: str) -> list[dict[str, Any]]:
    """The lines of a provider's file."""
    text = (FOLDER / f"{provider}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _of_templates(row: dict[str, Any], templates: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in row.get("like", ()):
        template = templates[name]
        fields = _joined(_joined(fields, _of_templates(template, templates)), template)
    return fields


def _joined(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    joined = {**left, **right}
    for name in ("thinking", "settings", "media_limits", "transcription", "embedding", "reranking"):
        if name in left and right.get(name):
            joined[name] = {**left[name], **right[name]}
    return joined
