"""Guards are registered as other contributions of plugins are."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import InvalidInputError, PluginError
from abstractcore.registry import GUARD, Registry
from tests.plugin_doubles import plugin


class Nothing:
    """A guard that checks nothing."""

    def __init__(self, name: str = "one") -> None:
        self.name = name
        self.summary = "of a test"

    def connect(self, options: Any, services: Any) -> object:
        """Returns an object."""
        return object()


def giving(*guards: object) -> Any:
    return lambda: plugin(register_guards=lambda: guards)


def test_guard_is_found_by_its_name():
    registry, guard = Registry(), Nothing()
    report = registry.add_plugin("p", giving(guard))
    assert (report.error, report.registered) == (None, (("guard", "one"),))
    assert registry.guard("one") is registry.guards["one"] is guard
    with pytest.raises(InvalidInputError, match="no guard is called 'on'") as caught:
        registry.guard("on")
    assert caught.value.hint == "Did you mean one?"
    with pytest.raises(PluginError, match="two plugins register a guard called 'one'"):
        registry.add_guard(Nothing())


@pytest.mark.parametrize("member", ["name", "summary", "connect"])
def test_guard_that_lacks_a_member_is_refused(member: str):
    members = {name: getattr(Nothing(), name) for name in ("name", "summary", "connect") if name != member}
    guard = type("Partial", (), members)()
    error = Registry().add_plugin("p", giving(guard)).error
    assert error == f"{GUARD.hook} returns a Partial, not a guard: it lacks {member}."


def test_class_in_place_of_a_guard_is_refused():
    assert "expected an instance" in (Registry().add_plugin("p", giving(Nothing)).error or "")
