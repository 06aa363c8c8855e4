"""Voices on this machine, with their real weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from abstractcore import LLM, Services, create_llm
from abstractcore.stores.models import PACKAGED_MODELS, FileModelStore
from abstractvoice.speakers.weights import packaged_models


@pytest.fixture(scope="session")
def voice_models(models: FileModelStore) -> FileModelStore:
    """The store of real weights, which knows those of voices too."""
    return FileModelStore(models.root, packaged=(*PACKAGED_MODELS, *packaged_models()))


@pytest.fixture
def voice_services(voice_models: FileModelStore) -> Iterator[Services]:
    """Services with the real weights."""
    services = Services(models=voice_models)
    yield services
    services.close()


@pytest.fixture
def speaking(voice_services: Services) -> LLM:
    """An LLM whose voice says the same text in the same way each time."""
    options: dict[str, Any] = {"voice_variation": 0}
    return create_llm("scripted", replies=["Hello."], services=voice_services, **options)
