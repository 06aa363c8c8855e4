"""What `/docs` and `/openapi.json` say of the routes: their APIs, what they do, and the fields of their requests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from .exchange import Handler

OWN: Final = "AbstractCore"
"""The name of this server's own API."""
APIS: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic": ("Anthropic", "https://platform.claude.com/docs/en/api/messages"),
    "cohere": ("Cohere", "https://docs.cohere.com/reference/chat"),
    "gemini": ("Google", "https://ai.google.dev/api/generate-content"),
    "ollama": ("Ollama", "https://docs.ollama.com/api"),
    "ollama_generate": ("Ollama", "https://docs.ollama.com/api/generate"),
    "openai_chat": ("OpenAI", "https://platform.openai.com/docs/api-reference"),
    "openai_completions": ("OpenAI", "https://platform.openai.com/docs/api-reference/completions"),
    "openai_responses": ("OpenAI", "https://platform.openai.com/docs/api-reference/responses"),
}
"""By dialect: the name of the vendor and the address of its documentation."""
_OWN_PATHS: Final = frozenset(
    {
        "/",
        "/docs",
        "/health",
        "/metrics",
        "/openapi.json",
        "/playground/{file}",
        "/ready",
        "/v1/audio/music",
        "/v1/decisions",
    }
)


class Requests(NamedTuple):
    """The bodies of requests: by route the name of its schema, and each schema by its name. Those of `forms` are of
    multipart forms, others of JSON.
    """

    paths: Mapping[str, str]
    schemas: Mapping[str, Mapping[str, Any]]
    forms: frozenset[str]


@cache
def requests() -> Requests:
    """Returns the bodies of requests, which are read once."""
    data = json.loads((files("abstractcore_server") / "request_schemas.json").read_bytes())
    return Requests(data["paths"], data["schemas"], frozenset(data["forms"]))


def api_of(path: str, dialect: str) -> str:
    """Returns the name of the API that a route is of."""
    return OWN if path in _OWN_PATHS else APIS[dialect][0]


def summary_of(handler: Handler) -> str:
    """Returns what a handler does, by the first sentence of its docstring, without the errors that it raises."""
    sentence = " ".join((handler.__doc__ or "").replace("`", "").split()).partition(". ")[0].removesuffix(".")
    return sentence.partition("; raises ")[0].partition("; answers with ")[0]


def fields_of(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields each field of a request with its description; fields of objects as "options.seed"."""
    for name, field in schema.get("properties", {}).items():
        if "properties" in field:
            yield from ((f"{name}.{inner}", text) for inner, text in fields_of(field))
        else:
            yield name, field.get("description", "")
