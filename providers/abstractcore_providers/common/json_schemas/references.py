"""Resolves `$ref` within one schema, and merges several schemas that all apply into one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

from abstractcore.errors import InvalidInputError

from .keywords import ANNOTATIONS
from .subschemas import Node, is_list

_DEFINITION = re.compile(r"#/\$defs/([^/%~]+)")
_INDEX = re.compile("0|[1-9][0-9]{0,8}")


def definition_of(reference: str) -> str | None:
    """Returns the name of the definition in `$defs` that is referenced; None for any other target."""
    match = _DEFINITION.fullmatch(reference)
    return match[1] if match else None


def resolve(root: Mapping[str, Any], reference: Any, path: str) -> Mapping[str, Any] | bool:
    """Returns the schema that `reference` refers to; raises `InvalidInputError` if `root` has none."""
    if not isinstance(reference, str):
        raise InvalidInputError("expected the text of a reference", path=path)
    if not reference.startswith("#"):
        hint = "Put the schema itself into $defs."
        raise InvalidInputError(f"{reference!r} is in another document, which is not fetched", path=path, hint=hint)
    found: Any = root
    for token in _tokens(reference, path):
        found = _step(found, token)
    if isinstance(found, dict | bool):
        return cast("Mapping[str, Any] | bool", found)
    raise InvalidInputError(f"{reference!r} does not refer to a schema", path=path)


def _step(value: Any, token: str) -> Any:
    """Returns the value in `value` at `token`; None if there is none."""
    if isinstance(value, dict):
        return cast("Mapping[str, Any]", value).get(token)
    if is_list(value) and _INDEX.fullmatch(token) and int(token) < len(value):
        return value[int(token)]
    return None


def renamed_reference(reference: Any, names: Mapping[str, str]) -> Any:
    """Returns a reference with `names` for the properties on its way, where it is one within the schema."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return reference
    steps = reference.split("/")
    for index in range(2, len(steps)):
        name = _unescape(unquote(steps[index]))
        if steps[index - 1] == "properties" and name in names:
            steps[index] = names[name]
    return "/".join(steps)


def end_of(root: Mapping[str, Any], schema: Any, path: str) -> Any:
    """Resolves a reference, also to another reference; raises `InvalidInputError` for a circular one."""
    seen: set[str] = set()
    while (reference := _reference_of(schema)) is not None:
        schema = resolve(root, reference, f"{path}.$ref")
        if reference in seen:
            raise InvalidInputError(f"{reference!r} refers only to itself", path=f"{path}.$ref")
        seen.add(reference)
    return schema


def without_definitions(schema: Any) -> Any:
    """Returns `schema` without its definitions."""
    if not isinstance(schema, dict):
        return schema
    return {name: value for name, value in cast("Mapping[str, Any]", schema).items() if name != "$defs"}


def _reference_of(schema: Any) -> Any:
    return cast("Mapping[str, Any]", schema).get("$ref") if isinstance(schema, dict) else None


def _tokens(reference: str, path: str) -> list[str]:
    """Splits a JSON pointer in a URI fragment: `%25` is a percent sign, `~1` a slash, `~0` a tilde."""
    pointer = unquote(reference[1:])
    if pointer and not pointer.startswith("/"):
        hint = "Refer to it by its path, such as #/$defs/name."
        raise InvalidInputError(f"{reference!r} is an anchor, which not every provider supports", path=path, hint=hint)
    return [_unescape(token) for token in pointer.split("/")[1:]]


def _unescape(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")


_TOGETHER = (
    frozenset({"items", "prefixItems", "additionalItems"}),
    frozenset({"if", "then", "else"}),
    frozenset({"contains", "minContains", "maxContains"}),
)
"""Keywords whose meaning depends on keywords next to them."""

_ABOUT_OTHERS = frozenset({"additionalProperties", "patternProperties"})
_ABOUT_THE_WHOLE = frozenset({"unevaluatedProperties", "unevaluatedItems"})


def merge(schemas: Sequence[Any]) -> Node | None:
    """Returns one schema equivalent to all of `schemas` together; None if there is no simple one."""
    if not all(schema is True or isinstance(schema, dict) for schema in schemas):
        return None
    parts = [cast("Mapping[str, Any]", schema) for schema in schemas if schema is not True]
    if not _are_apart(parts):
        return None
    whole: Node = {}
    for part in parts:
        for keyword, value in part.items():
            if keyword not in whole or (whole[keyword] == value and type(whole[keyword]) is type(value)):
                whole[keyword] = value
            elif keyword not in ANNOTATIONS:
                both = _both(keyword, whole[keyword], value)
                if both is None:
                    return None
                whole[keyword] = both
    return whole


def _are_apart(parts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the keywords of the parts do not affect each other when merged."""
    if len(parts) < 2:
        return True
    if any(_ABOUT_THE_WHOLE & part.keys() for part in parts):
        return False
    closed = [part for part in parts if any(part.get(name, True) not in (True, {}) for name in _ABOUT_OTHERS)]
    if closed and sum(bool({"properties", *_ABOUT_OTHERS} & part.keys()) for part in parts) > 1:
        return False
    return all(sum(bool(group & part.keys()) for part in parts) < 2 for group in _TOGETHER)


def _both(keyword: str, one: Any, other: Any) -> Any:
    if keyword == "required" and is_list(one) and is_list(other):
        return list(dict.fromkeys([*one, *other]))
    if keyword == "properties" and isinstance(one, dict) and isinstance(other, dict):
        known, more = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        shared = {
            name: known[name] if known[name] == more[name] else {"allOf": [known[name], more[name]]}
            for name in known.keys() & more.keys()
        }
        return {**known, **more, **shared}
    return None
