"""Reads the fields of `ModelProfile`, with the checks that their types do not express."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, get_args

from ..errors import SchemaError
from ..ports import ModelProfile, Thinking
from ..registry import did_you_mean, nearest_names
from ..schema import MediaKind, Modality, Sampling, ThinkingLevel
from ..schema.base_error import shown
from .readers import Reader, field_readers, read_day

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
    return {name: _checked(read, _CHECKS[name]) if name in _CHECKS else read for name, read in readers.items()}


def _checked(read: Reader, fault: Callable[[Any], str | None]) -> Reader:
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


def _options(names: Iterable[str]) -> str | None:
    return _first_other(names, _OPTIONS, "an option")


def _options_of_pairs(pairs: Iterable[Iterable[str]]) -> str | None:
    return _options(name for pair in pairs for name in pair)


def _options_of_levels(levels: Mapping[str, Iterable[str]]) -> str | None:
    return _options_of_pairs(levels.values())


def _numbers(ranges: Mapping[str, object]) -> str | None:
    return _first_other(ranges, _NUMBERS, "an option with a number")


def _first_other(names: Iterable[str], known: frozenset[str], what: str) -> str | None:
    wrong = next((name for name in names if name not in known), None)
    if wrong is None:
        return None
    near = nearest_names(wrong, known)
    expected = f". {did_you_mean(near)}" if near else f": expected one of {', '.join(sorted(known))}"
    return f"{shown(wrong)} is not {what}{expected}"


def _above_zero(count: int) -> str | None:
    return None if count else "expected an integer of at least 1, got 0"


def _thinking(thinking: Thinking) -> str | None:
    rising = [level for level in _LEVELS if level in thinking.levels and level != "off"]
    if list(thinking.levels) == rising:
        return None
    return (
        f"expected levels in rising order, without 'off', such as {shown(rising)}; got {shown(list(thinking.levels))}"
    )


def _times(times: Iterable[str]) -> str | None:
    wrong = next((time for time in times if not _TIME.fullmatch(time)), None)
    return None if wrong is None else f"{shown(wrong)} is not a time: expected such as '5m' or '1h'"


_CHECKS: Mapping[str, Callable[[Any], str | None]] = {
    **dict.fromkeys(("accepts", "assumed", "encodable", "file_ids", "lossy", "urls"), _files),
    "produces": _outputs,
    **dict.fromkeys(("refused", "refused_with_thinking", "no_effect"), _options),
    "refused_together": _options_of_pairs,
    "refused_with_level": _options_of_levels,
    **dict.fromkeys(("ranges", "ranges_with_thinking"), _numbers),
    **dict.fromkeys(("context_tokens", "max_output_tokens"), _above_zero),
    "thinking": _thinking,
    "cache_times": _times,
}
