"""The endpoint of a model on this machine: weights from the store, a child process from the pool."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
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
    UnsupportedOptionError,
)
from abstractcore.ports import CHAT, EMBED, RERANK, Address, ProviderServices, Runtime
from abstractcore.schema.base_error import install_hint

from ..common.endpoints import BearerAuth
from .gguf import ModelKind, read_gguf
from .process import ModelProcess, ServerKey
from .servers import ServerPool
from .slots import SlotLease

_DYING = 0.25
_TOO_LARGE = re.compile(r"input \((\d{1,12}) tokens\) is too large.*current batch size: (\d{1,12})")
"""What llama.cpp says of a text that does not fit into the context of a model that embeds."""
_KINDS: Mapping[str, ModelKind] = {CHAT: "chat", EMBED: "embedding", RERANK: "reranking"}
_ABILITIES: Mapping[ModelKind, tuple[str, str]] = {
    "chat": ("answers", "Without a model, create_llm().embed(texts) uses the embedded one for embeddings."),
    "embedding": ("embeds texts", "Use llm.embed(texts), or another model."),
    "reranking": ("ranks documents", "Use llm.rerank(query, documents), or another model."),
}
_RANKING_HINTS: Mapping[ModelKind, str] = {
    "chat": "Rank by its answers with method='llm', or by vectors: create_llm().rerank(..., method='embeddings').",
    "embedding": "Rank by its vectors: llm.rerank(query, documents, method='embeddings').",
}
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

    def check_operation(self, name: str) -> None:
        """Raises `UnsupportedOptionError` for what a model of this kind does not do: its file says what it is for."""
        kind = self._key.kind if self._key is not None else "chat"
        if name in _KINDS and _KINDS[name] != kind:
            ability, hint = _ABILITIES[kind]
            raise UnsupportedOptionError(
                f"{self._model} is a model that {ability}, as its file says, and has no operation {name!r}",
                hint=_RANKING_HINTS.get(kind, hint) if name == RERANK else hint,
                provider="local",
                model=self._model,
            )

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns an error with the cause of death if the child died; adds a hint for a prompt that is too long."""
        if isinstance(error, ContextOverflowError):
            error.hint = _OVERFLOW_HINT
        if (too_large := _TOO_LARGE.search(error.message)) is not None:
            return _overflow(error, *map(int, too_large.groups()))
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
        self._key = _key_of(weights, self._context_size, threads)
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
                    f"`abstractcore models search {self._model}` lists those that have it."
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


def _key_of(weights: Path, context_size: int, threads: int) -> ServerKey:
    """Returns the settings of the process for weights: of a model that embeds or ranks, a batch takes memory for the
    whole context, which is not larger than what the model was trained with."""
    model = read_gguf(weights)
    if model.kind == "chat":
        return ServerKey(weights, context_size, threads)
    size = min(context_size, model.context_tokens or context_size)
    return ServerKey(weights, size, threads, model.kind, pools=not model.is_pooled)


def _overflow(error: ProviderError, tokens: int, limit: int) -> ContextOverflowError:
    """Returns the error for a text that a model which embeds or ranks does not take."""
    overflow = ContextOverflowError(
        f"a text has {tokens:,} tokens, and the model takes {limit:,}",
        hint="Split the text, or cut it with truncate=True.",
        provider="local",
        model=error.model,
        attempts=error.attempts,
    )
    overflow.prompt_tokens, overflow.context_tokens = tokens, limit
    return overflow
