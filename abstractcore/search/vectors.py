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
    """Embeds texts by `llm`. The first vectors of an index say which model and length those of it have, and whether
    they are in its file or in a store.
    """

    def __init__(self, llm: llms.LLM, file: IndexFile, chunk_tokens: int | None, *, in_store: bool) -> None:
        self.llm = llm
        self.place = "in a store" if in_store else "in the file"
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
        await pipeline.runtime.call(self.check, embedded, kind="files")
        return embedded

    def check(self, embedded: Embeddings) -> None:
        """Raises `IndexMismatchError` if the vectors of the index were made otherwise than these."""
        self._file.check(self._settings(embedded))

    def new_settings(self, embedded: Embeddings) -> dict[str, str]:
        """Returns what the vectors of an index are made with, if these are its first ones."""
        return {**self._settings(embedded), "chunk_tokens": str(self.chunk_tokens())}

    def _settings(self, embedded: Embeddings) -> dict[str, str]:
        made = {"model": f"{embedded.provider}/{embedded.model}", "dimensions": str(embedded.dimensions)}
        return {**made, "place": self.place}
