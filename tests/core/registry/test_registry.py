"""The registry: plugins are registered all or nothing, and a broken one does not affect others."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from types import ModuleType

import pytest

from abstractcore import (
    InvalidInputError,
    PluginError,
    Services,
    ToolSpec,
    UnknownCapabilityError,
    UnknownProviderError,
    create_llm,
)
from abstractcore.ports import Fallback
from abstractcore.registry import Registry, hookimpl
from abstractcore_providers.scripted import ScriptedProvider
from tests.plugin_doubles import HOOKS, giving, plugin, thing

KINDS = list(HOOKS)


def of_kind(registry: Registry, kind: str) -> list[str]:
    """Returns the registered names of a kind."""
    return {
        "provider": lambda: list(registry.providers),
        "catalogue": lambda: list(registry.catalogues),
        "wire format": lambda: list(registry.wire_formats),
        "media handler": lambda: [handler.name for handler in registry.media_handlers],
        "capability": lambda: list(registry.capabilities),
        "tool source": lambda: list(registry.tool_sources),
        "trace subscriber": lambda: [subscriber.name for subscriber in registry.trace_subscribers],
    }[kind]()


def test_plugin_may_register_every_kind():
    registry = Registry()
    everything = {kind.replace(" ", "_"): [thing(kind)] for kind in KINDS}
    report = registry.add_plugin("all", lambda: giving(**everything), target="pkg.mod", distribution="pkg 1.5")
    assert (report.name, report.target, report.distribution, report.error) == ("all", "pkg.mod", "pkg 1.5", None)
    assert report.registered == tuple((kind, "one") for kind in KINDS)
    assert [of_kind(registry, kind) for kind in KINDS] == [["one"]] * len(KINDS)
    assert registry.reports == [report]


def test_plugin_may_be_an_object_and_return_generators():
    class Plugin:
        @hookimpl
        def register_providers(self):
            yield ScriptedProvider("a")
            yield ScriptedProvider("b")

    registry = Registry()
    assert registry.add_plugin("object", Plugin).error is None
    assert set(registry.providers) == {"a", "b"}


@pytest.mark.parametrize("given", [None, []])
def test_hook_may_return_nothing(given):
    report = Registry().add_plugin("quiet", lambda: giving(provider=given))
    assert (report.registered, report.error) == ((), None)


def test_handlers_of_later_plugins_take_precedence():
    registry = Registry()
    for names in ("ab", "cd"):
        handlers = [thing("media handler", name) for name in names]
        registry.add_plugin(names, lambda handlers=handlers: giving(media_handler=handlers))
    assert of_kind(registry, "media handler") == ["c", "d", "a", "b"]


def test_built_in_providers_are_plugins(services):
    names = set(services.registry.providers)
    assert {"local", "scripted", "openai", "openai-compatible"} <= names
    assert [report for report in services.registry.reports if report.error] == []


def test_plugins_are_loaded_once_at_the_first_create_llm(monkeypatch):
    collected = []

    def found_plugins():
        collected.append("found")
        return []

    monkeypatch.setattr("abstractcore.registry.registry.found_plugins", found_plugins)
    services = Services()
    assert collected == []
    for _ in range(2):
        with pytest.raises(UnknownProviderError):
            create_llm("p", services=services)
    assert collected == ["found"]


def test_each_plugin_is_loaded_inside_the_given_watch(monkeypatch, tmp_path):
    watched = []

    @contextmanager
    def watch(owner):
        watched.append(owner)
        yield
        watched.append("loaded")

    Registry.from_entry_points(watch)
    assert "plugin 'providers' of abstractcore 0.1.0" in watched
    assert watched[1::2] == ["loaded"] * (len(watched) // 2)


# Broken plugins


def missing_library():
    raise ModuleNotFoundError("No module named 'torch'")


def syntax_error():
    return compile("def", "plugin.py", "exec")


def exits():
    sys.exit("plugins should not do this")


def cancelled():
    raise GeneratorExit


def older():
    from abstractcore import create_model  # noqa: F401


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise ZeroDivisionError


def unspeakable():
    raise UnspeakableError


def raising():
    raise ZeroDivisionError("in the hook")


def nothing():
    return []


def half_way():
    yield ScriptedProvider("half")
    raise ZeroDivisionError("in the middle")


@pytest.mark.parametrize(
    ("load", "error"),
    [
        (missing_library, "ModuleNotFoundError: No module named 'torch'"),
        (syntax_error, "SyntaxError: "),
        (exits, "SystemExit: plugins should not do this"),
        (cancelled, "GeneratorExit"),
        (unspeakable, "UnspeakableError: (its message cannot be read)"),
        (lambda: plugin(register_providers=raising), "ZeroDivisionError: in the hook"),
        (lambda: plugin(register_providers=half_way), "ZeroDivisionError: in the middle"),
        (lambda: None, "it implements no hook. Mark one with @hookimpl: register_providers, "),
        (lambda: ModuleType("bare"), "it implements no hook. "),
        (lambda: giving(provider=3), "register_providers returns a int: expected a list."),
        (lambda: giving(provider="openai"), "register_providers returns a str, not a provider: it lacks name, "),
        (
            lambda: giving(provider=[ScriptedProvider]),
            "register_providers returns the class ScriptedProvider: expected ",
        ),
        (older, "cannot import name 'create_model' from 'abstractcore'"),
        (lambda: plugin(register_provider=nothing), "unknown hook 'register_provider'"),
        (lambda: plugin(register_providers=lambda services: []), "Plugin 'broken' for hook 'register_providers'"),
    ],
)
def test_broken_plugin_is_reported_without_affecting_others(load, error):
    registry = Registry()
    registry.add_plugin("before", lambda: giving(provider=[ScriptedProvider("one")]))
    report = registry.add_plugin("broken", load, target="pkg.mod", distribution="pkg 1")
    registry.add_plugin("after", lambda: giving(provider=[ScriptedProvider("two")]))
    assert (report.name, report.target, report.distribution) == ("broken", "pkg.mod", "pkg 1")
    assert report.error.startswith(error)
    assert report.registered == ()
    assert set(registry.providers) == {"one", "two"}
    with pytest.raises(UnknownProviderError, match="plugin 'broken' is broken: ") as caught:
        registry.provider("three")
    assert error in str(caught.value)


@pytest.mark.parametrize(
    "load", [older, lambda: plugin(register_x=nothing), lambda: plugin(register_tools=lambda x: [])]
)
def test_errors_typical_of_another_version_have_a_hint(load):
    error = Registry().add_plugin("p", load).error
    assert error.endswith("The plugin may be written for another version of abstractcore: this is 0.1.0.")


def test_ctrl_c_while_a_plugin_loads_is_propagated():
    def load():
        raise KeyboardInterrupt

    registry = Registry()
    with pytest.raises(KeyboardInterrupt):
        registry.add_plugin("p", load)
    assert registry.reports == []


MISSING = [
    (kind, member)
    for kind, members in {
        "provider": ("name", "summary", "options", "connect"),
        "wire format": ("name", "summary", "transpiler"),
        "media handler": ("name", "fallbacks", "recognise", "check", "convert"),
        "capability": ("name", "summary", "connect"),
        "tool source": ("name", "summary", "tools", "call"),
        "trace subscriber": ("name", "capture", "__call__"),
    }.items()
    for member in members
]


@pytest.mark.parametrize(("kind", "member"), MISSING)
def test_object_that_lacks_a_member_is_refused_with_the_members_name(kind, member):
    registry = Registry()
    given = {kind.replace(" ", "_"): [thing(kind, "good"), thing(kind, "bad", without=member)]}
    error = registry.add_plugin("p", lambda: giving(**given)).error
    assert error.startswith(f"{HOOKS[kind]} returns a ")
    assert error.endswith(f", not a {kind}: it lacks {member}.")
    assert of_kind(registry, kind) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["", " ", "a ", None, 3, b"a", "a\nb"])
def test_name_must_be_a_string(kind, name):
    registry = Registry()
    error = registry.add_plugin("p", lambda: giving(**{kind.replace(" ", "_"): [thing(kind, name)]})).error
    assert error == f"{HOOKS[kind]} returns a {kind} with the name {name!r}: expected text."
    assert of_kind(registry, kind) == []


@pytest.mark.parametrize(
    ("kind", "name", "changes", "error"),
    [
        ("provider", "a/b", {}, "the provider 'a/b' has a / in its name"),
        ("provider", "a", {"options": ["x"]}, "the provider 'a' has invalid options: expected a mapping"),
        ("provider", "a", {"connect": None}, "register_providers returns a SimpleNamespace, not a provider: it la"),
        (
            "media handler",
            "a",
            {"fallbacks": [Fallback("text", {"image"})]},
            "the media handler 'a' has 'image' in `outputs` of a fallback: expected 'text'",
        ),
        (
            "media handler",
            "a",
            {"fallbacks": [Fallback("text", "text")]},  # type: ignore[arg-type]
            "the media handler 'a' has a str as `outputs` of a fallback: expected a set of",
        ),
        ("media handler", "a", {"fallbacks": {"text"}}, "the media handler 'a' has invalid `fallbacks`: expected a"),
        (
            "catalogue",
            "a",
            {"file": "a.jsonl"},
            "the catalogue 'a' has a str as `file`: expected a path, such as Path(",
        ),
        ("capability", "a b", {}, "the capability 'a b' has an invalid name: expected an identifier"),
        ("capability", "a_b", {}, "the capability 'a_b' has an invalid name: expected an identifier"),
        ("tool source", "a", {"tools": raising}, "the tool source 'a' failed: ZeroDivisionError: in the hook"),
        ("tool source", "a", {"tools": lambda: 3}, "the tool source 'a' failed: TypeError: "),
        ("tool source", "a", {"tools": lambda: ["x"]}, "the tool source 'a' returns a str: expected a ToolSpec"),
        ("tool source", "a", {"tools": lambda: [ToolSpec("x")] * 2}, "the tool source 'a' has two tools called 'x'"),
        ("trace subscriber", "a", {"capture": "all"}, "the trace subscriber 'a' has the capture 'all': expected one o"),
    ],
)
def test_invalid_contribution_is_refused(kind, name, changes, error):
    registry = Registry()
    item = thing(kind, name, **changes)
    assert registry.add_plugin("p", lambda: giving(**{kind.replace(" ", "_"): [item]})).error.startswith(error)
    assert of_kind(registry, kind) == []


# Duplicates


@pytest.mark.parametrize("kind", KINDS)
def test_first_of_two_plugins_with_one_name_wins_and_the_second_is_broken(kind):
    key = kind.replace(" ", "_")
    registry = Registry()
    registry.add_plugin("one", lambda: giving(**{key: [thing(kind, "a"), thing(kind, "b")]}), distribution="uno 1.0")
    second = {"provider": [ScriptedProvider("other")], key: [thing(kind, "c"), thing(kind, "b")]}
    report = registry.add_plugin("two", lambda: giving(**second), distribution="due 2.0")
    assert report.error == (
        f"two plugins register a {kind} called 'b': plugin 'one' of uno 1.0 and plugin 'two' of due 2.0. "
        "The first one is used. Uninstall one of them: pip uninstall PACKAGE"
    )
    assert report.registered == ()
    assert of_kind(registry, kind) == ["a", "b"]
    assert "other" not in registry.providers
    assert registry.owner(kind, "b") == "plugin 'one' of uno 1.0"


def test_plugin_with_a_duplicate_name_is_broken():
    registry = Registry()
    error = registry.add_plugin("p", lambda: giving(capability=[thing("capability")] * 2)).error
    assert "a capability called 'one': plugin 'p' and plugin 'p'" in error
    assert registry.capabilities == {}


def test_contributions_of_different_kinds_may_share_a_name():
    registry = Registry()
    registry.add_plugin("p", lambda: giving(capability=[thing("capability")], tool_source=[thing("tool source")]))
    assert (list(registry.capabilities), list(registry.tool_sources)) == (["one"], ["one"])


# Slow plugins


def test_slow_plugin_is_reported_whether_it_works_or_not():
    now = iter([0.0, 0.4, 10.0, 13.0, 20.0, 22.0])
    registry = Registry(now=lambda: next(now))
    for load in (plugin, lambda: giving(provider=[]), missing_library):
        registry.add_plugin("p", load)
    assert [report.seconds for report in registry.reports] == pytest.approx([0.4, 3.0, 2.0])
    assert [report.slow for report in registry.reports] == [False, True, True]


def test_plugin_that_emits_warnings_works():
    def load():
        warnings.warn("old", DeprecationWarning, stacklevel=2)
        return giving(provider=[ScriptedProvider("p")])

    registry = Registry()
    with pytest.warns(DeprecationWarning, match="old"):
        assert registry.add_plugin("p", load).error is None
    assert registry.add_plugin("strict", load).error == "DeprecationWarning: old"


# Subscribers


def test_plugin_subscriber_is_notified_once_per_call(services, call_style, caplog):
    records = []

    def raising_subscriber(record):
        raise ZeroDivisionError("in a subscriber")

    subscribers = [
        thing("trace subscriber", "unlucky", __call__=raising_subscriber),
        thing("trace subscriber", "log", capture="full", __call__=records.append),
    ]
    services.registry.add_plugin("p", lambda: giving(trace_subscriber=subscribers))
    for _ in range(2):
        llm = create_llm("scripted", replies=["a", "b"], services=services)
        assert [call_style.generate(llm, "hi").content for _ in range(2)] == ["a", "b"]
    assert services.records.flush(60.0)
    assert [record.reply.text for record in records] == ["a", "b", "a", "b"]
    assert caplog.text.count("ZeroDivisionError: in a subscriber") == 4


# Looking up


@pytest.mark.parametrize(
    ("look_up", "error", "said"),
    [
        ("provider", UnknownProviderError, "no provider is called 'voise'. Did you mean voice?"),
        ("capability", UnknownCapabilityError, "no capability is called 'voise'. Did you mean voice?"),
        ("tool_source", InvalidInputError, "no tool source is called 'voise'. Did you mean voice?"),
    ],
)
def test_unknown_name_suggests_similar_names(look_up, error, said):
    registry = Registry()
    names = {kind: [thing(kind, name) for name in ("voice", "xyz")] for kind in ("provider", "capability")}
    registry.add_plugin("p", lambda: giving(**names, tool_source=[thing("tool source", "voice")]))
    with pytest.raises(error) as caught:
        getattr(registry, look_up)("voise")
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("look_up", "hint"),
    [
        (
            "provider",
            "Install the package, so that its entry points are found. In a checkout of AbstractCore: pip install .; "
            "elsewhere, install the wheel that is built from it.",
        ),
        ("capability", "Install a plugin that provides it; `abstractcore plugins` lists what is installed."),
        (
            "tool_source",
            "Install a plugin that provides it, or pass a ToolSpec; `abstractcore plugins` lists what is installed.",
        ),
    ],
)
def test_empty_registry_hints_at_installing(look_up, hint):
    with pytest.raises((UnknownProviderError, UnknownCapabilityError, InvalidInputError)) as caught:
        getattr(Registry(), look_up)("one")
    assert caught.value.hint.startswith(hint)


def test_broken_plugin_is_named_if_nothing_else_is_found():
    registry = Registry()
    registry.add_plugin("broken", missing_library)
    for look_up in (registry.provider, registry.capability, registry.tool_source):
        with pytest.raises(Exception, match="torch"):
            look_up("one")


# What a program registers by itself


def test_program_may_register_a_provider_itself(call_style):
    registry = Registry()
    registry.add_provider(ScriptedProvider("own"))
    services = Services(registry=registry)
    assert call_style.generate(create_llm("own", replies=["a"], services=services), "hi").content == "a"
    with pytest.raises(PluginError, match="this program"):
        registry.add_provider(ScriptedProvider("own"))


@pytest.mark.parametrize("kind", KINDS)
def test_contributions_of_a_program_are_checked_like_those_of_plugins(kind):
    registry = Registry()
    add = getattr(registry, f"add_{kind.replace(' ', '_')}")
    add(thing(kind))
    with pytest.raises(PluginError, match="two plugins"):
        add(thing(kind))
    with pytest.raises(PluginError, match="it lacks name"):
        add(thing(kind, without="name"))
    assert of_kind(registry, kind) == ["one"]
    assert registry.owner(kind, "one") == "this program"


def test_registry_returns_copies():
    registry = Registry()
    registry.add_provider(ScriptedProvider("own"))
    registry.providers.clear()
    assert set(registry.providers) == {"own"}
