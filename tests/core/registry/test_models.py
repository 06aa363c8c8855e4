"""Rows of weights that plugins register."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from abstractcore.ports import ModelFile, PackagedModel
from abstractcore.registry import Registry, hookimpl

FILE = ModelFile.in_wheel("one==1", "one.bin", 1, "")


def row(name: str = "one", files: object = (FILE,)) -> PackagedModel:
    return PackagedModel(name, files, "MIT", "For tests.")  # type: ignore[arg-type]


def plugin(*models: object) -> Callable[[], object]:
    class Plugin:
        @hookimpl
        def register_models(self) -> list[object]:
            return [*models]

    return Plugin


def test_rows_are_registered_by_name() -> None:
    registry = Registry()
    report = registry.add_plugin("p", plugin(row("one"), row("two")))
    assert report.registered == (("model", "one"), ("model", "two"))
    assert registry.models == {"one": row("one"), "two": row("two")}
    assert registry.owner("model", "one") == "plugin 'p'"


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (SimpleNamespace(name="one", files=(FILE,), licence="MIT"), "register_models returns a SimpleNamespace, not a"),
        (
            SimpleNamespace(name="one", files=(FILE,), licence="MIT", size=1, summary=""),
            "the model 'one' is a SimpleNamespace: expected a PackagedModel.",
        ),
        (row(files=()), "the model 'one' has invalid `files`: expected a tuple of ModelFile"),
        (row(files=[FILE]), "the model 'one' has invalid `files`: expected a tuple of ModelFile"),
        (row(name="a\nb"), "register_models returns a model with the name 'a\\nb': expected text."),
    ],
)
def test_invalid_row_is_refused(model: object, error: str) -> None:
    registry = Registry()
    assert (registry.add_plugin("p", plugin(model)).error or "").startswith(error)
    assert registry.models == {}


def test_second_row_with_a_name_breaks_its_plugin() -> None:
    registry = Registry()
    registry.add_plugin("first", plugin(row()))
    error = registry.add_plugin("second", plugin(row("other"), row())).error
    assert error == (
        "two plugins register a model called 'one': plugin 'first' and plugin 'second'. "
        "The first one is used. Uninstall one of them: pip uninstall PACKAGE"
    )
    assert list(registry.models) == ["one"]
