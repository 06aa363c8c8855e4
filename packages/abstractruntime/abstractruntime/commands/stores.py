"""What the commands share: the database, programs by their names, JSON and durations of arguments."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

from abstractcore.errors import InvalidInputError
from abstractcore.registry import missing_path_hint, similar_path
from abstractcore_cli.toolkit import repeated_in_hints

from ..json_documents import JSON
from ..programs import Program
from ..runtime import Runtime

_SQLITE: Final = "sqlite:///"
_USUAL: Final = f"{_SQLITE}runs.db"
"""The default of `--store`."""
_VARIABLE: Final = "ABSTRACTRUNTIME_STORE"
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_HOW: Final = "Write MODULE:ATTRIBUTE, as in --programs treasury:treasurer."


@contextmanager
def open_store(store: str, *, make: bool = False, **options: Any) -> Generator[Runtime]:
    """Yields the database of a command. Only with `make` is a missing file made: a wrong path would show no runs."""
    place = store if "://" in store else f"{_SQLITE}{Path(store)}"
    if place.startswith(_SQLITE) and not make:
        file = place.removeprefix(_SQLITE).partition("?")[0]
        if file and not Path(file).exists():
            hint = similar_path(file) or f"Give the database: --store URL, or {_VARIABLE}."
            raise InvalidInputError(f"the database {file} does not exist", path="--store", hint=hint)
    given = None if store == _USUAL else store
    with repeated_in_hints("runs", "--store", given, _VARIABLE), Runtime(place, **options) as runtime:
        yield runtime


def programs_and_effects(names: Sequence[str]) -> tuple[list[Program], dict[str, Any]]:
    """Returns programs, each once, and kinds of effects of `module:attribute`, found in the current folder first."""
    programs: dict[int, Program] = {}
    effects: dict[str, Any] = {}
    for name in names:
        found = _values(name)
        for value in found:
            if isinstance(value, Mapping):
                effects |= value
            else:
                programs[id(value)] = value
    return [*programs.values()], effects


def _values(name: str) -> Sequence[Program | Mapping[str, Any]]:
    module_name, colon, attribute = name.partition(":")
    if not module_name or (colon and not attribute) or module_name.endswith(".py"):
        raise InvalidInputError(f"{name!r} names no program", path="--programs", hint=_HOW)
    module = _imported(module_name)
    if not colon:
        effects: Any = getattr(module, "effects", None)
        found: list[Any] = [value for value in vars(module).values() if _is_program(value)]
        return [*found, cast("Mapping[str, Any]", effects)] if isinstance(effects, Mapping) else found
    try:
        value: Any = getattr(module, attribute)
    except AttributeError:
        has = [each for each, value in vars(module).items() if _is_program(value)]
        hint = f"It has: {', '.join(has)}." if has else "It has no programs."
        raise InvalidInputError(f"{module_name} has no {attribute!r}", path="--programs", hint=hint) from None
    if isinstance(value, Mapping):
        return [cast("Mapping[str, Any]", value)]
    values: list[Any] = [*cast("Sequence[Any]", value)] if isinstance(value, list | tuple) else [value]
    for each in values:
        if not _is_program(each):
            problem = f"expected a program, a list of programs or a dict of effects, {name} has {type(each).__name__}"
            raise InvalidInputError(problem, path="--programs", hint=_HOW)
    return values


def _imported(name: str) -> ModuleType:
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, folder)
    try:
        with redirect_stdout(sys.stderr):
            return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        problem = f"the module {name!r} cannot be imported: {type(error).__name__}: {error}"
        raise InvalidInputError(problem, path="--programs", hint=_HOW) from error


def _is_program(value: object) -> bool:
    return not isinstance(value, type) and isinstance(value, Program)


def json_of(text: str, option: str) -> JSON:
    """Returns the JSON of an argument: itself, that of a file for `@FILE`, or that of stdin for `-`."""
    content = text
    try:
        if text == "-":
            content = sys.stdin.read()
        elif text.startswith("@"):
            content = Path(text[1:]).read_text(encoding="utf-8")
        return json.loads(content)
    except OSError as error:
        file = text[1:]
        problem = f"{file} cannot be read: {error.strerror}"
        raise InvalidInputError(problem, path=option, hint=missing_path_hint(file)) from None
    except ValueError as error:
        hint = """Write JSON, such as '"a text"' or '{"euros": 80}'."""
        raise InvalidInputError(f"is not JSON: {error}", path=option, hint=hint) from None


def seconds_of(text: str, option: str) -> float:
    """Returns the seconds of a duration such as 90d, 12h, 30m or 10s."""
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([smhd])", text)
    if match is None:
        raise InvalidInputError(f"expected a duration such as 90d, 12h, 30m or 10s, got {text!r:.40}", path=option)
    return float(match[1]) * _UNITS[match[2]]
