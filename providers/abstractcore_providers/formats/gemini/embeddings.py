"""The operation `embed` for clients: `:batchEmbedContents`, on Vertex AI also `:embedContent` and `:predict`.

Sources: https://ai.google.dev/api/embeddings, https://ai.google.dev/gemini-api/docs/embeddings,
https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api and
/multimodal-embeddings-api, and the google-genai package 3.4: there, models of the Gemini family on Vertex AI have
`embedContent`, others `predict`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import ServerError, UnsupportedContentError
from abstractcore.ports import Operation
from abstractcore.schema import (
    Billing,
    CallWarning,
    EmbedInput,
    EmbedItem,
    EmbedPurpose,
    EmbedReply,
    Encoded,
    ImagePart,
    TextPart,
    Usage,
    WireRequest,
    WireResponse,
)

from ...common.call_options import FormatWarnings, add_provider_options, unsupported
from ...common.data_urls import write_base64
from ...common.embeddings import (
    embedding_operation,
    images_in,
    parts_in,
    purpose_sent,
    texts_in,
    vectors_of,
    warn_of_part,
)
from ...common.endpoints import JSON_HEADERS
from ...common.google_errors import RIGHT_ADDRESS, error_in_body
from ...common.reading import Object, as_object, as_objects, count_of, object_of
from ...common.response_bodies import read_body
from .content import write_media
from .encode import resource_of
from .vocabulary import GenerateContentDialect, billing_to_ours, usage_to_ours

WARNINGS = FormatWarnings("the embedContent format")
TASKS: dict[EmbedPurpose, str] = {
    "document": "RETRIEVAL_DOCUMENT",
    "query": "RETRIEVAL_QUERY",
    "classification": "CLASSIFICATION",
    "clustering": "CLUSTERING",
    "similarity": "SEMANTIC_SIMILARITY",
    "code": "CODE_RETRIEVAL_QUERY",
    "question": "QUESTION_ANSWERING",
    "fact": "FACT_VERIFICATION",
}
"""`TaskType` on https://ai.google.dev/api/embeddings."""
_MULTIMODAL = "multimodalembedding"
_FIELDS = frozenset({"requests", "content", "embedContentConfig", "instances", "parameters"})


def embedding(dialect: GenerateContentDialect) -> Operation[EmbedInput, EmbedReply]:
    """Returns the operation."""
    return embedding_operation(
        lambda given: encode_embed(given, dialect), lambda response, given: decode_embed(response, given, dialect)
    )


def encode_embed(given: EmbedInput, dialect: GenerateContentDialect) -> Encoded:
    """Returns the request for vectors; raises `UnsupportedContentError` for files that the model's endpoint has no
    field for.
    """
    warnings: list[CallWarning] = []
    if not dialect.publisher:
        operation, body = "batchEmbedContents", _batch(given, dialect, warnings)
    elif given.model.rpartition("/")[2].startswith(_MULTIMODAL):
        operation, body = "predict", _multimodal(given, warnings)
    elif "gemini" in given.model:
        operation, body = _on_vertex(given, dialect, warnings)
    else:
        operation, body = "predict", _instances(given, warnings)
    add_provider_options(body, given, dialect.provider, lambda name, value: name in _FIELDS, warnings)
    request = WireRequest(f"/{resource_of(given.model, dialect)}:{operation}", JSON_HEADERS, to_json(body))
    return Encoded(request, tuple(warnings))


def _batch(given: EmbedInput, dialect: GenerateContentDialect, warnings: list[CallWarning]) -> Object:
    """Returns the body of the Gemini API, whose server decides on texts that are too long."""
    if given.truncate:
        warnings.append(unsupported("truncate", True, "a request to cut texts: its models decide that themselves"))
    settings = _settings(given, warnings)
    resource = resource_of(given.model, dialect)
    contents = _contents(given, dialect, warnings)
    return {"requests": [{"model": resource, "content": content, **settings} for content in contents]}


def _on_vertex(given: EmbedInput, dialect: GenerateContentDialect, warnings: list[CallWarning]) -> tuple[str, Object]:
    settings = {**_settings(given, warnings), "autoTruncate": given.truncate}
    requests = [{"content": content, "embedContentConfig": settings} for content in _contents(given, dialect, warnings)]
    return ("embedContent", requests[0]) if len(requests) == 1 else ("batchEmbedContents", {"requests": requests})


def _settings(given: EmbedInput, warnings: list[CallWarning]) -> Object:
    task = purpose_sent(given, TASKS, WARNINGS.name, warnings)
    settings: Object = {} if task is None else {"taskType": task}
    return settings if given.dimensions is None else {**settings, "outputDimensionality": given.dimensions}


def _contents(given: EmbedInput, dialect: GenerateContentDialect, warnings: list[CallWarning]) -> Iterable[Object]:
    for index, item in enumerate(given.items):
        yield {"parts": list(_parts(item, f"items[{index}]", dialect, warnings))}


def _parts(
    item: EmbedItem, path: str, dialect: GenerateContentDialect, warnings: list[CallWarning]
) -> Iterable[Object]:
    for position, part in enumerate(parts_in(item)):
        part_path = path if isinstance(item, str) else f"{path}[{position}]"
        if isinstance(part, TextPart):
            warn_of_part(part, part_path, WARNINGS, warnings)
            yield {"text": part.text}
        else:
            WARNINGS.fields(part, part_path, ("cache",), warnings)
            yield write_media(part, part_path, dialect.provider, warnings)


def _instances(given: EmbedInput, warnings: list[CallWarning]) -> Object:
    task = purpose_sent(given, TASKS, WARNINGS.name, warnings)
    settings: Object = {} if task is None else {"task_type": task}
    parameters: Object = {"autoTruncate": given.truncate}
    if given.dimensions is not None:
        parameters["outputDimensionality"] = given.dimensions
    instances = [{"content": text, **settings} for text in texts_in(given, WARNINGS.name)]
    return {"instances": instances, "parameters": parameters}


def _multimodal(given: EmbedInput, warnings: list[CallWarning]) -> Object:
    """Returns the body for a model that embeds a text or an image, which has no purposes."""
    if given.purpose is not None:
        warnings.append(unsupported("purpose", given.purpose, "purposes of the vectors of this model"))
    if given.truncate:
        warnings.append(unsupported("truncate", True, "a request to cut texts at this model"))
    instances = [_instance(item, index, given, warnings) for index, item in enumerate(given.items)]
    return {"instances": instances, **({"parameters": {"dimension": given.dimensions}} if given.dimensions else {})}


def _instance(item: EmbedItem, index: int, given: EmbedInput, warnings: list[CallWarning]) -> Object:
    parts = list(images_in(item, index, given, WARNINGS, warnings))
    if len(parts) != 1:
        raise UnsupportedContentError(
            f"items[{index}]: {given.model} embeds a text or an image, not both as one vector.",
            hint="Pass them as items of their own.",
            provider=given.provider or None,
            model=given.model,
        )
    part, path = parts[0]
    if isinstance(part, ImagePart):
        return {"image": {"bytesBase64Encoded": write_base64(part.blob, path)}}
    return {"text": part.text}


def decode_embed(response: WireResponse, given: EmbedInput, dialect: GenerateContentDialect) -> EmbedReply:
    """Returns the vectors; raises `ServerError` for a body without one for each item."""
    data = as_object(read_body(response, RIGHT_ADDRESS))
    error = error_in_body(data)
    if error is not None:
        raise error
    found = _embeddings(data)
    if found is None:
        raise ServerError("the response has no vectors", status=response.status)
    vectors = vectors_of(response, [each.get("values") for each in found], given)
    statistics = [object_of(each, "statistics") for each in found]
    cut = {index for index, each in enumerate(statistics) if each.get("truncated") is True}
    if data.get("truncated") is True and len(found) == 1:
        cut.add(0)
    counts = [_whole(each.get("token_count", each.get("tokenCount"))) for each in statistics]
    tokens = tuple(count for count in counts if count is not None)
    whole = tokens if len(tokens) == len(counts) else ()
    return EmbedReply(vectors, _usage(data, whole, dialect), tokens=whole, truncated=tuple(sorted(cut)))


def _embeddings(data: Object) -> list[Object] | None:
    """Returns the objects with vectors, of each of the three endpoints."""
    if "predictions" in data:
        return [_prediction(each) for each in as_objects(data["predictions"])]
    if "embedding" in data:
        return [object_of(data, "embedding")]
    return as_objects(data["embeddings"]) if "embeddings" in data else None


def _prediction(prediction: Object) -> Object:
    values = prediction.get("imageEmbedding", prediction.get("textEmbedding"))
    return object_of(prediction, "embeddings") if values is None else {"values": values}


def _whole(value: Any) -> int | None:
    """Returns a count, which Vertex AI may send as a float."""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return count_of({"count": whole}, "count")


def _usage(data: Object, tokens: tuple[int, ...], dialect: GenerateContentDialect) -> Usage:
    metadata = object_of(data, "usageMetadata")
    if metadata:
        return usage_to_ours(metadata, billing_to_ours(metadata, {}, dialect.billing))
    characters = count_of(object_of(data, "metadata"), "billableCharacterCount")
    billing = None if characters is None else Billing(counts={"character": characters})
    return Usage(input=sum(tokens) if tokens else None, billing=billing)
