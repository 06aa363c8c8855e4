"""The session of the embedded embedding model, which runs in this process: OpenAI's format, and a transport without a
network, so that limits, budgets, records and recordings are those of every provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError, ProviderError, UnsupportedOptionError
from abstractcore.ports import (
    EMBED,
    Address,
    ModelProfile,
    Operation,
    Operations,
    Price,
    ProviderServices,
    ProviderSession,
    Runtime,
)
from abstractcore.schema import EmbedInput, EmbedReply, Encoded, ModelCall, WireRequest, WireResponse

from ..common.endpoints import RIGHT_ADDRESS, NoAuth
from ..common.reading import as_object, as_objects
from ..common.response_bodies import read_body
from ..common.vectors import write_base64
from ..formats.openai_chat import OpenAIChat
from ..formats.openai_chat.dialect import LLAMA_CPP, EmbeddingFields
from ..formats.openai_chat.embeddings import decode_embeddings, embedding, parse_embeddings
from .vector_model import VECTOR_MODELS, ModelKey, TextVectors, VectorModel, check_packages

FIELDS: Final = EmbeddingFields(dimensions=None, truncate="truncate")
_DIALECT: Final = replace(LLAMA_CPP, embeddings=FIELDS, counts=None)
_NOTHING_TO_ASK: Final = "Embed texts with llm.embed([...]); a chat model answers: create_llm()."


@dataclass(frozen=True, slots=True)
class VectorFormat(OpenAIChat):
    """OpenAI's format of vectors, whose objects have `tokens` and `truncated` besides, and no chat."""

    def encode(self, call: ModelCall) -> Encoded:
        """Raises `UnsupportedOptionError`: the model does not answer."""
        raise UnsupportedOptionError(
            f"{call.model} is a model for embeddings: it has vectors of texts, and no answers.", hint=_NOTHING_TO_ASK
        )

    @property
    def operations(self) -> Operations:
        """Returns the operation `embed`."""
        operation: Operation[EmbedInput, EmbedReply] = embedding(self.dialect.provider, FIELDS)
        return {EMBED: replace(operation, decode=_decode)}


def _decode(response: WireResponse, given: EmbedInput) -> EmbedReply:
    rows = as_objects(as_object(read_body(response, RIGHT_ADDRESS)).get("data"))
    return replace(
        decode_embeddings(response, given),
        tokens=tuple(row["tokens"] for row in rows if "tokens" in row),
        truncated=tuple(index for index, row in enumerate(rows) if row.get("truncated")),
    )


class VectorBody:
    """A response that is complete."""

    status = 200

    def __init__(self, content: bytes) -> None:
        self.headers: Mapping[str, str] = {}
        self._content = content

    async def read(self) -> bytes:
        """Returns the content; at the end empty bytes."""
        content, self._content = self._content, b""
        return content

    async def close(self) -> None:
        """Does nothing: there is no connection."""

    def abort(self) -> None:
        """Does nothing: the content is there."""


@dataclass(frozen=True, slots=True)
class VectorTransport:
    """Answers requests by a model, in a worker thread of `runtime`."""

    model: VectorModel
    runtime: Runtime

    async def open(self, request: WireRequest, timeout: float) -> VectorBody:
        """Returns the vectors of the texts in `request`; raises as `VectorModel.embed` does.

        The time limit of the call ends the wait, and with it the work.
        """
        given = parse_embeddings(request, "local", FIELDS).input
        texts = [item for item in given.items if isinstance(item, str)]
        found = await self.runtime.call(_embed, self.model, texts, given.truncate)
        return VectorBody(_written(found, given.model))

    async def close(self) -> None:
        """Does nothing: there are no connections."""


def _embed(model: VectorModel, texts: list[str], truncate: bool) -> TextVectors:
    return model.embed(texts, truncate=truncate)


def _written(found: TextVectors, model: str) -> bytes:
    cut = {*found.truncated}
    data = [
        {"object": "embedding", "index": index, "embedding": vector, "tokens": tokens, "truncated": index in cut}
        for index, (vector, tokens) in enumerate(zip(write_base64(found.vectors), found.tokens, strict=True))
    ]
    total = sum(found.tokens)
    usage = {"prompt_tokens": total, "total_tokens": total}
    return to_json({"object": "list", "data": data, "model": model, "usage": usage})


class VectorEndpoint:
    """Loads the model at the first request; the LLMs of the process share it, until the last of them is closed."""

    def __init__(self, model: str, threads: int | None, services: ProviderServices) -> None:
        self._model = model
        self._threads = threads
        self._services = services
        self._loaded: VectorModel | None = None

    async def open(self, runtime: Runtime) -> Address:
        """Returns an address whose transport is the model; may download and load the weights first."""
        loaded = self._loaded
        if loaded is None or not loaded.is_of_this_process:
            loaded = self._loaded = await runtime.call(self._load)
        return Address("local://", NoAuth(), VectorTransport(loaded, runtime))

    def close(self) -> None:
        """Frees the model after its running calls, if no other LLM uses it."""
        self._loaded = None

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns `error`, which says all."""
        return error

    def _load(self) -> VectorModel:
        check_packages()
        folder = self._services.models.path(self._model)
        return VECTOR_MODELS.get(ModelKey(folder, self._threads or self._services.spare_cores))


def vector_session(
    model: str, threads: int | None, profile: ModelProfile, services: ProviderServices
) -> ProviderSession:
    """Returns a session for an embedded embedding model. No I/O."""
    endpoint = VectorEndpoint(model, threads, services)
    return ProviderSession(
        model=model,
        transpiler=VectorFormat(_DIALECT),
        endpoint=endpoint,
        profile=profile,
        price=Price(0, 0),
        own_process=True,
        close=endpoint.close,
    )
