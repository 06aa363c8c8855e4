"""A client's JSON read strictly: what is not as it should be is an error that names its path."""

from __future__ import annotations

from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning

from .json_reading import Object


def get_object(value: Any, path: str) -> Object:
    """`value`, an object."""
    if not isinstance(value, dict):
        raise _expected("an object", value, path)
    return cast(Object, value)


def get_list(data: Object, name: str, path: str = "") -> list[Any]:
    """The list at `name`; empty if there is none. `path` is what stands before the name."""
    value = data.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _expected("a list", value, f"{path}{name}")
    return cast("list[Any]", value)


def get_text(value: Any, path: str) -> str:
    """`value`, a text."""
    if not isinstance(value, str):
        raise _expected("text", value, path)
    return value


def get_flag(data: Object, name: str, path: str = "") -> bool | None:
    """True or false at `name`; None if there is neither."""
    value = data.get(name)
    if value is not None and not isinstance(value, bool):
        raise _expected("true or false", value, f"{path}{name}")
    return value


def name_the_rest(data: Object, known: frozenset[str], path: str, warnings: list[CallWarning]) -> None:
    """Warn of the fields that nothing reads."""
    for name, value in data.items():
        if name not in known and value is not None:
            warnings.append(CallWarning("field_left_out", f"{path}.{name}", f"nothing here takes {name!r}"))


def _expected(what: str, value: Any, path: str) -> InvalidInputError:
    return InvalidInputError(f"expected {what}, got {type(value).__name__}", path=path)
