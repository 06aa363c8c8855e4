"""`ModuleNames`: modules, and what is in them, by the names that options such as `--tool` are given."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from abstractcore import InvalidInputError
from abstractcore.registry import did_you_mean, nearest_names
from abstractcore.schema import shown

from .screen import prints_to_stderr


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """Finds what an `option` names as MODULE:NAME, in the current folder first. `kind` says what it is, such as
    "function", `write` how to name it; `others` are names that the option takes besides, each a `other_kind`.
    """

    option: str
    kind: str
    write: str
    others: Sequence[str] = ()
    other_kind: str = ""

    def module(self, name: str) -> ModuleType:
        """Imports a module; what it prints goes to stderr. Raises `InvalidInputError`, also if the module raises."""
        if (folder := str(Path.cwd())) not in sys.path:
            sys.path.insert(0, folder)
        if name.startswith(".") or "/" in name or "\\" in name:
            raise self._unknown(name)
        try:
            with prints_to_stderr():
                return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise self._broken(f"the module {name} cannot be imported", f"import {name}", error) from error
            raise self._unknown(name) from None
        except (Exception, SystemExit) as error:
            raise self._broken(f"the module {name} cannot be imported", f"import {name}", error) from error

    def attribute(self, module: ModuleType, path: str) -> Any:
        """Returns what is called `path` in a module, as in `Class.method`; raises `InvalidInputError`."""
        found: Any = module
        for name in path.split("."):
            try:
                with prints_to_stderr():  # a module may import what it is asked for only now
                    found = getattr(found, name)
            except AttributeError:
                raise self._no_attribute(found, name, path) from None
            except (Exception, SystemExit) as error:
                statement = f"from {module.__name__} import {path.partition('.')[0]}"
                raise self._broken(f"{module.__name__}:{path} cannot be read", statement, error) from error
        return found

    def refused_file(self, name: str, rest: str) -> InvalidInputError:
        """Returns the error for the file of a module, with the module's name; `rest` is what follows the name."""
        folder = Path.cwd()
        file = Path(folder, name)
        inside = file.relative_to(folder) if file.is_relative_to(folder) else Path(file.name)
        module = ".".join(inside.with_suffix("").parts)
        hint = f"Write the module's name in place of its file's: {self.option} {module}{rest}"
        if inside.name == str(inside) and file.parent != folder:
            hint += f", in the folder {file.parent}"
        return InvalidInputError(f"{shown(name)} is a file, not a module", path=self.option, hint=hint)

    def _unknown(self, name: str) -> InvalidInputError:
        near = nearest_names(name, [*self.others, *(file.stem for file in Path().glob("*.py"))])
        hint = did_you_mean(near) if near else "Modules are looked up in the current folder and in installed packages."
        what = f"no module and no {self.other_kind}" if self.other_kind else "no module"
        return InvalidInputError(f"{what} is called {shown(name)}", path=self.option, hint=hint)

    def _no_attribute(self, owner: object, name: str, path: str) -> InvalidInputError:
        near = nearest_names(name, [*_callables(owner)])
        hint = did_you_mean(near) if near else self.write
        where = getattr(owner, "__name__", path)
        return InvalidInputError(f"{where} has no {self.kind} {shown(name)}", path=self.option, hint=hint)

    def _broken(self, what: str, statement: str, error: BaseException) -> InvalidInputError:
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        hint = f'To see where: python -c "{statement}"'
        return InvalidInputError(f"{what}: {reason}", path=self.option, hint=hint)


def _callables(owner: object) -> Iterator[str]:
    """Yields the names of what can be called, without those that cannot be read."""
    for name in dir(owner):
        with suppress(Exception):
            if callable(getattr(owner, name)):
                yield name
