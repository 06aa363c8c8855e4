"""The error for a missing package passes every guard around the code of plugins as it is, with its hint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from abstractcore import Blob, DocumentPart, MissingExtraError, Services, create_llm
from abstractcore.ports import Conversion, Fallback, MediaContext, Recognised
from abstractcore.registry.kinds import GuardedHandler
from abstractcore.schema import install_hint
from abstractcore.stores.models import FileModelStore
from tests.plugin_doubles import giving, thing

MISSING = MissingExtraError("Reading guest lists needs the package guests", hint=install_hint("guests>=2"))
PART = DocumentPart(Blob.from_bytes(b"Ann, Ben", "application/x-guests"))
CONTEXT = MediaContext(FileModelStore())


def raises(*arguments: Any, **options: Any) -> Any:
    raise MISSING


def is_guests(head: bytes, name: str, declared: str | None) -> Recognised | None:
    return Recognised("document", "application/x-guests") if declared in ("application/x-guests", None) else None


def handler(**members: Any) -> Any:
    """A handler of guest lists, with such members."""
    found = {
        "recognise": is_guests,
        "check": lambda part: None,
        "convert": lambda part, context: Conversion("Ann", "l"),
    }
    fallbacks = (Fallback("text", frozenset({"text"})),)
    return thing("media handler", "guests", **{**found, "fallbacks": fallbacks, **members})


def plugin(services: Services, **items: Any) -> None:
    assert services.registry.add_plugin("p", lambda: giving(**items), distribution="guests 1.0").error is None


def generate(services: Services, media: Any, **options: Any) -> None:
    with create_llm("scripted", replies=["a"], services=services, **options) as llm:
        llm.generate("Who comes?", media=[media])


def recognised_by_one(services: Services) -> None:
    plugin(services, media_handler=[handler(recognise=raises)])
    generate(services, b"\0\1\2 guests")


def checked(services: Services) -> None:
    plugin(services, media_handler=[handler(check=raises)])
    generate(services, PART, accepts=["application/x-guests"])


def converted(services: Services) -> None:
    plugin(services, media_handler=[handler(convert=raises)])
    generate(services, PART, accepts=["text"])


def connected(services: Services) -> None:
    plugin(services, provider=[thing("provider", "guests", connect=raises)])
    create_llm("guests", "any", services=services)


def capability(services: Services) -> None:
    plugin(services, capability=[thing("capability", "guests", connect=raises)])
    create_llm("scripted", replies=[], services=services).capability("guests")


def backend_made(services: Services) -> None:
    services.registry.add_backends(
        lambda registry: registry.register_voice_backend(backend_id="g:1", factory=raises, priority=99)
    )
    create_llm("scripted", replies=[], services=services).voice.tts("Ann")


def backend_called(services: Services) -> None:
    backend = type("Backend", (), {"tts": raises})
    services.registry.add_backends(
        lambda registry: registry.register_voice_backend(backend_id="g:1", factory=lambda owner: backend(), priority=99)
    )
    create_llm("scripted", replies=[], services=services).voice.tts("Ann")


GUARDS: list[Callable[[Services], None]] = [
    recognised_by_one, checked, converted, connected, capability, backend_made, backend_called,
]  # fmt: skip


@pytest.mark.parametrize("guarded", GUARDS, ids=lambda each: each.__name__)
def test_missing_extra_of_a_plugin_reaches_the_user_as_it_is(guarded, caplog: pytest.LogCaptureFixture):
    services = Services(environment={})
    with pytest.raises(MissingExtraError, match=r"guest lists.*pip install 'guests>=2'") as caught:
        guarded(services)
    services.close()
    assert type(caught.value) is MissingExtraError
    assert caplog.records == []


METHODS = {
    "recognise": (b"", "", None),
    "check": (PART,),
    "convert": (PART, CONTEXT),
    "excerpt": (PART, CONTEXT),
    "fit": (PART, {}),
    "measure": (PART, CONTEXT),
    "retranscribe": (PART, [], CONTEXT),
}


def test_every_method_of_a_guarded_handler_raises_it():
    for name, arguments in METHODS.items():
        optional = {"excerpt_controls": frozenset({"pages"})} if name == "excerpt" else {}
        guarded = GuardedHandler(handler(**{name: raises}, **optional), "tests")
        with pytest.raises(MissingExtraError) as caught:
            getattr(guarded, name)(*arguments)
        assert caught.value is MISSING, name
    assert {*METHODS} == {
        name for name, value in vars(GuardedHandler).items() if callable(value) and not name.startswith("_")
    }


def test_handler_that_lacks_a_package_does_not_stop_others(caplog: pytest.LogCaptureFixture):
    def of_guests(head: bytes, name: str, declared: str | None) -> Recognised | None:
        return raises() if declared is None else None

    services = Services(environment={})
    plugin(services, media_handler=[handler(recognise=of_guests)])
    generate(services, b"plain words")
    services.close()
    assert caplog.records == []
