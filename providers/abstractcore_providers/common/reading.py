"""Reads JSON: tolerantly in responses of vendors, strictly in requests of clients.

Tolerant reading of received JSON: each access states the expected type and returns None for any other. Strict reading
of a client's JSON: errors name the path of what is wrong. Values of a response whose type is not that of their field:
each becomes a warning of the reply. UTF-16 surrogates in texts that a server split within a character, joined when
both halves arrive.

The readers of a field note a value of any other type but null, which is a warning of the reply (`unread_values`).

A value of another type is read as absent. Whoever decodes a response sets `UNREAD` to a dictionary for as long, and
adds its warnings to the reply; the readers of fields add to it. It is set for the current thread or task alone, and
without it, as when a client's request is read, nothing is noted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import jiter
from pydantic_core import PydanticSerializationError

from abstractcore.errors import AbstractCoreError, InvalidInputError
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

if TYPE_CHECKING:
    from abstractcore.schema import Parsed

E = TypeVar("E", bound=AbstractCoreError)
UnreadValues: TypeAlias = dict[tuple[str, str], CallWarning]
"""Warnings by the field and the type that was received: a stream may repeat them in each event."""
UNREAD: ContextVar[UnreadValues | None] = ContextVar("unread_values", default=None)
_TYPES: dict[Any, str] = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}


def quoting(error: E, quoted: str) -> E:
    """Returns an error whose message quotes an answer."""
    error.quoted = quoted
    return error


def note_unread(field: str, expected: str, value: Any) -> None:
    """Notes that `field` has a `value` that is not what is `expected` of it; the value itself is not repeated."""
    found = UNREAD.get()
    if found is not None:
        note_in(found, field, expected, value)


def note_in(found: UnreadValues, field: str, expected: str, value: Any) -> None:
    """Adds the warning that `field` has a `value` that is not what is `expected` of it."""
    received = "null" if value is None else _TYPES.get(type(value), "a number")
    if (field, received) not in found:
        message = f"the provider sent {received} as {field!r} instead of {expected}"
        found[field, received] = CallWarning("unexpected_type", field, message)


_HALF = re.compile("[\ud800-\udfff]")


def has_surrogates(text: str) -> bool:
    """Whether `text` contains a surrogate."""
    return not text.isascii() and _HALF.search(text) is not None


def mend(text: str) -> str:
    """Returns `text` with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if not has_surrogates(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class PendingSurrogates(dict[int, str]):
    """Pending high surrogates of chunked texts, by block.

    It is nearly always empty, which can be checked without a call.
    """

    def mend(self, block: int, piece: str) -> str:
        """Returns the text that is complete after the chunk `piece` of the block."""
        if block not in self and not has_surrogates(piece):
            return piece
        text = self.pop(block, "") + piece
        if "\ud800" <= text[-1:] <= "\udbff":
            self[block] = text[-1]
            text = text[:-1]
        return mend(text)

    def rest(self, block: int) -> str:
        """Returns U+FFFD if a surrogate of the block is pending at its end."""
        return mend(self.pop(block, ""))


Object: TypeAlias = dict[str, Any]
Cut: TypeAlias = Mapping[str, "Cut"]
"""Names of texts that a stream may split within a character, as a tree."""


def read_json(data: bytes) -> Any:
    """Parses a JSON text, including values that the schema rejects later; raises `ValueError`.

    jiter is several times faster than the standard library, but rejects a byte order mark and lone surrogates, which
    some servers send when they split text within a character.
    """
    try:
        return jiter.from_json(data, allow_inf_nan=False)
    except ValueError:
        return _read_slowly(data, None)


def read_answer(data: bytes, *, keep_surrogates: bool = False) -> Any:
    """As `read_json`, for a provider's response: NaN and infinities become None, lone surrogates U+FFFD.

    With `keep_surrogates`, surrogates are kept, for a stream whose next event may contain the other half.
    """
    try:
        return jiter.from_json(data, allow_inf_nan=False)
    except ValueError:
        value = _read_slowly(data, _nothing)
        return value if keep_surrogates else mend_texts(value)


def read_event(data: bytes, cut: Cut) -> Any:
    """As `read_answer`, but keeps lone surrogates in the texts that `cut` names: the next event may contain the other
    halves.

    `cut` has an empty mapping for a text, and one of names for an object; lists in between are traversed.
    """
    try:
        return jiter.from_json(data, allow_inf_nan=False)
    except ValueError:
        return mend_texts(_read_slowly(data, _nothing), cut)


def _read_slowly(data: bytes, constant: Callable[[str], Any] | None) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _nothing(constant: str) -> None:
    return None


def mend_texts(value: Any, cut: Cut | None = None) -> Any:
    """Replaces lone surrogates in the texts of a JSON value, except for those that `cut` names."""
    if isinstance(value, str):
        return mend(value) if cut is None or cut else value
    if isinstance(value, list):
        return [mend_texts(item, cut or None) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        names = cut or {}
        return {mend(key): mend_texts(item, names.get(key)) for key, item in cast(Object, value).items()}
    return value


MAX_COUNT = 2**63


def as_object(value: Any) -> Object:
    """Returns `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def as_objects(value: Any) -> list[Object]:
    """Returns the objects in a list; an empty list for anything else."""
    if not isinstance(value, list):
        return []
    return [cast(Object, item) for item in cast("list[Any]", value) if isinstance(item, dict)]


def object_of(data: Mapping[str, Any], key: str) -> Object:
    """Returns the object at `key`; an empty one if there is none."""
    value = data.get(key)
    if isinstance(value, dict):
        return value  # pyright: ignore[reportUnknownVariableType]
    if value is not None:
        note_unread(key, "an object", value)
    return {}


def objects_of(data: Mapping[str, Any], key: str) -> list[Object]:
    """Returns the objects in the list at `key`; an object in place of the list is its only item."""
    value = data.get(key)
    if not isinstance(value, list):
        if value is None:
            return []
        note_unread(key, "a list", value)
        return [cast(Object, value)] if value and isinstance(value, dict) else []
    items = cast("list[Any]", value)
    objects = [cast(Object, item) for item in items if isinstance(item, dict)]
    if len(objects) < len(items):
        note_unread(key, "an object", next(item for item in items if not isinstance(item, dict)))
    return objects


def texts_of(data: Mapping[str, Any], key: str) -> list[str]:
    """Returns the texts in the list at `key`."""
    return _items_of(data, key, "a text", lambda item: isinstance(item, str))


def counts_of(data: Mapping[str, Any], key: str) -> list[int]:
    """Returns the counts in the list at `key`."""
    return _items_of(data, key, "a count", _is_count)


def _items_of(data: Mapping[str, Any], key: str, expected: str, is_expected: Callable[[Any], bool]) -> list[Any]:
    value = data.get(key)
    if not isinstance(value, list):
        if value is not None:
            note_unread(key, "a list", value)
        return []
    items = cast("list[Any]", value)
    for item in items:
        if not is_expected(item):
            note_unread(key, expected, item)
    return [item for item in items if is_expected(item)]


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < MAX_COUNT


def text_of(data: Object, key: str) -> str | None:
    """Returns the text at `key`."""
    value = data.get(key)
    if isinstance(value, str):
        return value
    if value is not None:
        note_unread(key, "a text", value)
    return None


def flag_of(data: Object, key: str) -> bool:
    """Whether `key` is true."""
    value = data.get(key)
    if value is not None and not isinstance(value, bool):
        note_unread(key, "true or false", value)
    return value is True


def count_of(data: Object, key: str) -> int | None:
    """Returns the count at `key`: an integer that every JSON parser can represent, else None."""
    value = data.get(key)
    if type(value) is int and 0 <= value < MAX_COUNT:
        return value
    if value is not None:
        note_unread(key, "a count", value)
    return None


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
        raise _type_error("an object", value, path)
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
        raise _type_error("a list", value, f"{path}{name}")
    return cast("list[Any]", value)


def get_text(value: Any, path: str) -> str:
    """Returns `value`, a text."""
    if not isinstance(value, str):
        raise _type_error("text", value, path)
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
        raise _type_error("true or false", value, f"{path}{name}")
    return value


def name_the_rest(data: Object, known: frozenset[str], path: str, warnings: list[CallWarning]) -> None:
    """Warns of fields that are not read."""
    for name, value in data.items():
        if name not in known and value is not None:
            warnings.append(CallWarning("field_left_out", f"{path}.{name}", f"{name!r} is not supported here"))


def _type_error(what: str, value: Any, path: str) -> InvalidInputError:
    return InvalidInputError(f"expected {what}, got {type(value).__name__}", path=path)
