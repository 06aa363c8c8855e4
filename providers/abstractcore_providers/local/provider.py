"""The provider of local models: they run on this machine, without a key, and without a network after the download."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from abstractcore.errors import ConfigurationError
from abstractcore.ports import ProviderConfig, ProviderServices, ProviderSession

if TYPE_CHECKING:
    from .servers import ServerPool

DEFAULT_MODEL = "smollm2-135m-instruct"
EMBEDDING_MODEL = "all-minilm-l6-v2"
"""It runs in this process; every other model in a child process."""
DEFAULT_CONTEXT = 8192
_SMALLEST_CONTEXT = 256


class LocalProvider:
    """Runs llama.cpp in child processes, which it owns. `start_limit` is the maximum loading time in seconds; None is
    `START_LIMIT` of `servers`.
    """

    name = "local"
    summary = "Small models on this machine, by llama.cpp; no key and no server to set up."
    options: Mapping[str, str] = {
        "context_size": f"context window in tokens, prompt and reply together; default {DEFAULT_CONTEXT}; "
        "a model trained with a smaller one stops at its own limit",
        "threads": "CPU threads; default: physical cores minus one",
    }

    def __init__(self, start_limit: float | None = None) -> None:
        self._start_limit = start_limit
        self._pools: dict[str, ServerPool] = {}

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """Returns a session for `config.model`, a name or path for the model store. No I/O but the catalogue's."""
        # Imported here: listing providers must load neither a wire format nor the code that runs processes.
        from abstractcore.ports import Price

        from ..common.endpoints import check_setting_names
        from ..formats.openai_chat import OpenAIChat
        from ..formats.openai_chat.dialect import LLAMA_CPP
        from .endpoint import LocalEndpoint

        if config.base_url:
            raise ConfigurationError(
                "the provider `local` runs the model itself and does not support base_url",
                hint="For a running server, use its provider, such as `ollama` or `openai-compatible`.",
            )
        model = config.model or DEFAULT_MODEL
        context_size = _whole_number(config, "context_size", _SMALLEST_CONTEXT) or DEFAULT_CONTEXT
        threads = _whole_number(config, "threads", 1)
        profile = services.catalogue.profile(self.name, model)
        check_setting_names(profile.settings, frozenset(), self.name)
        if model == EMBEDDING_MODEL:
            from .embedding import vector_session

            return vector_session(model, threads, profile, services)
        endpoint = LocalEndpoint(model, context_size, threads, services, self._pool())
        return ProviderSession(
            model=model,
            transpiler=OpenAIChat(LLAMA_CPP),
            endpoint=endpoint,
            profile=replace(profile, context_tokens=context_size, one_system_message=True),
            price=Price(0, 0),
            embedding_model=EMBEDDING_MODEL if config.model is None else None,
            own_process=True,
            close=endpoint.close,
        )

    def close(self) -> None:
        """Ends the models' processes; the next call starts them again."""
        for pool in list(self._pools.values()):
            pool.close()

    def _pool(self) -> ServerPool:
        """Returns the pool that all sessions share. Without a lock, which a fork could leave locked forever: if two
        threads create a pool at once, one of them is dropped.
        """
        from .servers import START_LIMIT, ServerPool

        limit = START_LIMIT if self._start_limit is None else self._start_limit
        return self._pools.get("shared") or self._pools.setdefault("shared", ServerPool(limit))


def _whole_number(config: ProviderConfig, option: str, least: int) -> int | None:
    """Returns the option's value; None if not given."""
    value = config.options.get(option)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigurationError(f"{option}: expected an integer of at least {least}, got {value!r}", provider="local")
    return value
