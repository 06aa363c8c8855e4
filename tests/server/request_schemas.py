"""Writes the schemas of requests, request_schemas.json of the server, which `/openapi.json` and `/docs` show.
`python -m` runs it.

The fields of calls are those of docs/server-fields.md, with what the server does with them. Their values are described
by the vendors: a field has an example, and a type only if the server reads it itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from abstractcore_server.dialects.base import EXTENSION, EXTENSION_FIELDS
from abstractcore_server.routes import ROUTES
from tests.server.fields import FIELDS, outcomes, required

FILE = Path(__file__).parents[2] / "server" / "abstractcore_server" / "request_schemas.json"
_SERVERS = "the server's"
_TYPES: Mapping[type, str] = {
    bool: "boolean",
    dict: "object",
    float: "number",
    int: "integer",
    list: "array",
    str: "string",
}


class Own(NamedTuple):
    """The fields of a request that the server reads itself: each with an example, a tuple of all its values, None for a
    value of several types, or bytes for a file. The first `needed` ones are required.
    """

    needed: int
    fields: Mapping[str, Any]
    is_form: bool = False


_IMAGE: Mapping[str, Any] = {
    "model": "default",
    "prompt": "a red house by the sea",
    "n": 1,
    "size": "1024x1024",
    "response_format": ("b64_json",),
    "output_format": "png",
}
_HEARD: Mapping[str, Any] = {
    "file": b"",
    "model": "default",
    "language": "en",
    "prompt": "Ulm, Danube",
    "response_format": ("json", "text", "srt", "verbose_json", "vtt", "diarized_json"),
    "timestamp_granularities": ["word"],
    "stream": False,
    "temperature": 0.0,
}
_ITEMS: Mapping[str, Any] = {"items": [{"type": "message", "role": "user", "content": "hi"}]}
_EXPIRES: Mapping[str, Any] = {"anchor": "created_at", "seconds": 3600}
_PURPOSE = ("assistants", "batch", "evals", "fine-tune", "user_data", "vision")
OWN: Mapping[str, Own] = {
    "/v1/audio/speech": Own(
        2,
        {
            "model": "default",
            "input": "It costs $5.",
            "voice": "joe",
            "response_format": ("mp3", "opus", "flac", "wav", "pcm"),
            "speed": 1.0,
            "instructions": "calm",
            "stream_format": ("audio", "sse"),
            "language": "en",
        },
    ),
    "/v1/audio/transcriptions": Own(2, _HEARD, is_form=True),
    "/v1/audio/translations": Own(2, _HEARD, is_form=True),
    "/v1/audio/music": Own(
        2,
        {
            "model": "default",
            "prompt": "a calm waltz",
            "lyrics": "La la la",
            "format": "mp3",
            "seconds": 30.0,
            "seed": 1,
            "tempo": 90.0,
            "key": "D minor",
            "meter": "3/4",
            "mood": "calm",
        },
    ),
    "/v1/images/generations": Own(2, _IMAGE),
    "/v1/images/edits": Own(3, {"model": "default", "prompt": "add a boat", "image": b"", "mask": b"", **_IMAGE}, True),
    "/v1/embeddings": Own(
        2,
        {
            "input": None,
            "model": "openai/text-embedding-3-small",
            "dimensions": 256,
            "encoding_format": ("float", "base64"),
            "user": "u",
        },
    ),
    "/v1/rerank": Own(
        3,
        {
            "model": "jina/jina-reranker-v3",
            "query": "who barks?",
            "documents": ["dogs bark", "fish"],
            "top_n": 1,
            "return_documents": False,
        },
    ),
    "/v2/embed": Own(
        2,
        {
            "model": "embed-v4.0",
            "input_type": ("search_document", "search_query", "classification", "clustering", "image"),
            "texts": ["a cat"],
            "images": ["data:image/png;base64,iVBORw0KGgo="],
            "inputs": [{"content": [{"type": "text", "text": "a cat"}]}],
            "output_dimension": 256,
            "embedding_types": ["float"],
            "truncate": ("NONE", "START", "END"),
        },
    ),
    "/v2/rerank": Own(
        3, {"model": "rerank-v4.0-pro", "query": "who barks?", "documents": ["dogs bark", "fish"], "top_n": 1}
    ),
    "/api/embed": Own(
        2,
        {"model": "nomic-embed-text", "input": None, "truncate": True, "dimensions": 256, "options": {"num_ctx": 512}},
    ),
    "/api/embeddings": Own(2, {"model": "nomic-embed-text", "prompt": "a cat"}),
    "/v1beta/models/{model}:embedContent": Own(
        1,
        {
            "content": {"parts": [{"text": "a cat"}]},
            "taskType": "RETRIEVAL_QUERY",
            "outputDimensionality": 256,
        },
    ),
    "/v1beta/models/{model}:batchEmbedContents": Own(1, {"requests": [{"content": {"parts": [{"text": "a cat"}]}}]}),
    "/v1/moderations": Own(1, {"input": None, "model": "omni-moderation-latest"}),
    "/v1/files": Own(
        2,
        {
            "file": b"",
            "purpose": _PURPOSE,
            "expires_after[anchor]": ("created_at",),
            "expires_after[seconds]": "3600",
        },
        is_form=True,
    ),
    "/v1/uploads": Own(
        4,
        {
            "bytes": 1024,
            "filename": "a.pdf",
            "mime_type": "application/pdf",
            "purpose": _PURPOSE,
            "expires_after": _EXPIRES,
        },
    ),
    "/v1/uploads/{id}/parts": Own(1, {"data": b""}, is_form=True),
    "/v1/uploads/{id}/complete": Own(1, {"part_ids": ["part_1"], "md5": "d41d8cd98f00b204e9800998ecf8427e"}),
    "/v1/responses/compact": Own(
        1, {"model": "default", "input": None, "instructions": "Be brief.", "previous_response_id": "resp_1"}
    ),
    "/v1/conversations": Own(0, {**_ITEMS, "metadata": {"a": "b"}}),
    "/v1/conversations/{id}": Own(1, {"metadata": {"a": "b"}}),
    "/v1/conversations/{id}/items": Own(1, _ITEMS),
    "/api/show": Own(1, {"model": "default"}),
}


def _same_as(path: str) -> str:
    """The path whose requests are those of a route of Gemini's API: versions are alike, and so are calls of models."""
    operation = f"/v1beta/models/{{model}}:{path.rpartition(':')[2]}"
    return operation if operation in OWN else "/v1beta/models/{model}:generateContent"


_SAME: Mapping[str, str] = {
    "/v1/messages/count_tokens": "/v1/messages",
    "/v1/responses/input_tokens": "/v1/responses",
    **{route.path: _same_as(route.path) for route in ROUTES if "/models/{model}:" in route.path},
}
_DECISIONS = "/v1/decisions"
_OF_DECISIONS = ("/v1/chat/completions", "/v1/responses", "/v1/messages")


def content() -> str:
    """The file as it is to be."""
    paths = {path: name_of(path) for path in (*FIELDS, *OWN, _DECISIONS)}
    paths |= {path: name_of(other) for path, other in _SAME.items()}
    schemas = {name_of(path): _schema_of_call(path) for path in FIELDS}
    schemas |= {name_of(path): _schema_of_own(own) for path, own in OWN.items()}
    schemas[name_of(_DECISIONS)] = {
        "anyOf": [{"$ref": f"#/components/schemas/{name_of(path)}"} for path in _OF_DECISIONS]
    }
    forms = [name_of(path) for path, own in OWN.items() if own.is_form]
    data = {"forms": forms, "paths": dict(sorted(paths.items())), "schemas": dict(sorted(schemas.items()))}
    return json.dumps(data, indent=1) + "\n"


def name_of(path: str) -> str:
    """The name of the schema of a route's requests."""
    return "_".join(filter(None, re.split(r"\W+", path)))


def _schema_of_call(path: str) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, (own, others) in outcomes(path):
        field: dict[str, Any] = _typed(FIELDS[path][name]) if own == _SERVERS else {}
        field["description"] = own if own == others else f"{own}; for models of other APIs: {others}"
        field["examples"] = [FIELDS[path][name]]
        outer, _, inner = name.rpartition(".")
        if outer:
            properties.setdefault(outer, {"type": "object", "properties": {}})["properties"][inner] = field
        else:
            properties[name] = field
    named = {name: {"description": _SERVERS} for name in EXTENSION_FIELDS}
    properties[EXTENSION] = {"type": "object", "properties": named, "additionalProperties": False}
    return {"type": "object", "required": required(path), "properties": properties}


def _schema_of_own(own: Own) -> dict[str, Any]:
    properties = {name: _typed(value) for name, value in own.fields.items()}
    return {"type": "object", "required": list(own.fields)[: own.needed], "properties": properties}


def _typed(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, bytes):
        return {"type": "string", "contentMediaType": "application/octet-stream"}
    if isinstance(value, tuple):
        return {"type": "string", "enum": list(cast("tuple[str, ...]", value))}
    return {"type": _TYPES[type(value)], "examples": [value]}


if __name__ == "__main__":
    FILE.write_text(content(), encoding="utf-8")
