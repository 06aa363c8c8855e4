"""`LazyModule`: a module that only annotations name, imported when one of them is evaluated."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """A module that is imported on the first access to one of its names.

    It stands for `if TYPE_CHECKING: from . import streams` at run time, so that `typing.get_type_hints` and pydantic
    find `streams.Stream` in annotations of code that is used without streams.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
