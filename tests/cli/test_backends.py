"""`abstractcore plugins` lists backends of voice, audio, vision and music, and says which one is used."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from abstractcore.registry import Registry
from abstractcore_cli import plugins as command
from abstractcore_cli.app import app


def backend(owner: object) -> object:
    return owner


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The registry of the command, without plugins."""
    registry = Registry()
    monkeypatch.setattr(command, "registry", lambda: registry)
    return registry


def rows() -> dict[str, Any]:
    result = CliRunner().invoke(app, ["plugins", "--json"])
    assert result.exit_code == 0
    return {row["backend"]: row for row in json.loads(result.stdout)["backends"]}


def test_used_backend_is_shown_with_the_reason(registry: Registry):
    def register(given: Any) -> None:
        for backend_id, priority in (("b", 1), ("a", 1), ("c", 0)):
            given.register_voice_backend(backend_id=backend_id, factory=backend, priority=priority)
        given.register_vision_backend(backend_id="d", factory=backend, priority=2, description="Draws.")
        given.register_vision_backend(backend_id="e", factory=backend, config_hint="Set E_KEY.")
        given.register_music_backend(backend_id="f", factory=backend)

    registry.add_backends(register)
    found = rows()
    assert [*found] == ["a", "b", "c", "d", "e", "f"]
    assert {name: row["reason"] for name, row in found.items() if row["used"]} == {
        "a": "first by name",
        "d": "highest priority",
        "f": "the only one",
    }
    assert (found["e"]["config_hint"], found["d"]["description"]) == ("Set E_KEY.", "Draws.")
    shown = " ".join(CliRunner().invoke(app, ["plugins"]).stdout.split())
    assert "yes: highest priority" in shown
    assert "with vision_backend=..." in shown


def test_without_backends_there_is_no_table(registry: Registry):
    assert rows() == {}
    assert "capability" not in CliRunner().invoke(app, ["plugins"]).stdout
