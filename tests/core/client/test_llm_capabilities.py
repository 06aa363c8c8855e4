"""`llm.capability`: objects of capability plugins, and their options."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeAlias

import pytest

from abstractcore import (
    LLM,
    ConfigurationError,
    GenerateResponse,
    InvalidInputError,
    MissingExtraError,
    PluginError,
    Services,
    UnknownCapabilityError,
    UnknownOptionError,
    UnsupportedOptionError,
    create_llm,
)
from abstractcore.ports import CapabilityServices
from abstractcore.testing import CallStyle
from abstractcore_providers.scripted import ScriptedProvider
from tests.backend_doubles import leave_out_installed_backends
from tests.plugin_doubles import giving, thing

WithCapability: TypeAlias = Callable[..., Services]


@pytest.fixture(autouse=True)
def no_installed_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_installed_backends(monkeypatch)


@pytest.fixture
def with_capability() -> WithCapability:
    """`with_capability(connect)` returns services with a plugin for "dance" with this `connect`."""

    def with_capability(**members: Any) -> Services:
        services = Services(environment={})
        dance = thing("capability", "dance", **members)
        services.registry.add_plugin("steps", lambda: giving(capability=[dance]), distribution="steps 1.0")
        return services

    return with_capability


def make(services: Services, **options: Any) -> LLM:
    options.setdefault("replies", ["a"])
    return create_llm("scripted", services=services, **options)


def test_capability_receives_its_options_and_the_services(with_capability: WithCapability):
    services = with_capability()
    options, given = make(services, dance_speed=2, voice_speed=3, temperature=0.5).capability("dance")
    assert options == {"dance_speed": 2}
    names = ("models", "artifacts", "environment", "spare_cores")
    assert [getattr(given, name) for name in names] == [getattr(services, name) for name in names]


def test_capability_is_created_on_first_use_once_per_llm(with_capability: WithCapability):
    made: list[object] = []

    def connect(options: Any, services: Any) -> Any:
        made.append(object())
        return made[-1]

    services = with_capability(connect=connect)
    one, two = make(services), make(services)
    assert made == []
    assert one.capability("dance") is one.capability("dance")
    assert two.capability("dance") is not one.capability("dance")
    assert len(made) == 2


def test_capability_is_created_once_by_threads_that_use_it_at_once(with_capability: WithCapability):
    made: list[object] = []
    all_asked = threading.Barrier(4)

    def connect(options: Any, services: Any) -> Any:
        made.append(object())
        return made[-1]

    llm = make(with_capability(connect=connect))

    def use(_: int) -> object:
        all_asked.wait(60)
        return llm.capability("dance")

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(use, range(4))] == made * 4
    assert len(made) == 1


def test_capability_option_is_unknown_without_its_plugin(with_capability: WithCapability):
    with pytest.raises(UnknownOptionError, match="dance_speed"):
        make(Services(environment={}), dance_speed=2)
    with pytest.raises(UnknownOptionError, match="dancing"):
        make(with_capability(), dancing=2)


def warned(response: GenerateResponse[Any]) -> list[tuple[str, str, str]]:
    return [(warning.code, warning.path, warning.message) for warning in response.warnings]


def test_unused_capability_option_is_a_warning_of_every_call(call_style: CallStyle, with_capability: WithCapability):
    llm = make(with_capability(), replies=["a", "b", "c"], voice_speed=2, vision_api_key="k", dance_speed=3)
    unused = [
        ("unsupported_option", "voice_speed", "no installed plugin uses 'voice_speed'"),
        ("unsupported_option", "vision_api_key", "no installed plugin uses 'vision_api_key'"),
    ]
    assert warned(call_style.generate(llm, "hi")) == unused
    with call_style.stream(llm, "hi") as stream:
        list(stream)
    assert warned(stream.response) == unused
    response = llm.run(llm.build("hi"))
    assert warned(response) == unused
    assert [(warning.requested, warning.sent) for warning in response.warnings] == [(None, None)] * 2


def test_capability_option_in_a_call_is_a_warning(call_style: CallStyle, with_capability: WithCapability):
    llm = create_llm("scripted", replies=["a", "b"], services=with_capability())
    response = call_style.generate(llm, "hi", music_key="C", options={"dance_speed": 3})
    assert sorted(warned(response)) == [
        ("unsupported_option", "dance_speed", "'dance_speed' is an option of `create_llm` only"),
        ("unsupported_option", "music_key", "no installed plugin uses 'music_key'"),
    ]
    assert call_style.generate(llm, "hi").warnings == ()


@pytest.mark.parametrize("options", [{"voice_speed": 2}, {"options": {"voice_speed": 2}}])
def test_strict_call_refuses_unused_capability_options_and_sends_nothing(
    call_style: CallStyle, options: dict[str, Any]
):
    llm = make(Services(environment={}), replies=["never"])
    with pytest.raises(UnsupportedOptionError, match="no installed plugin uses 'voice_speed'"):
        call_style.generate(llm, "hi", strict=True, **options)
    with pytest.raises(UnsupportedOptionError, match="voice_speed"):
        llm.build("hi", strict=True, **options)
    assert list(llm.calls) == []


def test_strict_llm_refuses_its_unused_capability_option(call_style: CallStyle):
    llm = make(Services(environment={}), replies=["never"], voice_speed=2, strict=True)
    with pytest.raises(UnsupportedOptionError, match="no installed plugin uses 'voice_speed'"):
        call_style.generate(llm, "hi")
    assert list(llm.calls) == []


def test_provider_option_that_looks_like_a_capability_option_reaches_the_provider(with_capability: WithCapability):
    class Dancer(ScriptedProvider):
        @property
        def options(self) -> dict[str, str]:
            return {"dance_floor": "where", "replies": "what"}

    services = with_capability()
    services.registry.add_provider(Dancer("dancer"))
    options: dict[str, Any] = {"dance_floor": "here", "dance_speed": 1}
    llm = create_llm("dancer", services=services, replies=[], **options)
    assert llm.capability("dance")[0] == {"dance_speed": 1}


def test_unknown_capability_suggests_similar_names(with_capability: WithCapability):
    with pytest.raises(UnknownCapabilityError, match=r"no capability is called 'danse'\. Did you mean dance\?"):
        make(with_capability()).capability("danse")
    with pytest.raises(UnknownCapabilityError, match="Install a plugin that provides it"):
        make(Services(environment={})).capability("voice")


def test_capabilities_with_a_property_are_found_by_name_too(with_capability: WithCapability):
    services = with_capability()
    services.registry.add_backends(
        lambda registry: registry.register_voice_backend(backend_id="x", factory=lambda owner: owner)
    )
    llm = make(services)
    assert llm.capability("voice") is llm.voice
    assert llm.voice is llm.voice
    llm.close()
    with pytest.raises(ConfigurationError, match="closed"):
        llm.voice  # noqa: B018


@pytest.mark.parametrize("name", [None, 3, ["dance"]])
def test_capability_name_must_be_a_string(with_capability: WithCapability, name: Any):
    with pytest.raises(InvalidInputError, match="expected a capability's name"):
        make(with_capability()).capability(name)


def test_exception_of_a_capability_names_the_plugin(with_capability: WithCapability):
    def connect(options: Any, services: Any) -> Any:
        return 1 / 0

    llm = make(with_capability(connect=connect))
    for _ in range(2):
        with pytest.raises(PluginError) as caught:
            llm.capability("dance")
        assert str(caught.value) == (
            "the capability 'dance' (plugin 'steps' of steps 1.0) failed: ZeroDivisionError: division by zero. "
            "This is a bug in the plugin."
        )
    assert llm.generate("hi").content == "a"


def test_typed_error_of_a_capability_is_unchanged(with_capability: WithCapability):
    def connect(options: Any, services: Any) -> Any:
        raise MissingExtraError("shoes are missing")

    with pytest.raises(MissingExtraError, match="shoes"):
        make(with_capability(connect=connect)).capability("dance")


def test_closed_llm_refuses_capabilities(with_capability: WithCapability):
    llm = make(with_capability())
    llm.close()
    with pytest.raises(ConfigurationError, match="closed"):
        llm.capability("dance")


def test_exception_of_a_provider_plugin_names_the_plugin(services: Services):
    def connect(config: Any, services: Any) -> Any:
        raise KeyError("model")

    provider = thing("provider", "unlucky", connect=connect)
    services.registry.add_plugin("p", lambda: giving(provider=[provider]), distribution="unlucky 1.0")
    with pytest.raises(PluginError, match=r"the provider 'unlucky' \(plugin 'p' of unlucky 1\.0\) failed: KeyError"):
        create_llm("unlucky", services=services)


class Asking:
    """What the plugin of a test makes: it asks the models."""

    capability = "dance"

    def __init__(self, options: Any, services: CapabilityServices) -> None:
        self.services = services

    def ask(self, **request: Any) -> GenerateResponse[Any]:
        return self.services.generate("Which dance?", **request)

    async def aask(self, **request: Any) -> GenerateResponse[Any]:
        return await self.services.agenerate("Which dance?", **request)


class Asker(Protocol):
    """The same, for type checkers."""

    def ask(self, **request: Any) -> GenerateResponse[Any]: ...


class Walker(Protocol):
    def walk(self) -> None: ...


def test_capability_asks_the_model_of_its_llm_and_others_by_name(
    call_style: CallStyle, with_capability: WithCapability, monkeypatch: pytest.MonkeyPatch
):
    services = with_capability(connect=Asking)
    made: list[tuple[str, Any]] = []

    def create(name: str, **options: Any) -> LLM:
        made.append((name, options["services"]))
        return make(services, replies=["a polka", "a polka"])

    monkeypatch.setattr("abstractcore.client.factory.create_llm", create)
    llm = make(services, replies=["a waltz"])
    asking = llm.capability(Asking)
    assert asking.services.llm is llm
    requests: list[dict[str, Any]] = [{}, {"model": "vendor/m"}, {"model": "vendor/m"}]
    is_sync = call_style.name == "sync"
    found = [asking.ask(**each) if is_sync else call_style.run(asking.aask(**each)) for each in requests]
    assert [each.content for each in found] == ["a waltz", "a polka", "a polka"]
    assert made == [("vendor/m", services)]
    assert found[0].trace_id != found[1].trace_id
    assert llm.calls[0].messages[-1].text == "Which dance?"


def test_capability_is_found_by_its_class_and_checked_against_a_type(with_capability: WithCapability):
    llm = make(with_capability(connect=Asking))
    found = llm.capability("dance")
    assert llm.capability(Asking) is llm.capability("dance", Asking) is llm.capability("dance", Asker) is found
    assert llm.capability("dance", object) is found
    for of_type in (Walker, Callable[[str], str], list[int]):
        with pytest.raises(InvalidInputError, match="is of the type Asking, not") as raised:
            llm.capability("dance", of_type)
        assert raised.value.path == "of_type"
    with pytest.raises(InvalidInputError, match="Walker names no capability"):
        llm.capability(Walker)  # pyright: ignore[reportArgumentType]
