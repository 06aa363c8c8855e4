"""Applies a model's settings, from the catalogue or the user, to the dialect of its wire format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from abstractcore.errors import ConfigurationError
from abstractcore.schema.base_error import shown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

DialectT = TypeVar("DialectT", bound="DataclassInstance")


def with_settings(dialect: DialectT, settings: Mapping[str, Any]) -> DialectT:
    """Returns `dialect` with the fields in `settings`, such as those of `ModelProfile`; lists become sets.

    Raises `ConfigurationError` for a name that is not a field, and for a value of another type than the field's.
    """
    if not settings:
        return dialect
    return replace(dialect, **{name: _value(dialect, name, value) for name, value in settings.items()})


def setting_names(dialect: type[DataclassInstance]) -> frozenset[str]:
    """Returns the names of the settings of models whose wire format has this class of dialects."""
    return frozenset(field.name for field in fields(dialect))


def check_setting_names(given: Iterable[str], known: Set[str], format_of: str) -> None:
    """Raises `ConfigurationError`, with the nearest name, for a setting that the format of a provider does not know."""
    for name in given:
        if name not in known:
            raise unknown_setting(name, known, format_of)


def unknown_setting(name: str, known: Set[str], format_of: str = "") -> ConfigurationError:
    """Returns the error for a setting that is not known."""
    from difflib import get_close_matches

    where = f" in the wire format of {format_of!r}" if format_of else ""
    nearest = get_close_matches(name, sorted(known), 1, 0.6)
    hint = f"The settings are {', '.join(sorted(known))}." if known else "It has no settings: remove it."
    return ConfigurationError(
        f"settings.{name}: no such setting{where}.", hint=f"Did you mean {nearest[0]!r}? {hint}" if nearest else hint
    )


def _value(dialect: DataclassInstance, name: str, value: Any) -> Any:
    names = setting_names(type(dialect))
    if name not in names:
        raise unknown_setting(name, names)
    present = getattr(dialect, name)
    if isinstance(present, Set):
        return _texts(name, value)
    if type(value) is not type(present):
        raise _wrong_type(name, type(present).__name__, value)
    return value


def _texts(name: str, value: Any) -> frozenset[str]:
    items = cast("list[object]", value)
    if not isinstance(value, list | tuple | Set) or not all(isinstance(item, str) for item in items):
        raise _wrong_type(name, "a list of texts", items)
    return frozenset(cast("list[str]", items))


def _wrong_type(name: str, expected: str, value: object) -> ConfigurationError:
    return ConfigurationError(f"settings.{name}: expected {expected}, got {shown(value)}.")
