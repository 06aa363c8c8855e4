"""From the options that say who answers, and how, to an `LLM`."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import abstractcore

from .plugins import registry


@dataclass(frozen=True, slots=True)
class Connection:
    """Who answers, and how. `quiet` also hides the progress of a model that is being fetched."""

    provider: str | None
    model: str | None
    base_url: str | None
    temperature: float | None
    max_tokens: int | None
    timeout: float | None
    quiet: bool


@contextmanager
def connected(connection: Connection) -> Generator[abstractcore.LLM]:
    """The LLM; its connections are closed at the end."""
    options: abstractcore.LLMOptions = {}
    if connection.base_url is not None:
        options["base_url"] = connection.base_url
    if connection.temperature is not None:
        options["temperature"] = connection.temperature
    if connection.max_tokens is not None:
        options["max_output_tokens"] = connection.max_tokens
    if connection.timeout is not None:
        options["timeout"] = connection.timeout
    models = abstractcore.FileModelStore(progress=_unseen if connection.quiet else None)
    services = abstractcore.Services(models=models, registry=registry())
    try:
        yield abstractcore.create_llm(connection.provider, connection.model, services=services, **options)
    finally:
        services.close()


def _unseen(name: str, done: int, total: int) -> None:
    """Progress that nobody watches."""
