"""Strict reading of a client's JSON: errors name the path of what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic_core import PydanticSerializationError

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
    Message,
    ModelCall,
    Part,
    ReasoningPart,
    Role,
    SchemaError,
    TextPart,
    WireRequest,
    freeze_object,
)

from .json_reading import Object, read_json

if TYPE_CHECKING:
    from abstractcore.schema import Parsed

T = TypeVar("T")


def read_request(request: WireRequest) -> Object:
    """Returns the object in a request's body; raises `InvalidInputError` for any other body."""
    try:
        return get_object(read_json(request.body), "")
    except ValueError as error:
        raise InvalidInputError(f"the body is not JSON: {error}") from None


class ErrorsAt:
    """Re-raises a `SchemaError` from within as an `InvalidInputError` below `path`."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SchemaError):
            raise error_at(self._path, error) from None


def error_at(path: str, error: SchemaError) -> InvalidInputError:
    """Returns the error that `ErrorsAt` raises, for loops over messages and parts: a context manager is too slow."""
    return InvalidInputError(error.message, path=error.at(path).path)


def make_at(path: str, make: Callable[..., T], *values: Any, **fields: Any) -> T:
    """Returns `make` of the value at `path`; raises `InvalidInputError` below it for what the schema rejects."""
    try:
        return make(*values, **fields)
    except SchemaError as error:
        raise error_at(path, error) from None


def read_call(
    request: WireRequest,
    provider: str,
    read: Callable[[Object, list[CallWarning]], ModelCall],
    path_in_request: Callable[[str], str] = lambda path: path,
) -> Parsed:
    """Returns the call that `read` builds from a request's body; `read` adds warnings to the given list.

    Raises errors as `InvalidInputError` at the path in the request, from `path_in_request` of that in the call.
    Values that the schema never accepts (lone surrogates, infinite numbers, too deep nesting) are searched for in the
    request itself, since they may fail far from where they are.
    """
    from abstractcore.schema import Parsed

    data = read_request(request)
    warnings: list[CallWarning] = []
    try:
        return Parsed(read(data, warnings), tuple(warnings))
    except (SchemaError, InvalidInputError, PydanticSerializationError) as error:
        try:
            freeze_object(read_json(request.body), "")
        except SchemaError as wrong:
            raise InvalidInputError(wrong.message, path=wrong.path.removeprefix(".")) from None
        if isinstance(error, SchemaError):
            path = path_in_request(error.path.removeprefix(f"provider_options.{provider}."))
            raise InvalidInputError(error.message, path=path) from None
        raise


def read_each(
    values: Iterable[Any], read: Callable[[Object, str], Message | None], warnings: list[CallWarning]
) -> tuple[Message, ...]:
    """Returns the messages that `read` builds from objects and their paths, without the empty ones (None)."""
    messages: list[Message] = []
    for index, value in enumerate(values):
        path = f"messages[{index}]"
        try:
            message = read(get_object(value, path), path)
        except SchemaError as error:
            raise error_at(path, error) from None
        if message is None:
            warnings.append(message_left_out(path))
        else:
            messages.append(message)
    return tuple(messages)


def message_left_out(path: str) -> CallWarning:
    """Returns the warning for a message without content."""
    return CallWarning("message_left_out", path, "the message is empty")


def has_content(part: Part) -> bool:
    """Whether a part is not an empty text or empty reasoning."""
    if isinstance(part, TextPart):
        return part.text != ""
    return not isinstance(part, ReasoningPart) or part.text != "" or not part.is_plain


def get_object(value: Any, path: str) -> Object:
    """Returns `value`, an object."""
    if not isinstance(value, dict):
        raise _expected("an object", value, path)
    return cast(Object, value)


def get_group(data: Object, name: str) -> Object:
    """Returns the object at `name`; an empty one if there is none."""
    value = data.get(name)
    return {} if value is None else get_object(value, name)


def get_list(data: Object, name: str, path: str = "") -> list[Any]:
    """Returns the list at `name`; an empty one if there is none. `path` is the prefix of the name."""
    value = data.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _expected("a list", value, f"{path}{name}")
    return cast("list[Any]", value)


def get_text(value: Any, path: str) -> str:
    """Returns `value`, a text."""
    if not isinstance(value, str):
        raise _expected("text", value, path)
    return value


def get_role(data: Object, roles: Mapping[str, Role], path: str) -> Role:
    """Returns the role of the message at `path` by its name in the format."""
    name = get_text(data.get("role"), f"{path}.role")
    if name not in roles:
        raise InvalidInputError(f"unknown role {name!r}", path=f"{path}.role", hint=f"Use {', '.join(roles)}.")
    return roles[name]


def get_filled(value: Any, path: str) -> str:
    """Returns `value`, a text that is not empty."""
    if get_text(value, path):
        return value
    raise InvalidInputError("must not be empty", path=path)


def get_flag(data: Object, name: str, path: str = "") -> bool | None:
    """Returns the boolean at `name`; None if there is none."""
    value = data.get(name)
    if value is not None and not isinstance(value, bool):
        raise _expected("true or false", value, f"{path}{name}")
    return value


def name_the_rest(data: Object, known: frozenset[str], path: str, warnings: list[CallWarning]) -> None:
    """Warns of fields that are not read."""
    for name, value in data.items():
        if name not in known and value is not None:
            warnings.append(CallWarning("field_left_out", f"{path}.{name}", f"{name!r} is not supported here"))


def _expected(what: str, value: Any, path: str) -> InvalidInputError:
    return InvalidInputError(f"expected {what}, got {type(value).__name__}", path=path)
