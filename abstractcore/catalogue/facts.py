"""Facts about a model: fields of `ModelProfile`, merged and read from JSON or TOML data.

Reads the fields of `ModelProfile`, with the checks that their types do not express. Reads values of annotated types
from JSON or TOML data. An invalid value is a `SchemaError` with its path. Names that other catalogues of models have
for fields of a row, for hints. Data only.

Those of LiteLLM (model_prices_and_context_window.json, "sample_spec"), models.dev and OpenRouter's list of models.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import date
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from ..errors import SchemaError
from ..ports import EmbeddingRules, ModelProfile, RerankRules, Thinking, TranscriptionRules
from ..registry import did_you_mean, name_hint, nearest_names
from ..schema import MediaKind, Modality, Sampling, ThinkingLevel, freeze
from ..schema.base_error import shown
from ..schema.json_values import as_float

Reader: TypeAlias = Callable[[object, str], Any]

_MOST = 10**15
"""Far more than any count of tokens, bytes or files."""


def read_object(cls: type, data: object, path: str = "") -> Any:
    """Returns an object of a dataclass, read from a mapping of its fields."""
    values = read_fields(field_readers(cls), data, path)
    try:
        return cls(**values)
    except SchemaError as error:
        raise (error.at(path) if path else error) from None


def read_fields(
    readers: Mapping[str, Reader], data: object, path: str = "", hint: Callable[[str], str] | None = None
) -> dict[str, Any]:
    """Returns the values of a mapping, each read by the reader of its name. `hint` returns that of an unknown name, by
    default one with the names of the readers.
    """
    if not isinstance(data, Mapping):
        raise SchemaError(f"expected an object, got {type(data).__name__}", path)
    values: dict[str, Any] = {}
    for name, value in cast("Mapping[str, object]", data).items():
        where = f"{path}.{name}" if path else str(name)
        if name not in readers:
            raise SchemaError("no such field", where, hint=hint(name) if hint else fields_hint(name, readers))
        values[name] = readers[name](value, where)
    return values


def fields_hint(name: str, known: Iterable[str]) -> str:
    """Returns the hint for an unknown field: known ones that are similar, or where they are described."""
    return name_hint(name, sorted(known), "fields", '"A row" in docs/catalogue.md')


@cache
def field_readers(cls: type) -> Mapping[str, Reader]:
    """Returns a reader for each field of a dataclass."""
    hints = get_type_hints(cls)
    return {field.name: _reader(hints[field.name]) for field in fields(cls)}


@cache
def _reader(hint: Any) -> Reader:
    """Returns the function that reads a value of the type `hint`."""
    origin, of = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (present,) = (each for each in of if each is not type(None))
        read = _reader(present)
        return lambda data, path: None if data is None else read(data, path)
    if origin is Literal:
        return _choice(of)
    if origin is frozenset:
        item = _reader(of[0])
        return lambda data, path: frozenset(_items(data, path, item))
    if origin is tuple:
        item = _reader(of[0])
        if of[-1] is Ellipsis:
            return lambda data, path: tuple(_items(data, path, item))
        return _pair(item) if of[0] is str else _range(item)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(_reader(of[0]), _reader(of[1]))
    if is_dataclass(hint):
        cls = cast("type[Any]", hint)
        return lambda data, path: read_object(cls, data, path)
    return _SCALARS[hint]


def _choice(values: tuple[object, ...]) -> Reader:
    def read(data: object, path: str) -> object:
        if not isinstance(data, str) or data not in values:
            raise SchemaError(f"{shown(data)} is not one of {', '.join(map(str, values))}", path)
        return data

    return read


def _range(number: Reader) -> Reader:
    """Returns the reader of two numbers, the lower one first."""

    def read(data: object, path: str) -> tuple[Any, ...]:
        numbers = tuple(_items(data, path, number))
        if len(numbers) != 2 or numbers[0] > numbers[1]:
            raise SchemaError(f"expected the lowest and the highest value, got {shown(data)}", path)
        return numbers

    return read


def _pair(item: Reader) -> Reader:
    """Returns the reader of two texts."""

    def read(data: object, path: str) -> tuple[Any, ...]:
        pair = tuple(_items(data, path, item))
        if len(pair) != 2:
            raise SchemaError(f"expected two names, got {shown(data)}", path)
        return pair

    return read


def _mapping(key: Reader, item: Reader) -> Reader:
    def read(data: object, path: str) -> Mapping[Any, Any]:
        if not isinstance(data, Mapping):
            raise SchemaError(f"expected an object, got {type(data).__name__}", path)
        given = cast("Mapping[str, object]", data)
        return MappingProxyType({key(name, path): item(value, f"{path}.{name}") for name, value in given.items()})

    return read


def _list(data: object, path: str) -> list[object]:
    if not isinstance(data, list | tuple | set | frozenset):
        raise SchemaError(f"expected a list, got {type(data).__name__}", path)
    return list(cast("Iterable[object]", data))


def _items(data: object, path: str, item: Reader) -> list[Any]:
    return [item(each, f"{path}[{i}]") for i, each in enumerate(_list(data, path))]


def _text(data: object, path: str) -> str:
    if not isinstance(data, str) or not data.isprintable():
        raise SchemaError(f"expected text, got {shown(data)}", path)
    return data


def _flag(data: object, path: str) -> bool:
    if not isinstance(data, bool):
        raise SchemaError(f"expected true or false, got {shown(data)}", path)
    return data


def _count(data: object, path: str) -> int:
    if not isinstance(data, int) or isinstance(data, bool) or data < 0:
        raise SchemaError(f"expected an integer of at least 0, got {shown(data)}", path)
    if data > _MOST:
        raise SchemaError(f"expected an integer of at most {_MOST:,}, got {shown(data)}", path)
    return data


def _number(data: object, path: str) -> float:
    if not isinstance(data, int | float) or isinstance(data, bool):
        raise SchemaError(f"expected a number, got {shown(data)}", path)
    as_float(data, path)
    return data


def read_day(data: object, path: str) -> str | None:
    """Returns a day as text, such as "2026-11-22"; or None."""
    return None if data is None else _day(data, path).isoformat()


def _day(data: object, path: str) -> date:
    if type(data) is date:
        return data
    try:
        return date.fromisoformat(cast(str, data))
    except (TypeError, ValueError):
        raise SchemaError(f"expected a date such as 2026-11-22, got {shown(data)}", path) from None


_SCALARS: dict[Any, Reader] = {
    str: _text,
    bool: _flag,
    int: _count,
    float: _number,
    date: _day,
    Any: freeze,
}


_KINDS = get_args(MediaKind)
_LEVELS = get_args(ThinkingLevel)
_OUTPUTS = tuple(kind for kind in get_args(Modality) if kind != "text")
_OPTIONS = frozenset({*(field.name for field in fields(Sampling)), "thinking", "parallel_tool_calls", "tool_choice"})
_NUMBERS = _OPTIONS - {"stop", "thinking", "parallel_tool_calls", "tool_choice"}
_DAYS = ("retires", "checked", "files_checked", "limits_checked", "tokens_checked")
_TIME = re.compile("[1-9][0-9]{0,5}[smhd]")


@cache
def fact_readers() -> Mapping[str, Reader]:
    """Returns the reader of each fact."""
    readers = {**field_readers(ModelProfile), **dict.fromkeys(_DAYS, read_day)}
    return {name: _with_check(read, _CHECKS[name]) if name in _CHECKS else read for name, read in readers.items()}


def _with_check(read: Reader, fault: Callable[[Any], str | None]) -> Reader:
    def checked(data: object, path: str) -> Any:
        value = read(data, path)
        problem = None if value is None else fault(value)
        if problem is not None:
            raise SchemaError(problem, path)
        return value

    return checked


def _files(files: Iterable[str]) -> str | None:
    wrong = next((file for file in files if file not in _KINDS and "/" not in file), None)
    if wrong is None:
        return None
    return f"{shown(wrong)} is neither a kind ({', '.join(_KINDS)}) nor a media type, such as 'image/png'"


def _outputs(kinds: Iterable[str]) -> str | None:
    wrong = next((kind for kind in kinds if kind not in _OUTPUTS), None)
    return None if wrong is None else f"{shown(wrong)} is not one of {', '.join(_OUTPUTS)}"


def _first_other(names: Iterable[str], known: frozenset[str], what: str) -> str | None:
    wrong = next((name for name in names if name not in known), None)
    if wrong is None:
        return None
    near = nearest_names(wrong, known)
    expected = f". {did_you_mean(near)}" if near else f": expected one of {', '.join(sorted(known))}"
    return f"{shown(wrong)} is not {what}{expected}"


_options = partial(_first_other, known=_OPTIONS, what="an option")


def _options_of_pairs(pairs: Iterable[Iterable[str]]) -> str | None:
    return _options(name for pair in pairs for name in pair)


def _thinking(thinking: Thinking) -> str | None:
    rising = [level for level in _LEVELS if level in thinking.levels and level != "off"]
    if list(thinking.levels) == rising:
        return None
    return (
        f"expected levels in rising order, without 'off', such as {shown(rising)}; got {shown(list(thinking.levels))}"
    )


def _embedding(rules: EmbeddingRules) -> str | None:
    if [*rules.dimension_choices] != sorted({*rules.dimension_choices}) or 0 in rules.dimension_choices:
        return f"expected dimensions in rising order, such as [256, 512]; got {shown([*rules.dimension_choices])}"
    if rules.requires_purpose and not rules.purposes:
        return "expected the purposes that a request may name, since one is required"
    return None


def _times(times: Iterable[str]) -> str | None:
    wrong = next((time for time in times if not _TIME.fullmatch(time)), None)
    return None if wrong is None else f"{shown(wrong)} is not a time: expected such as '5m' or '1h'"


_CHECKS: Mapping[str, Callable[[Any], str | None]] = {
    **dict.fromkeys(("accepts", "assumed", "encodable", "file_ids", "lossy", "urls"), _files),
    "produces": _outputs,
    **dict.fromkeys(("refused", "refused_with_thinking", "no_effect"), _options),
    "refused_together": _options_of_pairs,
    "refused_with_level": lambda levels: _options_of_pairs(levels.values()),
    **dict.fromkeys(
        ("ranges", "ranges_with_thinking"), partial(_first_other, known=_NUMBERS, what="an option with a number")
    ),
    **dict.fromkeys(
        ("context_tokens", "max_output_tokens"), lambda n: None if n else "expected an integer of at least 1, got 0"
    ),
    "thinking": _thinking,
    "cache_times": _times,
    "embedding": _embedding,
}


Facts: TypeAlias = Mapping[str, Any]
"""Fields of `ModelProfile` by name, as JSON values."""

OTHER_FIELDS = frozenset({"model", "family", "provider", "like", "alias_of", "prices"})
"""The fields of a row that are not facts."""
MERGED = ("thinking", "settings", "media_limits", "media_tokens", "transcription", "embedding", "reranking")
"""The facts that are merged by key; others are replaced whole."""
_MERGED_OBJECTS: Mapping[str, type[Any]] = {
    "thinking": Thinking,
    "transcription": TranscriptionRules,
    "embedding": EmbeddingRules,
    "reranking": RerankRules,
}
_OF_FAMILIES = frozenset({
    "cache_automatic", "cache_minimum", "cache_points", "cache_times", "cache_tools", "calls_as_text", "checked",
    "context_tokens", "embedding", "encodable", "file_ids", "files_checked", "files_source", "grammar", "lossy",
    "lossy_source", "media_after_results", "media_controls", "request_resolution", "reranking", "sampling",
    "settings", "source", "store_source", "stored_bytes", "tool_examples", "tool_prompt", "transcription", "urls",
})  # fmt: skip
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


_NAMES = {
    "accepts": "vision supports_vision modalities input_modalities supports_audio_input supports_pdf_input attachment",
    "produces": "output_modalities supports_audio_output",
    "context_tokens": "context context_length context_size context_window max_input_tokens max_model_len num_ctx n_ctx",
    "max_output_tokens": "max_tokens max_completion_tokens",
    "tools": "function_calling supports_function_calling supports_tools tool_call",
    "parallel_tools": "supports_parallel_function_calling",
    "forced_tools": "supports_tool_choice",
    "structured_output": "supports_response_schema json_mode json_schema response_format",
    "thinking": "reasoning supports_reasoning reasoning_effort",
    "accepts_prefill": "supports_assistant_prefill",
    "cache_automatic": "supports_prompt_caching",
    "refused": "unsupported_parameters unsupported_params",
    "retires": "deprecation_date expiration_date",
    "sampling": "temperature top_p top_k default_parameters",
    "prices": "price pricing cost input_cost_per_token output_cost_per_token cache_read_input_token_cost",
}

OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {name: ours for ours, names in _NAMES.items() for name in names.split()}
)
"""Each other name, with the field of a row."""
