"""From the options that say who answers, and how, to an `LLM`."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

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
    context_size: int | None
    quiet: bool


@contextmanager
def connected(connection: Connection) -> Generator[abstractcore.LLM]:
    """The LLM; its connections are closed at the end."""
    options = {
        "base_url": connection.base_url,
        "temperature": connection.temperature,
        "max_output_tokens": connection.max_tokens,
        "timeout": connection.timeout,
        "context_size": connection.context_size,
    }
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    models = abstractcore.FileModelStore(progress=_unseen if connection.quiet else None)
    services = abstractcore.Services(models=models, registry=registry())
    try:
        yield abstractcore.create_llm(connection.provider, connection.model, services=services, **given)
    except abstractcore.UnknownOptionError as error:
        error.hint = "Leave it out: not every provider takes it."
        raise
    finally:
        services.close()


def _unseen(name: str, done: int, total: int) -> None:
    """Progress that nobody watches."""
