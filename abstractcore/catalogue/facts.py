"""Facts about a model: fields of `ModelProfile`, merged and read from JSON or TOML data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

from ..ports import ModelProfile, Thinking, TranscriptionRules
from ..registry import did_you_mean
from .fact_readers import fact_readers
from .readers import field_readers, fields_hint, read_fields

Facts: TypeAlias = Mapping[str, Any]
"""Fields of `ModelProfile` by name, as JSON values."""

OTHER_FIELDS = frozenset({"model", "family", "provider", "like", "alias_of", "prices"})
"""The fields of a row that are not facts."""
MERGED = ("thinking", "settings", "media_limits", "media_tokens", "transcription")
"""The facts that are merged by key; others are replaced whole."""
_MERGED_OBJECTS: Mapping[str, type[Any]] = {"thinking": Thinking, "transcription": TranscriptionRules}
_OF_FAMILIES = frozenset(
    {
        "cache_automatic",
        "cache_minimum",
        "cache_points",
        "cache_times",
        "cache_tools",
        "calls_as_text",
        "checked",
        "context_tokens",
        "grammar",
        "encodable",
        "file_ids",
        "files_checked",
        "files_source",
        "lossy",
        "lossy_source",
        "media_after_results",
        "media_controls",
        "request_resolution",
        "sampling",
        "settings",
        "source",
        "store_source",
        "stored_bytes",
        "tool_examples",
        "tool_prompt",
        "transcription",
        "urls",
    }
)
_FILES = ("accepts", "assumed", "encodable")
_NO_FILES = frozenset[str]()


def merged(facts: Facts, more: Facts) -> dict[str, Any]:
    """Returns `facts` with those of `more`, which win; those in `MERGED` are merged by key."""
    both = {**facts, **more}
    for name in MERGED:
        if isinstance(facts.get(name), Mapping) and isinstance(more.get(name), Mapping):
            both[name] = {**facts[name], **more[name]}
    return both


def overriding(facts: Facts, more: Facts) -> dict[str, Any]:
    """Returns `facts` of any model with a user's own. Files that the user lists are all that the model accepts."""
    both = {**merged(facts, more), "known": more.get("known", True), "family": ""}
    if "accepts" in more:
        for name in set(_FILES) - {"accepts"} - set(more):
            both.pop(name, None)
    return both


def family_facts(family: str, facts: Facts, unknown: Facts) -> dict[str, Any]:
    """Returns the facts of a model that is only known by its family: none that refuses or changes an option, and files
    that the family accepts are assumed to be accepted. The rest is as for an unknown model.
    """
    kept = {name: value for name, value in facts.items() if name in _OF_FAMILIES}
    assumed = {"assumed": facts["accepts"]} if "accepts" in facts else {}
    return {**merged(unknown, kept), **assumed, "known": unknown.get("known", False), "family": family}


def profile_of(facts: Facts) -> ModelProfile:
    """Returns the profile with these facts; raises `SchemaError` with the path of an invalid one."""
    return ModelProfile(**read_facts(facts))


def read_facts(facts: Facts) -> dict[str, Any]:
    """Returns facts as fields of `ModelProfile`; raises `SchemaError` with the path of an invalid one."""
    return read_fields(fact_readers(), facts, hint=_similar_field)


def _similar_field(name: str) -> str:
    """Returns the hint for a name that is not a fact. A misspelled field of a row, such as `lik`, is read as one."""
    from .other_names import OTHER_NAMES  # imported for errors only

    ours = OTHER_NAMES.get(name)
    return did_you_mean([ours]) if ours else fields_hint(name, {*fact_readers(), *OTHER_FIELDS})


def overridden(profile: ModelProfile, facts: Facts) -> ModelProfile:
    """Returns a profile with a user's own facts, as `overriding` does; raises `SchemaError`."""
    given = read_facts(facts)
    for name, cls in _MERGED_OBJECTS.items():
        if given.get(name) is not None:
            fields = read_fields(field_readers(cls), facts[name], name)
            given[name] = replace(getattr(profile, name) or cls(), **fields)
    for name in {"settings", "media_limits", "media_tokens"} & given.keys():
        given[name] = MappingProxyType({**getattr(profile, name), **given[name]})
    if "accepts" in given:
        given = {"assumed": _NO_FILES, "encodable": _NO_FILES, **given}
    return replace(profile, **{"known": True, "family": "", "similar": (), **given})
