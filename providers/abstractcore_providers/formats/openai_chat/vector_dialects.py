"""The requests for vectors of vendors after OpenAI's: for their presets, and for servers that their clients use."""

from __future__ import annotations

from typing import Final

from ...common.reading import Object
from .dialect import EMBEDDINGS_OF_OPENAI, EmbeddingFields

EMBEDDINGS_OF_VOYAGE: Final = EmbeddingFields(  # docs.voyageai.com/reference; the voyageai package
    dimensions="output_dimension",
    purpose="input_type",
    words={"document": "document", "query": "query"},
    truncate="truncation",
    parts="multimodal",
    parts_path="/multimodalembeddings",
)
EMBEDDINGS_OF_JINA: Final = EmbeddingFields(  # api.jina.ai/redoc
    encoding="embedding_type",
    purpose="task",
    words={
        "document": "retrieval.passage",
        "query": "retrieval.query",
        "similarity": "text-matching",
        "classification": "classification",
        "clustering": "separation",
        "code": "code.query",
    },
    truncate="truncate",
    image="image",
)
TYPE_OF_NUMBERS: Final = "output_dtype"
"""Voyage's and Mistral's field for vectors of integers or bits."""


def fields_of_client(data: Object) -> EmbeddingFields:
    """Returns the fields of a client that sends a request to a server with OpenAI's path, by what is in the request."""
    for fields in (EMBEDDINGS_OF_VOYAGE, EMBEDDINGS_OF_JINA):
        own = {fields.encoding, fields.dimensions, fields.purpose, fields.truncate}
        own -= {EMBEDDINGS_OF_OPENAI.encoding, EMBEDDINGS_OF_OPENAI.dimensions}
        if not own.isdisjoint(data):
            return fields
    return EMBEDDINGS_OF_OPENAI
