"""Removes credentials from an exception, its attributes and its chain, in place."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from .values import with_texts

_ATTRIBUTES_OF_BUILTINS = ("strerror", "filename", "filename2", "object", "reason", "value", "msg", "text", "name")
"""Attributes of built-in exceptions that hold text, besides `args`."""


class ScrubbedError(Exception):
    """Replaces an exception whose text holds a credential and cannot be changed."""


class ExceptionScrubber:
    """Applies `change` to every text of exceptions, to each exception once."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self._change = change
        self._cleaned: dict[int, BaseException] = {}

    def cleaned(self, error: BaseException) -> BaseException:
        """Returns `error`, changed in place; a `ScrubbedError` instead of it if its text cannot be changed."""
        if id(error) in self._cleaned:
            return self._cleaned[id(error)]
        self._cleaned[id(error)] = error
        self._change_arguments(error)
        self._change_attributes(error)
        self._clean_chain(error)
        text, members = _text_of(error), _members(error)
        clean, clean_members = self._change(text), tuple(self.cleaned(member) for member in members)
        if clean != text or any(after is not before for after, before in zip(clean_members, members, strict=True)):
            self._cleaned[id(error)] = _replacement(error, clean, clean_members)
        return self._cleaned[id(error)]

    def _change_arguments(self, error: BaseException) -> None:
        arguments = with_texts(error.args, self._change)
        if arguments is not error.args:
            with suppress(Exception):  # a class of another package may not allow changes
                error.args = arguments

    def _change_attributes(self, error: BaseException) -> None:
        for name in (*vars(error), *_ATTRIBUTES_OF_BUILTINS):
            before = getattr(error, name, None)
            after = self._changed(before)
            if after is not before:
                with suppress(Exception):
                    setattr(error, name, after)

    def _changed(self, value: object) -> object:
        if isinstance(value, BaseException):
            return self.cleaned(value)
        if isinstance(value, tuple | list):
            items = cast("tuple[object, ...]", value)
            if any(isinstance(item, BaseException) for item in items):
                changed = [self._changed(item) for item in items]
                return tuple(changed) if isinstance(value, tuple) else changed
        return with_texts(value, self._change)

    def _clean_chain(self, error: BaseException) -> None:
        suppressed = error.__suppress_context__
        for name in ("__cause__", "__context__"):
            chained = getattr(error, name)
            if chained is not None:
                setattr(error, name, self.cleaned(chained))
        error.__suppress_context__ = suppressed


def _replacement(error: BaseException, text: str, members: tuple[BaseException, ...]) -> BaseException:
    """Returns the replacement of `error`: with the same traceback, chain and notes, and these members of a group."""
    if members:
        replacement: BaseException = BaseExceptionGroup(text.rpartition(" (")[0], members)
    else:
        replacement = ScrubbedError(f"{type(error).__name__}: {text}")
    replacement.__cause__, replacement.__context__ = error.__cause__, error.__context__
    replacement.__suppress_context__ = error.__suppress_context__
    for note in getattr(error, "__notes__", ()):
        replacement.add_note(note)
    return replacement.with_traceback(error.__traceback__)


def _members(error: BaseException) -> tuple[BaseException, ...]:
    """Returns the members of an exception group."""
    return cast("Any", error).exceptions if isinstance(error, BaseExceptionGroup) else ()


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""
