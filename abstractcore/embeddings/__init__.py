"""Vectors of texts and files: many at once within the limits of a model, kept, compared; and documents ranked."""

from ..lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from .caching import EmbeddingCache as EmbeddingCache
    from .managers import EmbeddingManager as EmbeddingManager
    from .ranking import RankedDocument as RankedDocument, Ranked as Ranked, RerankMethod as RerankMethod
    from .results import Embeddings as Embeddings
    from .vector_math import NearVector as NearVector, SimilarPair as SimilarPair
