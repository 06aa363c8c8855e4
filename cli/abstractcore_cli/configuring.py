"""`abstractcore config`: the user's `config.toml`, shown with what the environment sets, edited and checked."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from datetime import date, time
from pathlib import Path
from typing import Any, cast

import typer

import abstractcore
from abstractcore.catalogue import read_document, read_toml
from abstractcore.configuration import Configuration, place_of, read_configuration
from abstractcore.scrubbing import Secrets, credentials_in, is_sensitive
from abstractcore.user_folders import config_file_path

from .exit_codes import exit_code
from .plugins import registry
from .reporting import error_facts, error_lines, json_line, reported
from .screen import complain, note, show_table, write
from .setting_values import cannot_write

_TEMPLATE = """\
# The configuration of AbstractCore: what programs and the environment do not set. docs/configuration.md has all of it.
# Keys of providers do not belong here: they are read from variables of the environment.

# [llm.default]                  # create_llm() without a name
# model = "openai/gpt-5.4-mini"
# options.temperature = 0.2

# [providers.openai]             # how a provider is reached
# base_url = "https://gateway.example.com/v1"
# api_key_env = "MY_OPENAI_KEY"

# [media_policy]                 # how files are sent to models
# image = "caption"
"""
_PREFIX = "ABSTRACTCORE_"
_USER = re.compile(r"://[^/@\s]{1,1000}@")
"""User and password of a URL."""


def show_path(*, as_json: bool) -> None:
    """Prints the path of the file, whether it exists or not."""
    path, _ = config_file_path(os.environ)
    write(json_line({"path": str(path), "exists": path.exists()}) if as_json else f"{path}\n")


def show_settings(*, as_json: bool) -> None:
    """Prints each value that is set, with its source: a variable of the environment, or a line of the file."""
    with reported(as_json=as_json):
        path, named = config_file_path(os.environ)
        rows = [*_environment(), *(_in_file(path) if named or path.exists() else ())]
        if as_json:
            facts = [{"name": name, "value": value, "source": source} for name, value, source in rows]
            write(json_line({"path": str(path), "settings": facts, "exit_code": 0}))
            return
        if rows:
            show_table(("setting", "value", "from"), [(name, _shown(value), source) for name, value, source in rows])
        else:
            note(f"Nothing is set: {path} {'is empty' if path.exists() else 'does not exist'}, nor is {_PREFIX}*.")


def _environment() -> Iterator[tuple[str, Any, str]]:
    for name in sorted(os.environ):
        if name.startswith(_PREFIX):
            yield name, "(set, not shown)" if is_sensitive(name) else _without_password(os.environ[name]), "environment"


def _in_file(path: Path) -> Iterator[tuple[str, Any, str]]:
    document = read_document(path)
    for names, value in _flat(read_toml(document)):
        line, _ = place_of(document.text, names)
        hidden = any(map(is_sensitive, names)) and not names[-1].endswith("_env")
        yield ".".join(names), "(not shown)" if hidden else _without_password(value), f"{path.name}:{line}"


def _without_password(value: Any) -> Any:
    """Returns a value as it is shown: URLs of databases, gateways and proxies may have a password."""
    if isinstance(value, list):
        return [*map(_without_password, cast("list[Any]", value))]
    if not isinstance(value, str) or "://" not in value:
        return value
    return Secrets(credentials_in(value, {})).text(_USER.sub("://***@", value))


def _flat(table: Mapping[str, Any], names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields the values of nested tables with their names."""
    for name, value in table.items():
        if isinstance(value, dict) and value:
            yield from _flat(cast("dict[str, Any]", value), (*names, name))
        else:
            yield (*names, name), str(value) if isinstance(value, date | time) else value


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def check(*, as_json: bool) -> None:
    """Prints everything that is wrong with the file, each with its line and column, and exits with an error code."""
    path, named = config_file_path(os.environ)
    if not named and not path.exists():
        if as_json:
            write(json_line({"path": str(path), "errors": [], "exit_code": 0}))
        else:
            note(f"There is no {path}: nothing is wrong. `abstractcore config edit` makes one.")
        return
    errors = list(_errors(path))
    code = exit_code(errors[0]) if errors else 0
    if as_json:
        write(json_line({"path": str(path), "errors": [error_facts(each) for each in errors], "exit_code": code}))
    elif not errors:
        note(f"{path}: nothing is wrong.")
    for error in () if as_json else errors:
        complain(*error_lines(error))
    if errors:
        if not as_json:
            note("`abstractcore config edit` opens the file.")
        raise typer.Exit(code)


def _errors(path: Path) -> Iterator[abstractcore.AbstractCoreError]:
    """Yields what is wrong with the file; of named LLMs and of providers also what is only found when one is created.

    A missing key is not an error of the file, unless this names a variable for it.
    """
    plugins = registry()
    try:
        configuration = read_configuration(path, plugins.media_handlers, plugins.providers)
    except abstractcore.ConfigurationError as error:
        yield from getattr(error, "errors", (error,))
        return
    services = abstractcore.Services(registry=plugins)
    try:
        for create in _names(configuration):
            try:
                abstractcore.create_llm(*create, services=services).close()
            except abstractcore.MissingExtraError:
                continue
            except abstractcore.AbstractCoreError as error:
                is_of_file = error.message.startswith(f"{path}:")
                if is_of_file or not isinstance(error, abstractcore.AuthenticationError):
                    yield error
    finally:
        services.close()


def _names(configuration: Configuration) -> Iterator[tuple[str, ...]]:
    yield from ((name,) for name in configuration.llms)
    yield from ((name, "any") for name in configuration.providers)


def _variable(name: str) -> str:
    return os.environ.get(name, "")


def edit() -> None:
    """Opens the file in the user's editor, with examples if there is none yet, and checks it afterwards."""
    with reported():
        path, _ = config_file_path(os.environ)
        editor = next(filter(str.strip, map(_variable, ("VISUAL", "EDITOR"))), None)
        if editor is None:
            message = "no editor is set"
            raise abstractcore.ConfigurationError(message, hint=f'Set EDITOR, as in EDITOR="nano", or edit {path}.')
        try:
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_TEMPLATE, encoding="utf-8")
        except OSError as error:
            raise cannot_write(path, error) from None
        try:
            problem = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
        except OSError as error:
            problem = error.strerror
        except ValueError as error:
            problem = str(error)
        if problem:
            what = f"exit status {problem}" if isinstance(problem, int) else problem
            raise abstractcore.ConfigurationError(f"the editor {editor!r} failed: {what}", hint=f"Edit {path}.")
    check(as_json=False)
