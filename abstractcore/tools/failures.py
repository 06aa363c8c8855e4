"""Exceptions of tools as text: what the model reads, and what the caller keeps."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import cast

from ..errors import ToolError, ToolFailed, ToolRetry
from ..schema import ErrorRecord
from ..schema.base_error import shortened

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
    while frames is not None and frames.tb_next is not None and _is_ours(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    text = "".join(traceback.format_exception(type(error), error, frames))
    return scrubbed(text[-_LONGEST_TRACEBACK:])


def _is_ours(filename: str) -> bool:
    return filename.startswith(_FOLDER)


def _text_of(error: BaseException) -> str:
    """Returns the message of an exception; it may be long, and making it may fail."""
    try:
        return str(error)[: _LONGEST_MESSAGE * 100]
    except (Exception, SystemExit):
        return ""


_FOLDER = __file__.rpartition("failures")[0]
