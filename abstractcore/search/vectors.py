"""`Embedder`: makes the vectors of an index, all by one model with the same settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..errors import IndexMismatchError
from ..schema import EmbedPurpose
from .store import IndexFile

if TYPE_CHECKING:
    from ..client import llm as llms
    from ..embeddings import Embeddings
    from ..engine import Pipeline

_DEFAULT_CHUNK_TOKENS: Final = 200
"""A section that answers a question; the embedded model reads 256 tokens, and estimates are not exact."""


class Embedder:
    """Embeds texts by `llm`. The first vectors of an index say which model and length those of it have."""

    def __init__(self, llm: llms.LLM, file: IndexFile, chunk_tokens: int | None) -> None:
        self.llm = llm
        self._file = file
        self.given_chunk_tokens = chunk_tokens

    def chunk_tokens(self) -> int:
        """Returns about how many tokens a chunk has; raises `IndexMismatchError` if those of the index have others."""
        stored = self._file.settings().get("chunk_tokens")
        if stored is None or self.given_chunk_tokens in (None, int(stored)):
            return int(stored) if stored else self.given_chunk_tokens or _DEFAULT_CHUNK_TOKENS
        raise IndexMismatchError(
            f"the chunks of {self._file.path} have up to {stored} tokens, not {self.given_chunk_tokens}.",
            hint=f"Leave out chunk_tokens, or divide all anew: index.rebuild(chunk_tokens={self.given_chunk_tokens}).",
        )

    async def embed(self, texts: Sequence[str], purpose: EmbedPurpose, pipeline: Pipeline) -> Embeddings:
        """Returns the vectors of texts, of length 1. Raises `IndexMismatchError` if those of the index are of another
        model.
        """
        embedded = await self.llm.embedded(texts, purpose, sync=pipeline is self.llm.pipeline(sync=True))
        await pipeline.runtime.call(self._check, embedded, purpose, kind="files")
        return embedded

    def _check(self, embedded: Embeddings, purpose: EmbedPurpose) -> None:
        own = {"model": f"{embedded.provider}/{embedded.model}", "dimensions": str(embedded.dimensions)}
        stored = self._file.settings()
        if not stored:
            if purpose == "document":
                self._file.set_settings({**own, "chunk_tokens": str(self.chunk_tokens())})
            return
        if any(stored.get(name) != value for name, value in own.items()):
            raise IndexMismatchError(
                f"the vectors of {self._file.path} are of {stored.get('model')} with {stored.get('dimensions')} "
                f"dimensions, those of this LLM are of {own['model']} with {own['dimensions']}.",
                hint="Use that model, or embed all anew: index.rebuild(llm).",
            )
