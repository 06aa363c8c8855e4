"""The registry: plugins come in one by one, and a broken one is named and takes nothing down."""

from __future__ import annotations

import importlib.metadata
import sys
import textwrap
from types import ModuleType, SimpleNamespace

import pytest

from abstractcore import PluginError, Registry, Services, UnknownProviderError, create_llm, hookimpl
from abstractcore_providers.scripted import ScriptedProvider


def plugin(**hooks) -> ModuleType:
    module = ModuleType("plugin")
    for name, hook in hooks.items():
        setattr(module, name, hookimpl(hook))
    return module


def providers(*names: str):
    """A hook that registers scripted providers under these names."""

    def register_providers():
        return [ScriptedProvider(name) for name in names]

    return register_providers


def test_a_plugin_of_ten_lines_adds_a_provider(colour, tmp_path, monkeypatch):
    (tmp_path / "parrot.py").write_text(
        textwrap.dedent("""
        from abstractcore import hookimpl
        from abstractcore_providers.scripted import ScriptedProvider

        @hookimpl
        def register_providers():
            return [ScriptedProvider("parrot")]
        """)
    )
    info = tmp_path / "parrot-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text("[abstractcore.plugins]\nparrot = parrot\n")
    monkeypatch.syspath_prepend(tmp_path)

    services = Services(registry=Registry.from_entry_points())

    (report,) = (report for report in services.registry.reports if report.name == "parrot")
    assert (report.target, report.distribution) == ("parrot", "parrot 1.5")
    assert (report.registered, report.error) == (("provider parrot",), None)
    llm = create_llm("parrot", replies=["hello"], services=services)
    assert colour.generate(llm, "hi").content == "hello"


def test_a_plugin_adds_media_handlers_in_their_order():
    registry = Registry()
    handlers = [SimpleNamespace(name=name, kind="image") for name in ("one", "two")]
    report = registry.add_plugin("pictures", lambda: plugin(register_media_handlers=lambda: handlers))
    assert report.registered == ("media handler one", "media handler two")
    assert list(registry.media_handlers) == handlers


def test_the_built_in_providers_come_as_plugins(services):
    names = set(services.registry.providers)
    assert {"local", "scripted", "openai", "openai-compatible"} <= names
    assert [report for report in services.registry.reports if report.error] == []


def test_plugins_are_collected_at_the_first_create_llm_and_once(monkeypatch):
    collected = []

    def entry_points(group):
        collected.append(group)
        return [SimpleNamespace(name="p", value="p", dist=None, load=lambda: plugin(register_providers=providers("p")))]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    services = Services()
    assert collected == []
    for _ in range(2):
        create_llm("p", replies=[], services=services)
    assert collected == ["abstractcore.plugins"]


def missing_library():
    raise ModuleNotFoundError("No module named 'torch'")


def syntax_error():
    return compile("def", "plugin.py", "exec")


def exits():
    sys.exit("plugins should not do this")


def raising():
    def register_providers():
        raise ZeroDivisionError("in the hook")

    return plugin(register_providers=register_providers)


@pytest.mark.parametrize(
    ("load", "error"),
    [
        (missing_library, "ModuleNotFoundError: No module named 'torch'"),
        (syntax_error, "SyntaxError: "),
        (exits, "SystemExit: plugins should not do this"),
        (raising, "ZeroDivisionError: in the hook"),
        (lambda: plugin(register_providers=lambda: [object()]), "AttributeError: "),
        (lambda: plugin(register_providers=lambda: 3), "TypeError: "),
        (lambda: plugin(register_provider=providers()), "PluginValidationError: "),
        (lambda: plugin(register_providers=lambda services: []), "PluginValidationError: "),
    ],
)
def test_a_broken_plugin_is_reported_and_takes_nothing_down(load, error):
    registry = Registry()
    registry.add_plugin("before", lambda: plugin(register_providers=providers("one")))
    report = registry.add_plugin("broken", load, target="pkg.mod", distribution="pkg 1")
    registry.add_plugin("after", lambda: plugin(register_providers=providers("two")))
    assert (report.name, report.target, report.distribution) == ("broken", "pkg.mod", "pkg 1")
    assert report.error.startswith(error)
    assert report.registered == ()
    assert set(registry.providers) == {"one", "two"}
    with pytest.raises(UnknownProviderError, match="plugin 'broken' is broken: ") as caught:
        registry.provider("three")
    assert error in str(caught.value)


def test_a_broken_plugin_is_named_when_nothing_else_is_there():
    registry = Registry()
    registry.add_plugin("broken", missing_library)
    with pytest.raises(UnknownProviderError, match="torch"):
        registry.provider("one")


def test_an_empty_registry_says_how_to_fill_it():
    with pytest.raises(UnknownProviderError, match="Install"):
        Registry().provider("one")


def test_a_plugin_may_register_nothing():
    for module in (plugin(), plugin(register_providers=lambda: None), plugin(register_providers=providers())):
        report = Registry().add_plugin("quiet", lambda module=module: module)
        assert (report.registered, report.error) == ((), None)


def test_two_plugins_with_one_provider_name_are_reported_and_the_first_stays():
    registry = Registry()
    registry.add_plugin("one", lambda: plugin(register_providers=providers("a", "b")))
    first = registry.provider("b")
    report = registry.add_plugin("two", lambda: plugin(register_providers=providers("c", "b", "d")))
    assert report.error == (
        "PluginError: two plugins register a provider called 'b': plugin 'one' and plugin 'two'. Uninstall one of them."
    )
    assert report.registered == ("provider c",)
    assert registry.provider("b") is first


def test_a_program_may_register_a_provider_by_itself(colour):
    registry = Registry()
    registry.add_provider(ScriptedProvider("own"))
    services = Services(registry=registry)
    assert colour.generate(create_llm("own", replies=["a"], services=services), "hi").content == "a"
    with pytest.raises(PluginError, match="this program"):
        registry.add_provider(ScriptedProvider("own"))


def test_what_the_registry_gives_is_a_copy():
    registry = Registry()
    registry.add_provider(ScriptedProvider("own"))
    registry.providers.clear()
    assert set(registry.providers) == {"own"}
