"""The table of all routes, and how a request finds its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import unquote

from . import (
    calls,
    compacting,
    conversations,
    counting,
    decisions,
    docs_page,
    health,
    images,
    metrics,
    models_listing,
    moderations,
    music,
    ollama_models,
    openapi,
    playground,
    responses,
    speech,
    transcriptions,
    uploaded_files,
    uploads,
)
from .dialects import (
    ANTHROPIC,
    COHERE,
    GEMINI,
    OLLAMA,
    OLLAMA_GENERATE,
    OPENAI_CHAT,
    OPENAI_COMPLETIONS,
    OPENAI_RESPONSES,
    Dialect,
)
from .exchange import Handler
from .requests import Request
from .websockets import open_websocket

_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Route:
    """One path, its methods, and the dialect of its errors. `path` may have parameters, as in "/v1/models/{model}",
    which match one character or more, slashes too. One that `is_open` needs no key. `optional` is a part of the path
    that requests may leave out.
    """

    path: str
    methods: Mapping[str, Handler]
    dialect: Dialect
    is_open: bool = False
    optional: str = ""


class Found(NamedTuple):
    """The route of a request; `handler` is None for another method than those of the route."""

    route: Route
    handler: Handler | None
    request: Request


_ANSWER = {"POST": calls.answer}
_COUNT = {"POST": counting.count_tokens}
_GEMINI = tuple(
    # Google's AI SDK for TypeScript leaves "models/" out before a name with a slash.
    Route(f"/{version}/models/{{model}}:{operation}", handlers, GEMINI, optional="models/")
    for version in ("v1beta", "v1", "v1alpha")
    for operation, handlers in (
        ("generateContent", _ANSWER),
        ("streamGenerateContent", _ANSWER),
        ("countTokens", _COUNT),
    )
)
ROUTES: tuple[Route, ...] = (
    Route("/health", {"GET": health.health, "HEAD": health.health}, OPENAI_CHAT, is_open=True),
    Route("/ready", {"GET": health.ready, "HEAD": health.ready}, OPENAI_CHAT, is_open=True),
    Route("/metrics", {"GET": metrics.metrics}, OPENAI_CHAT),
    Route("/", {"GET": playground.root, "HEAD": playground.root}, OPENAI_CHAT, is_open=True),
    Route("/docs", {"GET": docs_page.docs}, OPENAI_CHAT, is_open=True),
    Route("/openapi.json", {"GET": openapi.openapi}, OPENAI_CHAT, is_open=True),
    Route("/playground/{file}", {"GET": playground.file, "HEAD": playground.file}, OPENAI_CHAT, is_open=True),
    Route("/v1/chat/completions", _ANSWER, OPENAI_CHAT),
    Route("/v1/completions", _ANSWER, OPENAI_COMPLETIONS),
    Route("/v1/responses", {"GET": open_websocket, "POST": responses.create}, OPENAI_RESPONSES),
    Route("/v1/responses/input_tokens", _COUNT, OPENAI_RESPONSES),
    Route("/v1/responses/compact", {"POST": compacting.compact_conversation}, OPENAI_RESPONSES),
    Route("/v1/responses/{id}/input_items", {"GET": responses.input_items}, OPENAI_RESPONSES),
    Route("/v1/responses/{id}/cancel", {"POST": responses.cancel}, OPENAI_RESPONSES),
    Route("/v1/responses/{id}", {"GET": responses.read, "DELETE": responses.delete}, OPENAI_RESPONSES),
    Route("/v1/conversations", {"POST": conversations.create}, OPENAI_RESPONSES),
    Route(
        "/v1/conversations/{id}/items/{item}",
        {"GET": conversations.item, "DELETE": conversations.delete_item},
        OPENAI_RESPONSES,
    ),
    Route(
        "/v1/conversations/{id}/items",
        {"GET": conversations.items, "POST": conversations.add_items},
        OPENAI_RESPONSES,
    ),
    Route(
        "/v1/conversations/{id}",
        {"GET": conversations.read, "POST": conversations.change, "DELETE": conversations.delete},
        OPENAI_RESPONSES,
    ),
    Route("/v1/audio/speech", {"POST": speech.speak}, OPENAI_CHAT),
    Route("/v1/audio/transcriptions", {"POST": transcriptions.transcribe}, OPENAI_CHAT),
    Route("/v1/audio/translations", {"POST": transcriptions.translate}, OPENAI_CHAT),
    Route("/v1/audio/music", {"POST": music.compose}, OPENAI_CHAT),
    Route("/v1/images/generations", {"POST": images.generate}, OPENAI_CHAT),
    Route("/v1/images/edits", {"POST": images.edit}, OPENAI_CHAT),
    Route("/v1/decisions", {"POST": decisions.decide}, OPENAI_CHAT),
    Route("/v1/moderations", {"POST": moderations.moderate}, OPENAI_CHAT),
    Route("/v1/files", {"GET": uploaded_files.list_all, "POST": uploaded_files.create}, OPENAI_CHAT),
    Route("/v1/files/{id}/content", {"GET": uploaded_files.content}, OPENAI_CHAT),
    Route("/v1/files/{id}", {"GET": uploaded_files.read, "DELETE": uploaded_files.delete}, OPENAI_CHAT),
    Route("/v1/uploads", {"POST": uploads.create}, OPENAI_CHAT),
    Route("/v1/uploads/{id}/parts", {"POST": uploads.add_part}, OPENAI_CHAT),
    Route("/v1/uploads/{id}/complete", {"POST": uploads.complete}, OPENAI_CHAT),
    Route("/v1/uploads/{id}/cancel", {"POST": uploads.cancel}, OPENAI_CHAT),
    Route("/v1/messages", _ANSWER, ANTHROPIC),
    Route("/v1/messages/count_tokens", _COUNT, ANTHROPIC),
    Route("/v2/chat", _ANSWER, COHERE),
    Route("/api/chat", {"POST": ollama_models.answer}, OLLAMA),
    Route("/api/generate", {"POST": ollama_models.answer}, OLLAMA_GENERATE),
    Route("/api/tags", {"GET": ollama_models.tags}, OLLAMA),
    Route("/api/show", {"POST": ollama_models.show}, OLLAMA),
    Route("/api/ps", {"GET": ollama_models.running}, OLLAMA),
    Route("/api/version", {"GET": ollama_models.version}, OLLAMA),
    *_GEMINI,
    Route("/v1beta/models", {"GET": models_listing.gemini_models}, GEMINI),
    Route("/v1beta/models/{model}", {"GET": models_listing.gemini_model}, GEMINI),
    Route("/v1/models", {"GET": models_listing.models}, OPENAI_CHAT),
    Route("/v1/models/{model}", {"GET": models_listing.model}, OPENAI_CHAT),
)
"""Every route. Of those with parameters, the first one with the method of the request is taken."""
WEBSOCKET_PATHS = frozenset(route.path for route in ROUTES if route.methods.get("GET") is open_websocket)
"""The paths that have WebSocket connections."""


class Routes:
    """Finds the routes of requests: by the literal path, so that no spelling of it (`//v1`, `%76`) is another route."""

    def __init__(self, routes: tuple[Route, ...] = ROUTES) -> None:
        self._literal = {route.path: route for route in routes if "{" not in route.path}
        self._patterns = [(_pattern(route), route) for route in routes if "{" in route.path]

    def find(self, request: Request) -> Found | None:
        """Returns the route of a request; None if no route has its path."""
        route = self._literal.get(request.path)
        if route is not None:
            return Found(route, route.methods.get(request.method), request)
        matching = list(self._matching(request))
        with_method = (found for found in matching if found.handler is not None)
        return next(with_method, matching[0] if matching else None)

    def _matching(self, request: Request) -> Iterator[Found]:
        for pattern, route in self._patterns:
            match = pattern.fullmatch(request.path)
            if match is not None:
                parameters = {name: unquote(value) for name, value in match.groupdict().items()}
                if all(map(_is_plain, parameters.values())):
                    handler = route.methods.get(request.method)
                    yield Found(route, handler, replace(request, parameters=parameters))


def _pattern(route: Route) -> re.Pattern[str]:
    pieces = _PARAMETER.split(route.path)
    pattern = "".join(f"(?P<{each}>.+)" if i % 2 else re.escape(each) for i, each in enumerate(pieces))
    if route.optional:
        pattern = pattern.replace(route.optional, f"(?:{route.optional})?", 1)
    return re.compile("^" + pattern)


def _is_plain(value: str) -> bool:
    """Whether a parameter has no control characters, and no part that means another path."""
    return value.isprintable() and not {"", ".", ".."} & {*value.split("/")}


def dialect_of_path(request: Request) -> Dialect:
    """Returns the dialect in which a request without a route is answered."""
    if request.path.startswith("/v1beta/") or "x-goog-api-key" in request.headers:
        return GEMINI
    if request.path.startswith("/v1/messages") or "anthropic-version" in request.headers:
        return ANTHROPIC
    if request.path.startswith("/v2/"):
        return COHERE
    return OLLAMA if request.path.startswith("/api/") else OPENAI_CHAT
