"""Facts about a model: fields of `ModelProfile`, merged and read from JSON or TOML data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from functools import cache
from types import MappingProxyType
from typing import Any, TypeAlias, cast, get_args

from ..errors import SchemaError
from ..ports import ModelProfile, Thinking
from ..schema import MediaKind, Sampling
from ..schema.quoting import shown
from .readers import Reader, field_readers, read_day, read_fields

Facts: TypeAlias = Mapping[str, Any]
"""Fields of `ModelProfile` by name, as JSON values."""

MERGED = ("thinking", "settings")
"""The facts that are merged by key; others are replaced whole."""
_OF_FAMILIES = frozenset(
    {
        "cache_automatic",
        "cache_minimum",
        "cache_points",
        "cache_times",
        "cache_tools",
        "checked",
        "context_tokens",
        "encodable",
        "media_after_results",
        "sampling",
        "settings",
        "source",
        "tool_prompt",
    }
)
_KINDS = get_args(MediaKind)
_FILES = frozenset({"accepts", "assumed", "encodable"})
_DAYS = ("retires", "checked")
_NO_FILES = frozenset[str]()
_OPTIONS = frozenset({*(field.name for field in fields(Sampling)), "thinking", "parallel_tool_calls", "tool_choice"})
_NAMED_OPTIONS = frozenset(
    {
        "refused",
        "refused_with_thinking",
        "refused_with_level",
        "refused_together",
        "no_effect",
        "ranges",
        "ranges_with_thinking",
    }
)


def merged(facts: Facts, more: Facts) -> dict[str, Any]:
    """Returns `facts` with those of `more`, which win; thinking and settings are merged by key."""
    both = {**facts, **more}
    for name in MERGED:
        if isinstance(facts.get(name), Mapping) and isinstance(more.get(name), Mapping):
            both[name] = {**facts[name], **more[name]}
    return both


def overriding(facts: Facts, more: Facts) -> dict[str, Any]:
    """Returns `facts` of any model with a user's own. Files that the user lists are all that the model accepts."""
    both = {**merged(facts, more), "known": more.get("known", True), "family": ""}
    if "accepts" in more:
        for name in _FILES - {"accepts"} - set(more):
            both.pop(name, None)
    return both


def family_facts(family: str, facts: Facts, unknown: Facts) -> dict[str, Any]:
    """Returns the facts of a model that is only known by its family: none that refuses or changes an option, and files
    that the family accepts are assumed to be accepted. The rest is as for an unknown model.
    """
    kept = {name: value for name, value in facts.items() if name in _OF_FAMILIES}
    assumed = {"assumed": facts["accepts"]} if "accepts" in facts else {}
    return {**merged(unknown, kept), **assumed, "known": False, "family": family}


def profile_of(facts: Facts) -> ModelProfile:
    """Returns the profile with these facts; raises `SchemaError` with the path of an invalid one."""
    return ModelProfile(**read_fields(fact_readers(), facts))


def overridden(profile: ModelProfile, facts: Facts) -> ModelProfile:
    """Returns a profile with a user's own facts, as `overriding` does; raises `SchemaError`."""
    given: dict[str, Any] = read_fields(fact_readers(), facts)
    if given.get("thinking") is not None:
        thinking = read_fields(field_readers(Thinking), facts["thinking"], "thinking")
        given["thinking"] = replace(profile.thinking or Thinking(), **thinking)
    if "settings" in given:
        given["settings"] = MappingProxyType({**profile.settings, **given["settings"]})
    if "accepts" in given:
        given = {"assumed": _NO_FILES, "encodable": _NO_FILES, **given}
    return replace(profile, **{"known": True, "family": "", **given})


@cache
def fact_readers() -> Mapping[str, Reader]:
    """Returns the reader of each fact."""
    readers = dict(field_readers(ModelProfile))
    readers |= dict.fromkeys(_DAYS, read_day)
    for name in _FILES & readers.keys():
        readers[name] = _checked(readers[name], _file_fault)
    for name in _NAMED_OPTIONS & readers.keys():
        readers[name] = _checked(readers[name], _option_fault)
    return readers


def _checked(read: Reader, fault: Callable[[str], str | None]) -> Reader:
    """Returns a reader that also checks the texts in a value."""

    def checked(data: object, path: str) -> Any:
        value = read(data, path)
        for text in _texts(value):
            problem = fault(text)
            if problem is not None:
                raise SchemaError(problem, path)
        return value

    return checked


def _texts(value: Any) -> Iterable[str]:
    """Returns the texts in a list, in pairs, and in a mapping; of a mapping to numbers the keys."""
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        lists = [cast("frozenset[str]", each) for each in given.values() if isinstance(each, frozenset)]
        return [text for each in lists for text in each] if lists else list(given)
    return [text for each in value for text in ((each,) if isinstance(each, str) else each)]


def _file_fault(text: str) -> str | None:
    if text in _KINDS or "/" in text:
        return None
    return f"{shown(text)} is neither a kind ({', '.join(_KINDS)}) nor a media type, such as 'image/png'"


def _option_fault(text: str) -> str | None:
    return (
        None if text in _OPTIONS else f"{shown(text)} is not an option: expected one of {', '.join(sorted(_OPTIONS))}"
    )
