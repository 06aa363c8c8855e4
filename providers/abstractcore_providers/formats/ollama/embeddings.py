"""The operation `embed` for clients: `POST /api/embed`.

Sources: https://docs.ollama.com/api/embed, and `EmbedRequest` and `EmbedResponse` in api/types.go of ollama/ollama.
"""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore.ports import EMBED
from abstractcore.schema import CallWarning, EmbedInput, EmbedReply, Encoded, WireRequest, WireResponse

from ...common.call_options import FormatWarnings, add_provider_options, unsupported
from ...common.embeddings import embedding_operation, texts_in, vectors_of
from ...common.endpoints import JSON_HEADERS
from ...common.reading import Object, as_object, text_of
from ...common.response_bodies import read_body
from .errors import RIGHT_ADDRESS, error_in_body
from .vocabulary import PROVIDER, USAGE

WARNINGS = FormatWarnings("Ollama's embed format")
EMBED_FIELDS = frozenset({"model", "input", "truncate", "dimensions"})


def encode_embed(given: EmbedInput) -> Encoded:
    """Returns the request for vectors of texts; raises `UnsupportedContentError` for files."""
    warnings: list[CallWarning] = []
    if given.purpose is not None:
        warnings.append(unsupported("purpose", given.purpose, "purposes of vectors"))
    body: Object = {"model": given.model, "input": texts_in(given, WARNINGS.name), "truncate": given.truncate}
    if given.dimensions is not None:
        body["dimensions"] = given.dimensions
    add_provider_options(body, given, PROVIDER, lambda name, value: name in EMBED_FIELDS, warnings)
    return Encoded(WireRequest("/api/embed", JSON_HEADERS, to_json(body)), tuple(warnings))


def decode_embed(response: WireResponse, given: EmbedInput) -> EmbedReply:
    """Returns the vectors; raises `ServerError` for a body without one for each text."""
    data = as_object(read_body(response, RIGHT_ADDRESS))
    error = error_in_body(data)
    if error is not None:
        raise error
    return EmbedReply(vectors_of(response, data.get("embeddings"), given), USAGE.read(data), text_of(data, "model"))


OPERATIONS = {EMBED: embedding_operation(encode_embed, decode_embed)}
"""The operation by name."""
