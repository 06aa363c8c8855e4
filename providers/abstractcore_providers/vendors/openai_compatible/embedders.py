"""Vendors of embeddings and rankings, without a chat, and servers that only have these.

Requests, responses and errors on the wire: `formats/openai_chat`.
"""

from __future__ import annotations

from functools import partial

from ...formats.openai_chat import ChatDialect
from ...formats.openai_chat.dialect import RerankFields
from ...formats.openai_chat.vector_dialects import EMBEDDINGS_OF_JINA, EMBEDDINGS_OF_VOYAGE
from ..presets import Preset

_without_chat = partial(ChatDialect, has_chat=False, thinking=None)

EMBEDDERS = (
    Preset(
        "voyage",
        "Voyage AI, embeddings and rankings",
        "https://api.voyageai.com/v1",
        "VOYAGE_API_KEY",
        url_path="/v1",
        dialect=_without_chat(
            "voyage",
            embeddings=EMBEDDINGS_OF_VOYAGE,
            reranking=RerankFields(top="top_k", truncate="truncation", results="data"),
        ),
        model_examples={"voyage-": "voyage-4"},
    ),
    Preset(
        "jina",
        "Jina AI, embeddings and rankings",
        "https://api.jina.ai/v1",
        "JINA_API_KEY",
        other_key_variables=("JINA_AI_API_KEY",),
        url_path="/v1",
        dialect=_without_chat(
            "jina",
            embeddings=EMBEDDINGS_OF_JINA,
            reranking=RerankFields(return_documents="return_documents"),
        ),
        model_examples={"jina-": "jina-embeddings-v4"},
    ),
    Preset(  # docs/openapi.json of github.com/huggingface/text-embeddings-inference
        "tei",
        "a Text Embeddings Inference server, on this machine by default",
        "http://localhost:8080/v1",
        "TEI_API_KEY",
        key_needed=False,
        url_path="/v1",
        dialect=_without_chat(
            "tei",
            reranking=RerankFields("/../rerank", "texts", top=None, truncate="truncate", results="", score="score"),
        ),
        model_examples={},
    ),
)
"""Vendors of embeddings and rankings, and servers of these."""
