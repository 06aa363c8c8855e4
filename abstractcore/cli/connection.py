"""Makes an `LLM` from the connection options."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import abstractcore

from ..schema import EMPTY
from .plugins import registry

if TYPE_CHECKING:
    from ..registry import Registry
    from ..stores.models import FileModelStore, Progress


@dataclass(frozen=True, slots=True)
class ConnectionArguments:
    """The connection options. `quiet` also hides the progress of downloads."""

    provider: str | None
    model: str | None
    base_url: str | None
    temperature: float | None
    max_tokens: int | None
    timeout: float | None
    context_size: int | None
    quiet: bool


@contextmanager
def connected(
    connection: ConnectionArguments,
    plugins: Registry | None = None,
    *,
    api_key: str | None = None,
    more: Mapping[str, Any] = EMPTY,
) -> Generator[abstractcore.LLM]:
    """Yields the LLM, and closes it. `plugins` is the registry, if it is loaded already; `more` are further options."""
    options = {
        "base_url": connection.base_url,
        "api_key": api_key,
        "temperature": connection.temperature,
        "max_output_tokens": connection.max_tokens,
        "timeout": connection.timeout,
        "context_size": connection.context_size,
        **more,
    }
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    models = model_store(_unseen if connection.quiet else None)
    services = abstractcore.Services(models=models, registry=plugins or registry())
    try:
        yield abstractcore.create_llm(connection.provider, connection.model, services=services, **given)
    except abstractcore.UnknownOptionError as error:
        error.hint = "Leave it out: the provider does not support it."
        raise
    finally:
        services.close()


def model_store(progress: Progress | None = None) -> FileModelStore:
    """The weights on this machine, by the names of installed plugins too; loaded when a command needs them."""
    from ..stores.models import PACKAGED_MODELS, FileModelStore

    return FileModelStore(packaged=(*PACKAGED_MODELS, *registry().models.values()), progress=progress)


def _unseen(name: str, done: int, total: int) -> None:
    """Ignores progress."""
