"""Every exception class of the five packages, and every error that a public name raises, is an `AbstractCoreError`."""

import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import pytest

import abstractcore
import abstractcore.schema as schema
import abstractcore_cli
import abstractcore_media
import abstractcore_providers
import abstractcore_server
from abstractcore import AbstractCoreError, Message, SchemaError, ToolSpec, errors, from_json
from abstractcore.telemetry import Subscription
from tests.junk import junk, outcome

PACKAGES = (abstractcore, abstractcore_cli, abstractcore_media, abstractcore_providers, abstractcore_server)
MADE_BY_OTHERS = {"LLM", "Stream", "AsyncStream", "SpokenReply", "AsyncSpokenReply", "Subscription"}
"""Classes that `create_llm`, its calls and `subscribe` create: users do not create them."""
OF_PLUGGY = {"hookimpl"}
STAND_INS = {"ScrubbedError"}
"""Never raised: they replace an exception in a chain whose text contains a credential."""
WITHIN_THE_SERVER = {"ClientGone", "GuardFailure", "QuotaExceeded", "RequestRefused"}
"""Signals between modules of the server, which answers its clients with errors of their APIs."""
DICTS = {"CallOptions", "CallRequest", "LLMOptions"}
"""Typed dicts: calling one makes a plain dict."""


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """A package with all its modules; `__main__` runs a program."""
    yield package
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.endswith(".__main__"):
            yield importlib.import_module(found.name)


def defined_errors() -> set[type[BaseException]]:
    """The exception classes that are defined in the five packages."""
    found: set[type[BaseException]] = set()
    for package in PACKAGES:
        for module in modules(package):
            for value in vars(module).values():
                if isinstance(value, type) and issubclass(value, BaseException) and value.__module__ == module.__name__:
                    found.add(value)
    return found


def test_every_exception_class_derives_from_abstractcore_error():
    defined = defined_errors()
    assert len(defined) > 35
    assert {error.__name__ for error in defined if not issubclass(error, AbstractCoreError)} == (
        STAND_INS | WITHIN_THE_SERVER
    )


def test_root_error_is_one_class_wherever_it_is_imported_from():
    assert abstractcore.AbstractCoreError is errors.AbstractCoreError is schema.AbstractCoreError
    assert abstractcore.SchemaError is errors.SchemaError is schema.SchemaError


@pytest.mark.parametrize(
    "make",
    [
        lambda: Message("nobody", ()),  # type: ignore[arg-type]
        lambda: from_json("{}"),
        lambda: ToolSpec(""),
        lambda: ToolSpec("t", parameters={"a": float("nan")}),
    ],
)
def test_schema_error_is_an_abstractcore_error_and_a_value_error(make: Any):
    for kind in (AbstractCoreError, SchemaError, ValueError):
        with pytest.raises(kind):
            make()


def test_schema_error_names_its_path_once_and_survives_pickling():
    error = SchemaError("is odd", "b", hint="Use c.").at("a[0]")
    assert str(error) == "a[0].b: is odd. Use c."
    assert (error.message, error.path, error.hint) == ("is odd", "a[0].b", "Use c.")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path) == (str(error), error.path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted(set(abstractcore.__all__) - MADE_BY_OTHERS - OF_PLUGGY - DICTS))
def test_public_names_raise_only_our_errors(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    door: Any = getattr(abstractcore, name)
    if not inspect.isroutine(door) and (not isinstance(door, type) or issubclass(door, BaseException)):
        return
    parameters = [p for p in inspect.signature(door).parameters.values() if p.kind.name[:3] != "VAR"]
    needed = [p.name for p in parameters if p.default is p.empty and p.kind.name == "POSITIONAL_ONLY"]
    named = [p.name for p in parameters if p.default is p.empty and p.name not in needed]
    for key in junk():
        for tried in [p.name for p in parameters if p.name not in needed] or [None]:
            thing = junk()[key]
            given = dict.fromkeys([*named, *([tried] if tried else [])], thing)
            made, error = outcome(partial(door, *[thing] * len(needed), **given), AbstractCoreError)
            assert error is None or str(error)
            if isinstance(made, Subscription):
                made.close()
