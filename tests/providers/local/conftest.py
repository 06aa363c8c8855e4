"""The stronger embedded model, for tests that need right answers, typed objects or tool calls."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from abstractcore import LLM, Services, create_llm
from abstractcore.stores.models import FileModelStore

CONTEXT = 1024
STRONGER_CONTEXT = 2048


@pytest.fixture(scope="session")
def small_llm(models: FileModelStore) -> Generator[LLM]:
    """The embedded model at temperature 0, one process for all tests."""
    pytest.importorskip("xllamacpp")
    services = Services(models=models, environment={})
    yield create_llm("local", context_size=CONTEXT, threads=1, temperature=0, services=services)
    services.registry.provider("local").close()
    services.close()


@pytest.fixture(scope="session")
def stronger_llm(models: FileModelStore) -> Generator[LLM]:
    """qwen2.5-coder-1.5b at temperature 0, one process for all tests; mark them with `stronger_model`.

    It writes about 12 tokens a second, and reads about 30: keep prompts and answers short.
    """
    pytest.importorskip("xllamacpp")
    services = Services(models=models, environment={})
    yield create_llm(
        "local/qwen2.5-coder-1.5b", context_size=STRONGER_CONTEXT, threads=1, temperature=0, services=services
    )
    services.registry.provider("local").close()
    services.close()
