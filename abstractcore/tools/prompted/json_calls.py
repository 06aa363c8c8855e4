"""Calls that a model writes as JSON objects with a name and arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from .lenient_values import UnreadableError, as_json, read_json
from .offered import OfferedTools
from .parsed import ParsedCall

_NAME_KEYS: Final = ("name", "function", "tool", "tool_name", "function_name", "action")
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "params", "action_input")
_BARE_KEYS: Final = frozenset({"name", "arguments", "parameters", "id", "type", "function"})
_NAME_IN_TEXT: Final = re.compile(r"""["']name["']\s*:\s*["']([^"']+)["']""")
_ARGUMENTS_IN_TEXT: Final = re.compile(r"""["'](?:arguments|parameters)["']\s*:\s*""")


def json_calls(
    text: str, offered: OfferedTools, *, bare: bool = False, complete: bool = True
) -> list[ParsedCall] | None:
    """Returns the calls in a JSON text: one object or a list of them; None if it is something else.

    `bare` is for JSON without a marker around it: only complete calls of offered tools, without further fields.
    With `complete`, brackets missing at the end are added.
    """
    try:
        value, repair = read_json(text, complete=complete)
    except UnreadableError:
        return None if bare else _salvaged(text, offered)
    return _calls(value, offered, repair, bare=bare)


def argument_call(name: str, text: str, *, complete: bool = True, gemma: bool = False) -> ParsedCall:
    """Returns the call of a tool whose arguments are `text`, which stays as it is if it is not an object."""
    if not text.strip():
        return ParsedCall(name)
    try:
        value, repair = read_json(text, complete=complete, gemma=gemma)
    except UnreadableError:
        return ParsedCall(name, text.strip())
    return ParsedCall(name, as_json(value), repair)


def _calls(value: Any, offered: OfferedTools, repair: str | None, *, bare: bool) -> list[ParsedCall] | None:
    if isinstance(value, Mapping) and "tool_calls" in value and len(cast("dict[str, Any]", value)) == 1:
        value = cast("dict[str, Any]", value)["tool_calls"]
    items: list[object] = cast("list[object]", value) if isinstance(value, list) else [value]
    calls = [_call(item, offered, repair, bare=bare) for item in items]
    return [call for call in calls if call is not None] if calls and None not in calls else None


def _call(value: object, offered: OfferedTools, repair: str | None, *, bare: bool) -> ParsedCall | None:
    if not isinstance(value, Mapping):
        return None
    fields = cast("Mapping[str, Any]", value)
    if bare and not _BARE_KEYS.issuperset(fields):
        return None
    inner = fields.get("function")
    if isinstance(inner, Mapping):
        fields = cast("Mapping[str, Any]", inner)
    keys = _NAME_KEYS[:1] if bare else _NAME_KEYS
    name = next((found for key in keys if (found := offered.named(fields.get(key))) is not None), None)
    given = [key for key in (_ARGUMENT_KEYS[:2] if bare else _ARGUMENT_KEYS) if key in fields]
    if name is None or (bare and (name not in offered or not given)):
        return None
    arguments: Any = fields[given[0]] if given else None
    if isinstance(arguments, str) and arguments.strip():
        return _with_repair(argument_call(name, arguments), repair)
    return ParsedCall(name, as_json({} if arguments in (None, "") else arguments), repair)


def _with_repair(call: ParsedCall, repair: str | None) -> ParsedCall:
    repairs = [each for each in (repair, call.repair) if each]
    return ParsedCall(call.name, call.arguments_text, ", ".join(repairs) or None)


def _salvaged(text: str, offered: OfferedTools) -> list[ParsedCall] | None:
    """Returns the call of an offered tool with arguments that cannot be read, for the model to correct."""
    named = _NAME_IN_TEXT.search(text)
    arguments = _ARGUMENTS_IN_TEXT.search(text)
    name = offered.named(named[1]) if named is not None else None
    if name is None or name not in offered or arguments is None:
        return None
    rest = text[arguments.end() :].rstrip()
    return [ParsedCall(name, rest[:-1].rstrip() if rest.endswith("}") else rest)]
