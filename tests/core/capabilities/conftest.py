"""LLMs with backends in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from abstractcore import LLM, CallRecord, Services, create_llm
from tests.backend_doubles import Records, WithBackend, leave_out_installed_backends


@pytest.fixture(autouse=True)
def no_installed_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests register their own."""
    leave_out_installed_backends(monkeypatch)


@pytest.fixture
def with_backend(services: Services) -> WithBackend:
    """`with_backend(voice=Backend, ...)` returns an LLM with these backends, whose ids are "tests:voice" and so on."""

    def with_backend(*, replies: Any = (), **given: Any) -> LLM:
        backends = {name: given.pop(name) for name in ("voice", "audio", "vision", "music") if name in given}

        def register(registry: Any) -> None:
            for capability, factory in backends.items():
                registry.register_backend(capability=capability, backend_id=f"tests:{capability}", factory=factory)

        services.registry.add_backends(register)
        return create_llm("scripted", replies=[*replies], services=services, **given)

    return with_backend


@pytest.fixture
def records(services: Services) -> Iterator[Records]:
    """The records of calls, with their content: `records()` waits for them."""
    found: list[CallRecord] = []
    subscription = services.records.subscribe(found.append, "full")

    def records() -> list[CallRecord]:
        subscription.flush()
        return found

    yield records
    subscription.close()
