"""What a tool returns, as content for the model.

Exceptions of tools as text: what the model reads, and what the caller keeps.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..errors import MediaError, ToolError, ToolFailed, ToolRetry
from ..pillow_images import from_pillow, is_picture
from ..schema import (
    MEDIA_PART_BY_KIND,
    AudioPart,
    Blob,
    CallWarning,
    ContentPart,
    DocumentPart,
    ErrorRecord,
    GenerateResponse,
    ImagePart,
    TextPart,
    ToolResult,
    VideoPart,
    media_kind_of,
)
from ..schema.base_error import one_line, shortened
from .names import checks_option_names

_PARTS = (TextPart, ImagePart, AudioPart, VideoPart, DocumentPart)
_WRITTEN_AS_JSON = frozenset({bool, int, float, dict})
"""The most frequent types but text, which hold no files."""
_MAX_IMAGE_BYTES = 256 * 1024 * 1024


@checks_option_names
@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool returns to give the model less than the caller: the model reads `content` only.

    `data` goes to the step and its events, and to the state of a loop, for which it must be JSON.
    """

    content: Any
    data: Any = None


class NoContentError(ToolError):
    """A value cannot be given to a model; the message names its type, and says what to return instead."""


@dataclass(frozen=True, slots=True)
class ToolContent:
    """A value as the content of a result."""

    parts: tuple[ContentPart, ...]
    data: Any = None
    is_error: bool = False
    warnings: tuple[CallWarning, ...] = ()


def content_of(value: Any, *, returns_none: bool = False) -> ToolContent:
    """Returns the content that a model reads of a tool's value; raises `NoContentError` if it has no form.

    Text is itself. Media parts, blobs and Pillow images are files, alone or in a list with texts; everything else is
    JSON, as pydantic writes it. None is "null", or "done" if the function is annotated to return None.
    """
    if type(value) is str:
        return _of_text(value)
    if type(value) in _WRITTEN_AS_JSON:
        return _of_text(_json(value))
    if isinstance(value, ToolOutput):
        inner = content_of(value.content, returns_none=False)
        return ToolContent(inner.parts, value.data, inner.is_error, inner.warnings)
    if isinstance(value, ToolResult):
        return ToolContent(value.content, is_error=value.is_error)
    if value is None:
        return ToolContent((TextPart("done" if returns_none else "null"),))
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        if any(map(_is_file, items)):
            contents = [content_of(item) for item in items]
            parts = _in_lines(part for content in contents for part in content.parts)
            return ToolContent(parts, warnings=tuple(each for content in contents for each in content.warnings))
    elif _is_file(value):
        return ToolContent((_file(value),))
    elif isinstance(value, str):
        return _of_text(str.__str__(value))
    elif isinstance(value, GenerateResponse):
        return _of_text(cast("GenerateResponse[Any]", value).content)
    return _of_text(_json(value))


def _in_lines(parts: Iterable[ContentPart]) -> tuple[ContentPart, ...]:
    """Returns the parts with a line break between adjacent texts, which would be joined."""
    found: list[ContentPart] = []
    for part in parts:
        if found and isinstance(part, TextPart) and isinstance(found[-1], TextPart):
            found.append(TextPart("\n"))
        found.append(part)
    return tuple(found)


def data_of(value: Any) -> Any:
    """Returns the data of a step as JSON; raises `NoContentError` for a value that JSON cannot hold."""
    return None if value is None else json.loads(_json(value))


def _of_text(text: str) -> ToolContent:
    try:
        return ToolContent((TextPart(text),))
    except ValueError:
        readable = text.encode("utf-8", "replace").decode("utf-8")
        warning = CallWarning("replaced_characters", "", "lone surrogates in a tool's result were replaced by '?'")
        return ToolContent((TextPart(readable),), warnings=(warning,))


def _is_file(value: Any) -> bool:
    return isinstance(value, (*_PARTS, Blob)) or is_picture(value)


def _file(value: Any) -> ContentPart:
    if isinstance(value, _PARTS):
        return value
    if isinstance(value, Blob):
        return MEDIA_PART_BY_KIND[media_kind_of(value.media_type)](value)
    try:
        content = from_pillow(value, "the tool's image", _MAX_IMAGE_BYTES)
    except MediaError as error:
        raise NoContentError(error.message) from error
    return ImagePart(Blob.from_bytes(content.data, content.media_type or "image/png", name=content.name))


def _json(value: Any) -> str:
    """Returns a value as JSON, as pydantic writes it; raises `NoContentError`. JSON has no NaN and no infinity: they
    are texts, "NaN" and "Infinity".
    """
    _refuse(value)
    from pydantic_core import to_json

    try:
        return _standard(to_json(value, bytes_mode="base64", inf_nan_mode="strings", fallback=_plain).decode())
    except NoContentError:
        raise
    except Exception as error:  # serialisers of types may raise any exception
        return _by_its_class(value, error)


def _standard(text: str) -> str:
    """Returns JSON without the constants NaN and Infinity, which the configuration of a class may ask for."""
    if "NaN" not in text and "Infinity" not in text:
        return text
    constants: list[str] = []

    def read(constant: str) -> str:
        constants.append(constant)
        return constant

    value = json.loads(text, parse_constant=read)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if constants else text


def _by_its_class(value: Any, first: Exception) -> str:
    """Returns the JSON of a value that only its own class can write."""
    from pydantic import TypeAdapter

    try:
        return _standard(cast(Any, TypeAdapter)(type(value)).dump_json(value).decode())
    except Exception:  # the class has no serialiser, or one that fails
        _, named, reason = str(first).rpartition(f"{NoContentError.__name__}: ")
        if named:
            raise NoContentError(reason) from None
        problem = one_line(reason.partition("\n")[0])
        raise NoContentError(f"a value of type {type(value).__name__} cannot be written as JSON: {problem}") from first


def _refuse(value: Any) -> None:
    """Raises `NoContentError` for values that are often returned by mistake."""
    name = type(value).__name__
    if isinstance(value, bytes | bytearray | memoryview):
        raise NoContentError(
            f"{name} have no media type: return text, or Blob.from_bytes(data, 'image/png') with their type"
        )
    if hasattr(value, "__next__") or hasattr(value, "__anext__"):
        raise NoContentError(f"a value of type {name} gives its items one by one: return a list")


def _plain(value: Any) -> Any:
    """Returns a value that pydantic does not know as one that it does: mappings, and arrays and numbers of NumPy."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    plain = getattr(value, "tolist", None)
    if callable(plain) and hasattr(value, "dtype"):
        return plain()
    _refuse(value)
    raise NoContentError(
        f"a value of type {type(value).__name__} has no JSON form: return text, numbers, a dict, a list, a dataclass, "
        "a pydantic model, a media part or a Pillow image"
    )


_LONGEST_MESSAGE = 400
_LONGEST_TRACEBACK = 20_000
_MOST_MEMBERS = 3


class ProcessEndedError(ToolError):
    """The process of an isolated tool ended without a result."""


class IsolatedError(ToolError):
    """An exception in the process of an isolated tool; its text is the traceback."""

    _longest_message = _LONGEST_TRACEBACK


def message_of(error: BaseException, scrubbed: Callable[[str], str]) -> str:
    """Returns "Type: message" for the model, without traceback and credentials; the message alone of `ToolRetry` and
    `ToolFailed`."""
    if isinstance(error, ToolRetry | ToolFailed):
        return scrubbed(str(error)) or type(error).__name__
    name, message = type(error).__name__, _text_of(error)
    if isinstance(error, BaseExceptionGroup):
        members = cast("BaseExceptionGroup[BaseException]", error).exceptions[:_MOST_MEMBERS]
        message = "; ".join([message, *(f"{type(each).__name__}: {_text_of(each)}" for each in members)])
    # The credential may be where the text is cut: it is removed first.
    return f"{name}: {shortened(scrubbed(message), _LONGEST_MESSAGE)}" if message else name


def record_of(error: BaseException, scrubbed: Callable[[str], str]) -> ErrorRecord:
    """Returns the type and the message of an exception."""
    return ErrorRecord(type(error).__name__, shortened(scrubbed(_text_of(error)), _LONGEST_MESSAGE))


def traceback_of(error: BaseException, scrubbed: Callable[[str], str]) -> str:
    """Returns the traceback of an exception, from the tool's own code on; its end if it is long."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None and frames.tb_frame.f_code.co_filename.startswith(_FOLDER):
        frames = frames.tb_next
    text = "".join(traceback.format_exception(type(error), error, frames))
    return scrubbed(text[-_LONGEST_TRACEBACK:])


def _text_of(error: BaseException) -> str:
    """Returns the message of an exception; it may be long, and making it may fail."""
    try:
        return str(error)[: _LONGEST_MESSAGE * 100]
    except (Exception, SystemExit):
        return ""


_FOLDER = __file__.removesuffix("results.py")
