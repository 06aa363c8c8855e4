"""Strict fakes of endpoints for vectors and rankings: they refuse fields and values that the vendors do not document.

Fields are those of the vendors' own packages where there is one: `ClientV2.embed` and `.rerank` of cohere 7.3,
`EmbedRequest` of ollama 0.6, `EmbeddingRequest` of mistralai 3.7, the converters of google-genai 3.4, and by reading
voyageai 0.4 (voyage-ai/voyageai-python), docs/openapi.json of huggingface/text-embeddings-inference, api.jina.ai/redoc,
and the pages of docs.aws.amazon.com/bedrock/latest/userguide that `formats/bedrock_converse/embeddings.py` names.
"""

from __future__ import annotations

import base64
import inspect
import json
import re
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any
from zlib import crc32

import cohere
from mistralai.client.models import EmbeddingRequest
from ollama._types import EmbedRequest

from tests.providers.strict_fakes.fake import Handler

Answer = Callable[[str, Any], Any]
"""Returns the body of a response to a path and a body; raises `RefusedRequestError`."""


class RefusedRequestError(Exception):
    """A request that the vendor refuses."""


def vector(item: Any, dimensions: int) -> list[float]:
    """The vector of an item: the same for the same one, with another for any other."""
    seed = crc32(json.dumps(item).encode())
    numbers = [((seed * (n + 3)) % 1009) / 1009 - 0.5 for n in range(dimensions)]
    return [float(number) for number in struct.unpack(f"<{dimensions}f", struct.pack(f"<{dimensions}f", *numbers))]


def packed(item: Any, dimensions: int) -> str:
    return base64.b64encode(struct.pack(f"<{dimensions}f", *vector(item, dimensions))).decode()


def score(query: str, document: str) -> float:
    """How many words of the query are in the document, of all."""
    words = query.lower().split()
    return sum(word in document.lower() for word in words) / len(words)


def _known(body: Mapping[str, Any], allowed: Any, needed: Any = ()) -> None:
    unknown, missing = set(body) - set(allowed), set(needed) - set(body)
    if unknown or missing:
        raise RefusedRequestError(f"unknown fields {sorted(unknown)}, missing fields {sorted(missing)}")


def _one_of(value: Any, *allowed: Any) -> None:
    if value not in allowed:
        raise RefusedRequestError(f"{value!r} is not one of {allowed}")


def _texts(values: Any, most: int) -> list[str]:
    if not isinstance(values, list) or not 0 < len(values) <= most or not all(isinstance(v, str) for v in values):
        raise RefusedRequestError(f"expected 1 to {most} texts, got {values!r}")
    return values


_COHERE_EMBED = {*inspect.signature(cohere.ClientV2.embed).parameters} - {"self", "request_options"}
_COHERE_RERANK = {*inspect.signature(cohere.ClientV2.rerank).parameters} - {"self", "request_options"}


def cohere_v2(path: str, body: Any) -> Any:
    """`POST /v2/embed` and `/v2/rerank`."""
    if path == "/v2/rerank":
        _known(body, _COHERE_RERANK, ("model", "query", "documents"))
        results = _ranked(body["query"], _texts(body["documents"], 1000), body.get("top_n"))
        return {"id": "r", "results": results, "meta": {"billed_units": {"search_units": 1.0}}}
    _one_of(path, "/v2/embed")
    _known(body, _COHERE_EMBED, ("model", "input_type"))
    sources = [name for name in ("texts", "images", "inputs") if name in body]
    if len(sources) != 1:
        raise RefusedRequestError(f"expected one of texts, images and inputs, got {sources}")
    _one_of(body["input_type"], "search_document", "search_query", "classification", "clustering", "image")
    _one_of(body["input_type"] == "image", sources == ["images"])
    _one_of(body.get("truncate"), "NONE", "START", "END", None)
    if "output_dimension" in body:
        _one_of(body["output_dimension"], 256, 512, 1024, 1536)
    items = _cohere_items(body, sources[0])
    size = body.get("output_dimension", 8)
    made = {"float": [vector(item, size) for item in items], "base64": [packed(item, size) for item in items]}
    types = body.get("embedding_types", ["float"])
    for each in types:
        _one_of(each, "float", "int8", "uint8", "binary", "ubinary", "base64")
    images = sum("image_url" in json.dumps(item) for item in items) if sources == ["inputs"] else 0
    billed = {"input_tokens": 3.0 * len(items), "image_tokens": 50.0 * images}
    if sources == ["images"]:
        billed = {"images": float(len(items))}
    found = {name: made[name] for name in types}
    return {"id": "e", "response_type": "embeddings_by_type", "embeddings": found, "meta": {"billed_units": billed}}


def _cohere_items(body: Any, source: str) -> list[Any]:
    items = body[source]
    if source == "texts":
        return _texts(items, 96)
    if source == "images":
        for url in _texts(items, 1 if "-v3" in body["model"] else 96):
            _data_url(url)
        return items
    for item in items:
        _known(item, ("content",), ("content",))
        for block in item["content"]:
            _one_of(block["type"], "text", "image_url")
            _known(block, ("type", block["type"]), (block["type"],))
            if block["type"] == "image_url":
                _known(block["image_url"], ("url",), ("url",))
                _data_url(block["image_url"]["url"])
    return items


def _data_url(url: Any) -> None:
    if not re.fullmatch(r"data:image/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+=*", url):
        raise RefusedRequestError(f"{url!r} is not a data URL of an image")


def _ranked(query: str, documents: list[str], top: int | None) -> list[dict[str, Any]]:
    found = [{"index": n, "relevance_score": score(query, text)} for n, text in enumerate(documents)]
    return sorted(found, key=lambda each: -each["relevance_score"])[:top]


_TASKS = (
    "RETRIEVAL_QUERY",
    "RETRIEVAL_DOCUMENT",
    "SEMANTIC_SIMILARITY",
    "CLASSIFICATION",
    "CLUSTERING",
    "QUESTION_ANSWERING",
    "FACT_VERIFICATION",
    "CODE_RETRIEVAL_QUERY",
)


def gemini(path: str, body: Any) -> Any:
    """`:batchEmbedContents` of the Gemini API, for at most 100 requests."""
    match = re.fullmatch(r"/v1(?:beta)?/(models/[^:/]+):batchEmbedContents", path)
    if match is None:
        raise RefusedRequestError(f"{path} is not found")
    _known(body, ("requests",), ("requests",))
    if not 0 < len(body["requests"]) <= 100:
        raise RefusedRequestError("at most 100 requests can be in one batch")
    vectors: list[Any] = []
    for each in body["requests"]:
        _known(each, ("model", "content", "taskType", "title", "outputDimensionality"), ("model", "content"))
        _one_of(each["model"], match[1])
        _one_of(each.get("taskType"), None, *_TASKS)
        vectors.append({"values": vector(_google_content(each["content"]), each.get("outputDimensionality", 8))})
    return {"embeddings": vectors, "usageMetadata": {"promptTokenCount": 3 * len(vectors)}}


def _google_content(content: Any) -> Any:
    _known(content, ("parts", "role"), ("parts",))
    for part in content["parts"]:
        if "inlineData" in part:
            _known(part["inlineData"], ("mimeType", "data"), ("mimeType", "data"))
        else:
            _known(part, ("text",), ("text",))
    return content["parts"]


def vertex(path: str, body: Any) -> Any:
    """`:predict`, `:embedContent` and `:batchEmbedContents` of Vertex AI."""
    match = re.search(r"/publishers/google/models/([^:/]+):(predict|embedContent|batchEmbedContents)$", path)
    if match is None:
        raise RefusedRequestError(f"{path} is not found")
    _one_of(match[2] == "predict", "gemini" not in match[1])
    if match[2] == "embedContent":
        made = _vertex_content(body)
        return {"embedding": {"values": made["values"]}, "usageMetadata": {"promptTokenCount": 3}, "truncated": False}
    if match[2] == "batchEmbedContents":
        _known(body, ("requests",), ("requests",))
        statistics = {"token_count": 3, "truncated": False}
        return {"embeddings": [{**_vertex_content(each), "statistics": statistics} for each in body["requests"]]}
    _known(body, ("instances", "parameters"), ("instances",))
    parameters = body.get("parameters", {})
    if match[1].startswith("multimodal"):
        _known(parameters, ("dimension",))
        return {"predictions": [_multimodal(each, parameters.get("dimension", 8)) for each in body["instances"]]}
    _known(parameters, ("autoTruncate", "outputDimensionality"))
    predictions: list[Any] = []
    for each in body["instances"]:
        _known(each, ("content", "task_type", "title"), ("content",))
        _one_of(each.get("task_type"), None, *_TASKS)
        values = vector(each["content"], parameters.get("outputDimensionality", 8))
        statistics = {"token_count": 3, "truncated": len(each["content"]) > 100}
        predictions.append({"embeddings": {"values": values, "statistics": statistics}})
    return {"predictions": predictions, "metadata": {"billableCharacterCount": 9}}


def _vertex_content(body: Any) -> Any:
    _known(body, ("content", "embedContentConfig"), ("content",))
    config = body.get("embedContentConfig", {})
    _known(config, ("taskType", "title", "outputDimensionality", "autoTruncate", "documentOcr"))
    _one_of(config.get("taskType"), None, *_TASKS)
    return {"values": vector(_google_content(body["content"]), config.get("outputDimensionality", 8))}


def _multimodal(instance: Any, size: int) -> Any:
    _known(instance, ("text", "image", "video"))
    if "image" in instance:
        _known(instance["image"], ("bytesBase64Encoded", "gcsUri", "mimeType"))
        return {"imageEmbedding": vector(instance["image"], size)}
    return {"textEmbedding": vector(instance["text"], size)}


def ollama(path: str, body: Any) -> Any:
    """`POST /api/embed`."""
    _one_of(path, "/api/embed")
    _known(body, EmbedRequest.model_fields, ("model", "input"))
    texts = _texts(body["input"], 10_000)
    size = body.get("dimensions", 8)
    vectors = [vector(text, size) for text in texts]
    return {"model": body["model"], "embeddings": vectors, "total_duration": 1, "prompt_eval_count": 3 * len(texts)}


def bedrock(path: str, body: Any) -> Any:
    """`POST /model/{modelId}/invoke` of Titan, Cohere and the rerankers."""
    match = re.fullmatch(r"/model/([^/]+)/invoke", path)
    if match is None:
        raise RefusedRequestError(f"{path} is not found")
    model = match[1].replace("%3A", ":")
    if "rerank" in model:
        _known(body, ("query", "documents", "top_n", *(("api_version",) if "cohere" in model else ())))
        _one_of(body.get("api_version"), 2 if "cohere" in model else None)
        return {"results": _ranked(body["query"], _texts(body["documents"], 1000), body["top_n"])}
    if "cohere" in model:
        return _bedrock_cohere(model, body)
    if "image" in model:
        _known(body, ("inputText", "inputImage", "embeddingConfig"))
        size = body.get("embeddingConfig", {}).get("outputEmbeddingLength", 8)
        _one_of(size, 8, 256, 384, 1024)
    else:
        _known(body, ("inputText",) if "v1" in model else ("inputText", "dimensions", "normalize"), ("inputText",))
        size = body.get("dimensions", 8)
        _one_of(size, 8, 256, 512, 1024)
    item = {name: body[name] for name in ("inputText", "inputImage") if name in body}
    return {"embedding": vector(item, size), "inputTextTokenCount": 3}


def _bedrock_cohere(model: str, body: Any) -> Any:
    fields = {"input_type", "texts", "images", "truncate", "embedding_types"}
    _known(body, fields if "v3" in model else fields | {"inputs", "output_dimension", "max_tokens"}, ("input_type",))
    _one_of(body["truncate"], "NONE", *(("START", "END") if "v3" in model else ("LEFT", "RIGHT")))
    purposes = ("search_document", "search_query", "classification", "clustering")
    _one_of(body["input_type"], *purposes, *(("image",) if "v3" in model else ()))
    items = body.get("texts") or body.get("images") or body.get("inputs")
    for item in body.get("inputs", ()):
        for block in item["content"]:
            _known(block, ("type", block["type"]), (block["type"],))
            if block["type"] == "image_url":
                _data_url(block["image_url"])
    found = [vector(item, body.get("output_dimension", 8)) for item in items]
    return {"id": "i", "response_type": "embeddings_by_type", "embeddings": {"float": found}}


def openai_like(path: str, body: Any, *, known: Any, size_field: str, encoding: str, paths: tuple[str, ...]) -> Any:
    """`POST /embeddings` of a vendor whose requests have the fields `known`; results are in the wrong order."""
    _one_of(path, *paths)
    _known(body, known, ("model", "input"))
    items: list[Any] = body["input"]
    size = body.get(size_field, 8)
    as_base64 = body.get(encoding) == "base64"
    rows = [
        {"object": "embedding", "index": n, "embedding": packed(item, size) if as_base64 else vector(item, size)}
        for n, item in enumerate(items)
    ]
    usage = {"prompt_tokens": 3 * len(rows), "total_tokens": 3 * len(rows)}
    return {"object": "list", "model": body["model"], "data": rows[::-1], "usage": usage}


def mistral(path: str, body: Any) -> Any:
    """`POST /v1/embeddings`."""
    names = {field.alias or name for name, field in EmbeddingRequest.model_fields.items()}
    _texts(body["input"], 10_000)
    return openai_like(
        path,
        body,
        known=names,
        size_field="output_dimension",
        encoding="encoding_format",
        paths=("/v1/embeddings",),
    )


def voyage(path: str, body: Any) -> Any:
    """`POST /v1/embeddings`, `/v1/multimodalembeddings` and `/v1/rerank`."""
    if path == "/v1/rerank":
        fields = ("query", "documents", "model", "top_k", "truncation", "return_documents")
        _known(body, fields, ("query", "documents", "model"))
        found = _ranked(body["query"], _texts(body["documents"], 1000), body.get("top_k"))
        return {"object": "list", "data": found, "model": body["model"], "usage": {"total_tokens": 7}}
    _one_of(body.get("input_type"), None, "document", "query")
    options = ("model", "input_type", "truncation", "output_dtype", "output_dimension", "encoding_format")
    if path == "/v1/multimodalembeddings":
        _known(body, ("inputs", *options), ("inputs", "model"))
        for item in body["inputs"]:
            _known(item, ("content",), ("content",))
            for part in item["content"]:
                _one_of(part["type"], "text", "image_url", "image_base64", "video_url", "video_base64")
                _known(part, ("type", part["type"]), (part["type"],))
        rows = [{"index": n, "embedding": packed(item["content"], 8)} for n, item in enumerate(body["inputs"])]
        usage = {"text_tokens": 3, "image_pixels": 560, "total_tokens": 4}
        return {"object": "list", "data": rows, "model": body["model"], "usage": usage}
    _texts(body["input"], 1000)
    body = {name: each for name, each in body.items() if each is not None}  # the vendor's client sends null
    found = openai_like(
        path,
        body,
        known=("input", *options),
        size_field="output_dimension",
        encoding="encoding_format",
        paths=("/v1/embeddings",),
    )
    return {**found, "usage": {"total_tokens": 3 * len(body["input"])}}


_JINA_TASKS = ("retrieval.query", "retrieval.passage", "text-matching", "classification", "separation")


def jina(path: str, body: Any) -> Any:
    """`POST /v1/embeddings` and `/v1/rerank`."""
    if path == "/v1/rerank":
        _known(body, ("model", "query", "documents", "top_n", "return_documents"), ("query", "documents", "model"))
        found = _ranked(body["query"], body["documents"], body.get("top_n"))
        return {"model": body["model"], "results": found, "usage": {"total_tokens": 7, "prompt_tokens": 7}}
    _one_of(body.get("task"), None, *_JINA_TASKS, "code.query", "code.passage")
    for item in body["input"]:
        if not isinstance(item, str):
            _known(item, ("text",) if "text" in item else ("image",))
    known = ("model", "input", "task", "dimensions", "embedding_type", "normalized", "late_chunking", "truncate")
    return openai_like(
        path,
        body,
        known=known,
        size_field="dimensions",
        encoding="embedding_type",
        paths=("/v1/embeddings",),
    )


def tei(path: str, body: Any) -> Any:
    """`POST /v1/embeddings` and `/rerank` of Text Embeddings Inference."""
    if path == "/rerank":
        allowed = ("query", "texts", "raw_scores", "return_text", "truncate", "truncation_direction", "model")
        _known(body, allowed, ("query", "texts"))
        found = _ranked(body["query"], body["texts"], None)
        return [{"index": each["index"], "score": each["relevance_score"]} for each in found]
    known = ("model", "input", "dimensions", "encoding_format", "user")
    return openai_like(
        path,
        body,
        known=known,
        size_field="dimensions",
        encoding="encoding_format",
        paths=("/v1/embeddings",),
    )


def llama_cpp(path: str, body: Any) -> Any:
    """`POST /v1/embeddings` and `/v1/rerank` of llama.cpp and vLLM."""
    if path == "/v1/rerank":
        _known(body, ("model", "query", "documents", "top_n"), ("query", "documents"))
        found = _ranked(body["query"], body["documents"], body.get("top_n"))
        return {"object": "list", "model": body["model"], "results": found, "usage": {"total_tokens": 7}}
    known = ("model", "input", "encoding_format", "dimensions")
    return openai_like(
        path,
        body,
        known=known,
        size_field="dimensions",
        encoding="encoding_format",
        paths=("/v1/embeddings",),
    )


class EmbeddingServer(ThreadingHTTPServer):
    """A strict vendor at an address. `bodies` are the requests; `response` replaces the body of each response."""

    daemon_threads = True

    def __init__(self, vendor: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.vendor = vendor
        self.bodies: list[Any] = []
        self.headers: list[Mapping[str, str]] = []
        self.response: Callable[[Any], Any] = lambda body: body

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str, headers: Mapping[str, str], content: bytes) -> tuple[int, str, bytes]:
        """Returns the status, content type and body of the response."""
        body = json.loads(content)
        self.bodies.append(body)
        self.headers.append(headers)
        try:
            status, found = 200, self.response(self.vendor(path.partition("?")[0], body))
        except RefusedRequestError as refusal:
            status, found = 400, {"message": str(refusal), "error": {"message": str(refusal)}}
        return status, "application/json", json.dumps(found).encode()


@contextmanager
def embedding_server(vendor: Answer) -> Iterator[EmbeddingServer]:
    """Runs a server in a thread."""
    server = EmbeddingServer(vendor)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
