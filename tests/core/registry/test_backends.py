"""Backends of capabilities: found by entry points, checked, and ordered by preference."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from abstractcore import CapabilityUnavailableError, InvalidInputError, PluginError
from abstractcore.registry import PluginReport, Registry

CODE = """
def register(registry):
    registry.register_voice_backend(backend_id="{name}:a", factory=lambda owner: None, description=" Speaks. ")
    registry.register_backend(capability="music", backend_id="{name}:b", factory=lambda owner: None, priority=2)
"""

Install: TypeAlias = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """`install(name, code)` puts a distribution with an entry point for backends on the path."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def install(name: str, code: str = CODE, points: str | None = None) -> None:
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        group = "abstractcore.capabilities_plugins"
        (info / "entry_points.txt").write_text(points or f"[{group}]\n{name} = {name}:register\n")
        monkeypatch.delitem(sys.modules, name, raising=False)
        (tmp_path / f"{name}.py").write_text(code.replace("{name}", name))

    return install


def ids(registry: Registry, capability: Any, name: object = None) -> list[str]:
    return [entry.backend_id for entry in registry.backends.preferred(capability, name)]


def report(registry: Registry, name: str) -> PluginReport:
    assert registry.backends is not None
    (found,) = (each for each in registry.reports if each.name == name)
    return found


def _nothing(owner: object) -> None: ...


def entry(registry: Any, backend_id: Any = "x", **about: Any) -> None:
    registry.register_voice_backend(backend_id=backend_id, factory=about.pop("factory", _nothing), **about)


def test_installed_backends_are_loaded_at_first_use(install: Install):
    install("chorus", "import sys\nsys.chorus_was_loaded = True\n" + CODE)
    registry = Registry.from_entry_points()
    assert not hasattr(sys, "chorus_was_loaded")
    assert "chorus:a" in ids(registry, "voice")
    assert sys.__dict__.pop("chorus_was_loaded")
    found = report(registry, "chorus")
    assert (found.registered, found.error) == ((("voice backend", "chorus:a"), ("music backend", "chorus:b")), None)
    assert found.distribution == "chorus 1.0"
    (made,) = (each for each in registry.backends.of("voice") if each.backend_id == "chorus:a")
    assert (made.description, made.distribution, made.priority) == ("Speaks.", "chorus 1.0", 0)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import nothing_of_the_kind", "ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
        ("def register(registry): raise SystemExit(3)", "SystemExit: 3"),
        ("def register(registry): pass", "it registers no backend."),
        ("register = 3", "its entry point is a int: expected a function register(registry)."),
        (CODE.replace('"music"', '"perfume"'), "it registers a backend of 'perfume': expected voice, audio, vision"),
        (CODE.replace("priority=2", "priority='high'"), "the backend 'chorus:b' has the priority 'high'"),
        (CODE.replace('"{name}:b"', "3"), "it registers a music backend with the id 3: expected text."),
        (
            CODE.replace("factory=lambda owner: None", "factory=None"),
            "the backend 'chorus:a' has a NoneType as factory",
        ),
        (CODE.replace("description=", "colour="), "unexpected keyword argument 'colour'"),
    ],
)
def test_broken_package_is_reported_and_registers_nothing(install: Install, code: str, error: Any):
    install("chorus", code)
    install("solo")
    registry = Registry.from_entry_points()
    assert error in (report(registry, "chorus").error or "")
    assert {"solo:a"} <= set(ids(registry, "voice"))
    assert not {"chorus:a", "chorus:b"} & {*ids(registry, "voice"), *ids(registry, "music")}


def test_second_package_with_the_same_id_is_reported(install: Install):
    install("chorus")
    install("solo", CODE.replace("{name}", "chorus"))
    registry = Registry.from_entry_points()
    assert report(registry, "chorus").error is None
    assert "two packages register the voice backend 'chorus:a': chorus 1.0 and solo 1.0." in (
        report(registry, "solo").error or ""
    )


def test_backends_are_preferred_by_priority_then_name():
    registry = Registry()

    def register(given: Any) -> None:
        for backend_id, priority in (("b", 1), ("a", 1), ("c:x", 5), ("d:y", 0.5)):
            entry(given, backend_id, priority=priority)

    registry.add_backends(register)
    assert ids(registry, "voice") == ["c:x", "a", "b", "d:y"]
    assert ids(registry, "voice", "b") == ["b"]
    assert ids(registry, "voice", "y") == ["d:y"]
    with pytest.raises(CapabilityUnavailableError, match=r"voice_backend: no backend of voice is called 'c:z'.*c:x"):
        ids(registry, "voice", "c:z")
    with pytest.raises(InvalidInputError, match="voice_backend: expected the name of a backend, got int"):
        ids(registry, "voice", 3)
    assert ids(registry, "music", "y") == []


def test_program_that_registers_a_name_twice_is_refused():
    registry = Registry()
    registry.add_backends(lambda given: entry(given))
    with pytest.raises(PluginError, match="two packages register the voice backend 'x': this program and this program"):
        registry.add_backends(lambda given: entry(given))
    with pytest.raises(PluginError, match="it registers the voice backend 'z' twice"):
        registry.add_backends(lambda given: [entry(given, "z"), entry(given, "z")])
