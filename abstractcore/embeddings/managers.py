"""`EmbeddingManager`: vectors by the names of AbstractCore, for programs that use these; `llm.embed` has more."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from ..copying import NotCopied
from ..lazy_modules import LazyModule
from .caching import EmbeddingCache
from .results import Embeddings
from .vector_math import Matrix

if TYPE_CHECKING:
    from ..client import create_options, llm
else:
    create_options = LazyModule("abstractcore.client.create_options")
    llm = LazyModule("abstractcore.client.llm")


class EmbeddingManager(NotCopied):
    """Embeds texts by a model, and keeps their vectors in a file.

    `model` is a name as `create_llm` takes it, `provider` that of its provider; without both, the embedded model.
    `cache_dir` is the folder of the file, None for the user's cache folder; `output_dims` the length of the vectors,
    None for the model's own. Further options are those of `create_llm`. Raises errors as `create_llm` does.
    """

    _holds = "a model and the file of its vectors"
    _instead = "Make another one with the same arguments."

    def __init__(
        self,
        model: str | None = None,
        provider: str | None = None,
        *,
        cache_dir: str | os.PathLike[str] | None = None,
        output_dims: int | None = None,
        **options: Unpack[create_options.CreateOptions],
    ) -> None:
        from ..client.factory import create_llm

        self.cache = EmbeddingCache(cache_dir)
        if cache_dir is not None:
            self.cache = EmbeddingCache(self.cache.path / "embeddings.db")
        settings: create_options.CreateOptions = {"embed_cache": self.cache, **options}
        self.llm: llm.LLM = create_llm(provider, model=model, **settings) if provider else create_llm(model, **settings)
        self._dimensions = output_dims
        self._hits = self._misses = 0

    def embed(self, text: str) -> list[float]:
        """Returns the vector of a text, as the model has it."""
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Returns the vector of each text, as the model has it; no vectors of no texts."""
        return self._embedded(texts, normalize=False).data.lists() if texts else []

    def embed_normalized(self, text: str) -> list[float]:
        """Returns the vector of a text with the length 1."""
        return self._embedded([text]).data.lists()[0]

    def compute_similarity(self, text1: str, text2: str) -> float:
        """Returns the cosine similarity of two texts, from -1 to 1. `text1` and `text2` are the texts."""
        return float(self._embedded([text1, text2]).similarities()[0][1])

    def compute_similarities_matrix(
        self, texts_left: Sequence[str], texts_right: Sequence[str] | None = None
    ) -> Matrix:
        """Returns the cosine similarity of each text on the left with each one on the right, by default the same.

        `texts_left` are the rows, `texts_right` the columns; None: the same texts.
        """
        left = self._embedded(texts_left)
        return left.similarities() if texts_right is None else left.similarities(None, self._embedded(texts_right))

    def find_similar_clusters(
        self, texts: Sequence[str], threshold: float = 0.8, min_cluster_size: int = 2, max_clusters: int = 50
    ) -> list[list[int]]:
        """Returns groups of positions of texts that are similar, the largest first: see `Embeddings.clusters`.

        `min_cluster_size` is the least number of texts of a group, `max_clusters` how many are returned, None for all.
        """
        return self._embedded(texts).clusters(threshold, min_size=min_cluster_size)[:max_clusters]

    def get_dimension(self) -> int:
        """Returns the length of the vectors. Where the catalogue does not know it, a text is embedded."""
        rules = self.llm.profile.embedding
        known = self._dimensions or (None if rules is None else rules.dimensions)
        return known or len(self.embed("dimension"))

    def get_cache_stats(self) -> dict[str, Any]:
        """Returns how many vectors are in the file, how many came from it and how many had to be asked for."""
        return {
            "entries": self.cache.count(),
            "hits": self._hits,
            "misses": self._misses,
            "path": str(self.cache.path),
        }

    def _embedded(self, texts: Sequence[str], *, normalize: bool = True) -> Embeddings:
        found = self.llm.embed(texts, dimensions=self._dimensions, normalize=normalize)
        self._hits += found.cache_hits
        self._misses += len(found) - found.cache_hits
        return found
