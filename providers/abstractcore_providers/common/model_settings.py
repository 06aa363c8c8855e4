"""Applies a model's settings, from the catalogue or the user, to the dialect of its wire format."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from abstractcore.errors import ConfigurationError
from abstractcore.schema.quoting import shown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

DialectT = TypeVar("DialectT", bound="DataclassInstance")


def with_settings(dialect: DialectT, settings: Mapping[str, Any]) -> DialectT:
    """Returns `dialect` with the fields in `settings`, such as those of `ModelProfile`; lists become sets.

    Raises `ConfigurationError` for a name that is no field, and for a value of another type than the field's.
    """
    if not settings:
        return dialect
    return replace(dialect, **{name: _value(dialect, name, value) for name, value in settings.items()})


def _value(dialect: DataclassInstance, name: str, value: Any) -> Any:
    names = sorted(field.name for field in fields(dialect))
    if name not in names:
        raise ConfigurationError(f"settings.{name}: no such setting.", hint=f"The settings are {', '.join(names)}.")
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
