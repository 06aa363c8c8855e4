"""A client's JSON read strictly: what is not as it should be is an error that names its path."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

from pydantic_core import PydanticSerializationError

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, SchemaError, WireRequest, freeze_object

from .json_reading import Object, read_json


def read_request(request: WireRequest) -> Object:
    """The object in a request's body; raises `InvalidInputError` for a body that holds none."""
    try:
        return get_object(read_json(request.body), "")
    except ValueError as error:
        raise InvalidInputError(f"the body is not JSON: {error}") from None


@contextmanager
def locating(
    request: WireRequest, provider: str, place_of: Callable[[str], str] = lambda path: path
) -> Generator[None]:
    """Raises what goes wrong inside as an `InvalidInputError` with its path in the request.

    `place_of` gives that for a path in the call. What the schema takes nowhere (half a character, a number without end,
    values nested without end) is looked for in the request itself, since it may fail far from where it stands.
    """
    try:
        yield
    except (SchemaError, InvalidInputError, PydanticSerializationError) as error:
        try:
            freeze_object(read_json(request.body), "")
        except SchemaError as wrong:
            raise InvalidInputError(wrong.message, path=wrong.path.removeprefix(".")) from None
        if isinstance(error, SchemaError):
            path = place_of(error.path.removeprefix(f"provider_options.{provider}."))
            raise InvalidInputError(error.message, path=path) from None
        raise


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


def get_filled(value: Any, path: str) -> str:
    """`value`, a text that is not empty."""
    if get_text(value, path):
        return value
    raise InvalidInputError("must not be empty", path=path)


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
