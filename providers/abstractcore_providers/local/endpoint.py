"""The endpoint of a model on this machine: weights from the store, a child process from the pool."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from abstractcore.errors import (
    AbstractCoreError,
    ConnectionFailedError,
    ContextOverflowError,
    MissingExtraError,
    ModelCrashedError,
    ModelStoreError,
    ProviderError,
    StreamInterruptedError,
)
from abstractcore.ports import Address, ProviderServices, Runtime
from abstractcore.schema.base_error import install_hint

from ..common.endpoints import BearerAuth
from .process import ModelProcess, ServerKey
from .servers import ServerPool
from .slots import SlotLease

_DYING = 0.25
_OVERFLOW_HINT = (
    "Shorten the prompt or the files, or enlarge the context with context_size=TOKENS, up to what the model supports."
)


class LocalEndpoint:
    """Starts the model at the first request, and restarts it at the first one after its process died."""

    def __init__(
        self, model: str, context_size: int, threads: int | None, services: ProviderServices, pool: ServerPool
    ) -> None:
        self._model = model
        self._context_size = context_size
        self._threads = threads
        self._services = services
        self._pool = pool
        self._user = pool.add_user(self)
        self._key: ServerKey | None = None
        self._server: ModelProcess | None = None

    async def open(self, runtime: Runtime) -> Address:
        """Returns the address of the model's server; may download and load the weights first."""
        lease = self._pool.lease(self._key, self._user) if self._key is not None else None
        if lease is None:
            lease = await runtime.call(self._start)
        server = self._server = lease.process
        return Address(f"{server.url}/v1", BearerAuth(server.key), release=lease.release)

    def close(self) -> None:
        """Ends the model's process after its running calls, if no other LLM uses it."""
        self._pool.remove_user(self._user)

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns an error with the cause of death if the child died; adds a hint for a prompt that is too long."""
        if isinstance(error, ContextOverflowError):
            error.hint = _OVERFLOW_HINT
        server = self._server
        if server is None or server.abandoned:
            return error
        # The connection breaks an instant before the system says that the process has ended.
        broken = isinstance(error, ConnectionFailedError | StreamInterruptedError)
        if server.alive(_DYING if broken else 0.0):
            return error
        message, hint = server.death()
        return ModelCrashedError(
            message, hint=hint, provider="local", model=self._model, partial=error.partial, attempts=error.attempts
        )

    def _start(self) -> SlotLease:
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtraError(
                "the embedded model requires xllamacpp, which is not installed",
                hint=install_hint("xllamacpp", "filelock", "huggingface-hub", extra="local"),
            )
        weights = self._weights()
        threads = self._threads or self._services.spare_cores
        self._key = ServerKey(weights, self._context_size, threads)
        try:
            return self._pool.start(self._key, self._user, self._model)
        except AbstractCoreError as error:
            error.provider, error.model = "local", self._model
            raise

    def _weights(self) -> Path:
        try:
            path = self._services.models.path(self._model)
        except ModelStoreError as error:
            if error.code == "unknown_model":
                elsewhere = (
                    f'If it is a model of a provider, name the provider: create_llm("PROVIDER/{self._model}"); '
                    f"`abstractcore models info {self._model}` lists the providers that have it."
                )
                error.hint = f"{error.hint} {elsewhere}" if error.hint else elsewhere
            raise
        if path.is_dir():
            files = sorted(file.relative_to(path).as_posix() for file in path.rglob("*.gguf"))
            raise ModelStoreError(
                f"{self._model} is a folder: expected one GGUF file",
                hint=f"Name the file: {self._model}/{files[0]}." if files else "The folder has no GGUF file.",
            )
        return path.resolve()
