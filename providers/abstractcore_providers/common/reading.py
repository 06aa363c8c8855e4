"""A client's JSON read strictly: what is not as it should be is an error that names its path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from pydantic_core import PydanticSerializationError

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
    Message,
    ModelCall,
    Parsed,
    Part,
    ReasoningPart,
    Role,
    SchemaError,
    TextPart,
    WireRequest,
    freeze_object,
)

from .json_reading import Object, read_json

T = TypeVar("T")


def read_request(request: WireRequest) -> Object:
    """The object in a request's body; raises `InvalidInputError` for a body that holds none."""
    try:
        return get_object(read_json(request.body), "")
    except ValueError as error:
        raise InvalidInputError(f"the body is not JSON: {error}") from None


class ErrorsAt:
    """Gives a `SchemaError` that is raised inside its place in the request: an `InvalidInputError` below `path`."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SchemaError):
            raise error_at(self._path, error) from None


def error_at(path: str, error: SchemaError) -> InvalidInputError:
    """What `ErrorsAt` raises, for loops over messages and parts, where a context manager takes too long."""
    return InvalidInputError(error.message, path=error.at(path).path)


def make_at(path: str, make: Callable[..., T], *values: Any, **fields: Any) -> T:
    """What `make` makes of what stands at `path`; raises `InvalidInputError` below it for what the schema refuses."""
    try:
        return make(*values, **fields)
    except SchemaError as error:
        raise error_at(path, error) from None


def read_call(
    request: WireRequest,
    provider: str,
    read: Callable[[Object, list[CallWarning]], ModelCall],
    place_of: Callable[[str], str] = lambda path: path,
) -> Parsed:
    """The call that `read` makes of the object in a request's body; it adds warnings to the list that it is given.

    Raises what goes wrong as an `InvalidInputError` with its path in the request, which `place_of` gives for a path in
    the call. What the schema takes nowhere (half a character, a number without end, values nested without end) is
    looked for in the request itself, since it may fail far from where it stands.
    """
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
            path = place_of(error.path.removeprefix(f"provider_options.{provider}."))
            raise InvalidInputError(error.message, path=path) from None
        raise


def read_each(
    values: Iterable[Any], read: Callable[[Object, str], Message | None], warnings: list[CallWarning]
) -> tuple[Message, ...]:
    """The messages that `read` makes of objects and their paths, but for those that it finds empty (None)."""
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
    """The warning for a message without content."""
    return CallWarning("message_left_out", path, "the message is empty")


def is_said(part: Part) -> bool:
    """Whether a part is anything but an empty text, or reasoning with nothing in it."""
    if isinstance(part, TextPart):
        return part.text != ""
    return not isinstance(part, ReasoningPart) or part.text != "" or not part.is_plain


def get_object(value: Any, path: str) -> Object:
    """`value`, an object."""
    if not isinstance(value, dict):
        raise _expected("an object", value, path)
    return cast(Object, value)


def get_group(data: Object, name: str) -> Object:
    """The object at `name`; empty if there is none."""
    value = data.get(name)
    return {} if value is None else get_object(value, name)


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


def get_role(data: Object, roles: Mapping[str, Role], path: str) -> Role:
    """The role of the message at `path`, by its name there."""
    name = get_text(data.get("role"), f"{path}.role")
    if name not in roles:
        raise InvalidInputError(f"unknown role {name!r}", path=f"{path}.role", hint=f"Use {', '.join(roles)}.")
    return roles[name]


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
