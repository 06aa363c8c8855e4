"""`abstractcore config set` and `unset`: one value of `config.toml`, in the lines of the file as they are."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import abstractcore
from abstractcore.catalogue import read_document, read_toml
from abstractcore.configuration import read_configuration
from abstractcore.schema import shown, write_whole
from abstractcore.user_folders import config_file_path

from .plugins import registry
from .reporting import json_line, reported
from .screen import note, write

_SHORT: Final = {"model": ("llm", "default", "model"), "embedding-model": ("llm", "embedding", "model")}
"""Names for what is set most: the model of `create_llm()`, `ask` and `chat`, and that of `embed` and `index add`."""
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_EDIT: Final = "Edit the file: abstractcore config edit"
_FOLLOWS: Final = (abstractcore.AuthenticationError, abstractcore.MissingExtraError, abstractcore.ModelStoreError)
"""What hinders a model that exists from being used now."""


def set_value(name: str, value: str, *, as_json: bool) -> None:
    """Sets a value, once the file with it is found to be valid."""
    with reported(as_json=as_json):
        names, new = _names(name), _value(value)
        path, text = _file()
        changed = with_value(text, names, new)
        if changed is None:
            raise abstractcore.ConfigurationError(f"{name} cannot be set in a line of {path}", hint=_EDIT)
        _write(path, changed, checked_llm=names[1] if names[0] == "llm" else None)
        if as_json:
            write(json_line({"path": str(path), "name": ".".join(names), "value": new, "exit_code": 0}))
        else:
            note(f"{path}: {'.'.join(names)} = {_toml(new)}")


def unset_value(name: str, *, as_json: bool) -> None:
    """Removes a value."""
    with reported(as_json=as_json):
        names = _names(name)
        path, text = _file()
        if _found(tomllib.loads(text), names) is None:
            hint = "abstractcore config show lists what is set"
            raise abstractcore.InvalidInputError(f"{name} is not set in {path}", path="NAME", hint=hint)
        changed = with_value(text, names, None)
        if changed is None:
            raise abstractcore.ConfigurationError(f"{name} is not in a line of its own of {path}", hint=_EDIT)
        _write(path, changed)
        if as_json:
            write(json_line({"path": str(path), "name": ".".join(names), "value": None, "exit_code": 0}))
        else:
            note(f"{path}: {'.'.join(names)} is not set any more")


def _names(name: str) -> tuple[str, ...]:
    names = _SHORT.get(name) or tuple(name.split("."))
    if len(names) < 2 or not all(map(_BARE.fullmatch, names)):
        hint = f"Write {', '.join(_SHORT)}, or a name as in llm.fast.model or llm.fast.options.seed."
        raise abstractcore.InvalidInputError(f"{shown(name)} is not the name of a setting", path="NAME", hint=hint)
    return names


def _value(text: str) -> Any:
    """Returns a number, a truth value or a list as such, anything else as text."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    if value is None or isinstance(value, dict):
        hint = "Write the names down to a value, as in llm.fast.options.temperature 0.2"
        raise abstractcore.InvalidInputError(f"{shown(text)} is not a value of a setting", path="VALUE", hint=hint)
    return value


def _check_llm(name: str, path: Path) -> None:
    """Raises the error of an LLM of a configuration that cannot be created; a missing key is not one."""
    environment = {**os.environ, "ABSTRACTCORE_CONFIG": str(path)}
    services = abstractcore.Services(registry=registry(), environment=environment)
    try:
        abstractcore.create_llm(name, services=services).close()
    except _FOLLOWS as error:
        vendor = f"{error.provider}: " if error.provider else ""
        note(f"warning: {vendor}{error.message}")
    finally:
        services.close()


def _file() -> tuple[Path, str]:
    path, _ = config_file_path(os.environ)
    if not path.exists():
        return path, ""
    document = read_document(path)
    read_toml(document)
    return path, document.text


def with_value(text: str, names: Sequence[str], value: Any) -> str | None:
    """Returns a TOML text with a value set, or removed if it is None, with the tables that are empty then. Comments and
    all other lines stay.

    Returns None if that takes more than one line, as of a value that is in an inline table.
    """
    lines = text.splitlines(keepends=True)
    expected = tomllib.loads(text)
    _put(expected, names, value)
    places = dict(_places(lines))
    at, table = places.get(tuple(names)), places.get(("[]", *names[:-1]))
    key = f"{names[-1]} = {_toml(value)}\n"
    if at is not None:
        place, written = at
        lines[place] = "" if value is None else f"{written} = {_toml(value)}\n"
        for header in _empty_tables(expected, names, places):
            lines[header] = ""
    elif table is not None:
        lines.insert(table[0] + 1, key)
    else:
        before = "" if not lines else "\n" if lines[-1].endswith("\n") else "\n\n"
        lines.append(f"{before}[{'.'.join(names[:-1])}]\n{key}")
    if at is None and table is not None and not lines[table[0]].endswith("\n"):
        lines[table[0]] += "\n"
    changed = "".join(lines)
    try:
        return changed if tomllib.loads(changed) == expected else None
    except tomllib.TOMLDecodeError:
        return None


def _empty_tables(
    document: Mapping[str, Any], names: Sequence[str], places: Mapping[Any, tuple[int, str]]
) -> list[int]:
    """Returns the places of the headers of tables around a value that are not in a document any more."""
    around = [tuple(names[:count]) for count in range(1, len(names))]
    return [places["[]", *each][0] for each in around if ("[]", *each) in places and _found(document, each) is None]


def _places(lines: Sequence[str]) -> Iterator[tuple[tuple[str, ...], tuple[int, str]]]:
    """Yields the names of each value that is in a line of its own, with its place and its key as written; those of a
    table begin with "[]".
    """
    table: tuple[str, ...] = ()
    for number, line in enumerate(lines):
        try:
            found = tomllib.loads(line)
        except tomllib.TOMLDecodeError:
            continue
        names = tuple(_path(found))
        if line.lstrip().startswith("["):
            table = names
            yield ("[]", *names), (number, "")
        elif names:
            yield (*table, *names), (number, line.partition("=")[0].strip())


def _path(found: Any) -> Iterator[str]:
    """Yields the names down to the only value."""
    while isinstance(found, dict) and len(cast("dict[str, Any]", found)) == 1:
        ((name, found),) = cast("dict[str, Any]", found).items()
        yield name


def _found(document: Mapping[str, Any], names: Sequence[str]) -> Any:
    found: Any = document
    for name in names:
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return found


def _put(document: dict[str, Any], names: Sequence[str], value: Any) -> None:
    """Sets a value in a document, or removes it if it is None, with the tables that are empty then."""
    inner, tables = document, [document]
    for name in names[:-1]:
        below = inner.setdefault(name, {})
        if not isinstance(below, dict):
            inner[name] = below = dict[str, Any]()
        inner = cast("dict[str, Any]", below)
        tables.append(inner)
    if value is not None:
        inner[names[-1]] = value
        return
    for table, name in zip(reversed(tables), reversed(names), strict=True):
        if not table.get(name) or table is inner:
            table.pop(name, None)


def _toml(value: Any) -> str:
    """Returns a value as TOML: that of texts, numbers, truth values and lists of them is JSON but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write(path: Path, text: str, checked_llm: str | None = None) -> None:
    """Writes the file, unless it or an LLM of it would not be valid: then the error names its line."""
    plugins = registry()
    trial = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(trial, text.encode())
        read_configuration(trial, plugins.media_handlers, plugins.providers)
        if checked_llm is not None:
            _check_llm(checked_llm, trial)
        write_whole(path, text.encode())
    except OSError as error:
        raise cannot_write(path, error) from None
    except abstractcore.ConfigurationError as error:
        message = error.message.replace(str(trial), str(path))
        raise abstractcore.ConfigurationError(message, hint=error.hint or _EDIT) from None
    finally:
        trial.unlink(missing_ok=True)


def cannot_write(path: Path, error: OSError) -> abstractcore.ConfigurationError:
    """Returns the error for a file of settings on a full disk, or in a folder of somebody else."""
    message = f"{path} cannot be written: {error.strerror or error}"
    hint = "Make it writable, free disk space, or name another file in ABSTRACTCORE_CONFIG."
    return abstractcore.ConfigurationError(message, hint=hint)
