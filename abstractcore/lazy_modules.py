"""Imports at first use: `LazyImports` for names of a package, `LazyModule` for a module that only annotations name."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any


class LazyModule:
    """A module that is imported on the first access to one of its names.

    It stands for `if TYPE_CHECKING: from . import streams` at run time, so that `typing.get_type_hints` and pydantic
    find `streams.Stream` in annotations of code that is used without streams.
    """

    __slots__ = ("_module", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            self._module = import_module(self._name)
        return getattr(self._module, name)


class LazyImports:
    """A `with` block around the last imports of a package, whose names are imported on their first access.

    It sets the `__all__`, `__getattr__` and `__dir__` of the package. For all that reads code (type checkers, editors,
    tools that pack programs) the imports are ordinary ones; `import X as X` marks what is exported. Python 3.15 has
    the statement `lazy from ... import ...` for it.

    `packages` are those that names require, by the name: where one is not installed, `__all__` is without that name,
    so that `from ... import *` gets the others.
    """

    __slots__ = ("_import", "_modules", "_namespace", "_packages")

    def __init__(self, namespace: dict[str, Any], **packages: str) -> None:
        self._namespace = namespace
        self._packages = packages
        self._modules: dict[str, str] = {}
        """The module of each name, relative to the package."""

    def __enter__(self) -> None:
        _one_block_at_a_time.acquire()
        self._import: Any = builtins.__import__
        builtins.__import__ = self._note

    def _note(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] = (), level: int = 0
    ) -> Any:
        """Notes the names of an import in the block. Imports of other modules, in other threads, are made."""
        if globals is not self._namespace:
            return self._import(name, globals, locals, fromlist, level)
        self._modules.update(dict.fromkeys(fromlist, "." * level + name))
        return _Placeholder()

    def __exit__(self, *_: object) -> None:
        builtins.__import__ = self._import
        _one_block_at_a_time.release()
        namespace = self._namespace
        for name in self._modules:
            namespace.pop(name, None)
        imported = {name for name, value in namespace.items() if not isinstance(value, ModuleType)}
        public = {name for name in imported if not name.startswith("_") or name == "__version__"}
        namespace["__all__"] = sorted(public.union(self._modules) - self._not_installed())
        namespace["__getattr__"] = self._attribute
        namespace["__dir__"] = lambda: sorted({*namespace, *self._modules})

    def _not_installed(self) -> set[str]:
        if not self._packages:
            return set()
        from importlib.util import find_spec

        return {name for name, package in self._packages.items() if find_spec(package) is None}

    def _attribute(self, name: str) -> Any:
        package = self._namespace["__package__"]
        module = self._modules.get(name)
        if module is None:
            raise AttributeError(f"module {self._namespace['__name__']!r} has no attribute {name!r}")
        if module.endswith("."):
            value = import_module(module + name, package)
        else:
            value = getattr(import_module(module, package), name)
        self._namespace[name] = value
        return value


class _Placeholder:
    """What a `LazyImports` block gets for a module: it has any name."""

    def __getattr__(self, name: str) -> None:
        return None


_one_block_at_a_time = RLock()
if hasattr(os, "register_at_fork"):
    _release = _one_block_at_a_time.release
    os.register_at_fork(before=_one_block_at_a_time.acquire, after_in_parent=_release, after_in_child=_release)
