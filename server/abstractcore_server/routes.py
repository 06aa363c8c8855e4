"""The table of all routes."""

from __future__ import annotations

from . import models_listing, pages
from .calls.answers import answer, count_tokens, decide
from .calls.moderations import moderate
from .calls.vectors import embed, rerank
from .context import APIRoute
from .dashboard import routes as dashboard
from .dialects import (
    ANTHROPIC,
    COHERE,
    GEMINI,
    OLLAMA,
    OLLAMA_GENERATE,
    OPENAI_CHAT,
    OPENAI_COMPLETIONS,
    OPENAI_RESPONSES,
    OPENAI_VECTORS,
    ClientDialect,
)
from .files import stored_files
from .media.generation import compose, edit, generate, speak
from .media.transcriptions import transcribe, translate
from .requests import RequestHead
from .responses import routes as responses
from .responses.websockets import open_websocket

_ANSWER = {"POST": answer}
_COUNT = {"POST": count_tokens}
_EMBED = {"POST": embed}
_RERANK = {"POST": rerank}
_GEMINI = tuple(
    # Google's AI SDK for TypeScript leaves "models/" out before a name with a slash.
    APIRoute(f"/{version}/models/{{model}}:{operation}", handlers, GEMINI, optional="models/")
    for version in ("v1beta", "v1", "v1alpha")
    for operation, handlers in (
        ("generateContent", _ANSWER),
        ("streamGenerateContent", _ANSWER),
        ("countTokens", _COUNT),
        ("embedContent", _EMBED),
        ("batchEmbedContents", _EMBED),
    )
)
DASHBOARD: tuple[APIRoute, ...] = (
    APIRoute("/dashboard", {"GET": dashboard.page}, OPENAI_CHAT, is_open=True),
    APIRoute("/dashboard/files/{file}", {"GET": dashboard.page_file}, OPENAI_CHAT, is_open=True),
    APIRoute("/dashboard/api/summary", {"GET": dashboard.read_summary}, OPENAI_CHAT, is_admin=True),
    APIRoute("/dashboard/api/calls", {"GET": dashboard.read_calls}, OPENAI_CHAT, is_admin=True),
    APIRoute("/dashboard/api/live", {"GET": dashboard.follow_calls}, OPENAI_CHAT, is_admin=True),
    APIRoute("/dashboard/api/traces/{id}/files/{file}", {"GET": dashboard.read_file}, OPENAI_CHAT, is_admin=True),
    APIRoute("/dashboard/api/traces/{id}", {"GET": dashboard.read_trace}, OPENAI_CHAT, is_admin=True),
)
"""The routes of the dashboard."""
_PLAYGROUND = APIRoute(
    "/playground/{file}", {"GET": pages.page_file, "HEAD": pages.page_file}, OPENAI_CHAT, is_open=True
)
ROUTES: tuple[APIRoute, ...] = (
    APIRoute("/health", {"GET": pages.health, "HEAD": pages.health}, OPENAI_CHAT, is_open=True),
    APIRoute("/ready", {"GET": pages.ready, "HEAD": pages.ready}, OPENAI_CHAT, is_open=True),
    APIRoute("/metrics", {"GET": pages.metrics}, OPENAI_CHAT),
    APIRoute("/", {"GET": pages.root, "HEAD": pages.root}, OPENAI_CHAT, is_open=True),
    APIRoute("/docs", {"GET": pages.docs}, OPENAI_CHAT, is_open=True),
    APIRoute("/openapi.json", {"GET": pages.openapi}, OPENAI_CHAT, is_open=True),
    _PLAYGROUND,
    *DASHBOARD,
    APIRoute("/v1/chat/completions", _ANSWER, OPENAI_CHAT),
    APIRoute("/v1/completions", _ANSWER, OPENAI_COMPLETIONS),
    APIRoute("/v1/responses", {"GET": open_websocket, "POST": responses.create}, OPENAI_RESPONSES),
    APIRoute("/v1/responses/input_tokens", _COUNT, OPENAI_RESPONSES),
    APIRoute("/v1/responses/compact", {"POST": responses.compact_conversation}, OPENAI_RESPONSES),
    APIRoute("/v1/responses/{id}/input_items", {"GET": responses.input_items}, OPENAI_RESPONSES),
    APIRoute("/v1/responses/{id}/cancel", {"POST": responses.cancel}, OPENAI_RESPONSES),
    APIRoute("/v1/responses/{id}", {"GET": responses.read, "DELETE": responses.delete}, OPENAI_RESPONSES),
    APIRoute("/v1/conversations", {"POST": responses.create_conversation}, OPENAI_RESPONSES),
    APIRoute(
        "/v1/conversations/{id}/items/{item}",
        {"GET": responses.conversation_item, "DELETE": responses.delete_conversation_item},
        OPENAI_RESPONSES,
    ),
    APIRoute(
        "/v1/conversations/{id}/items",
        {"GET": responses.conversation_items, "POST": responses.add_conversation_items},
        OPENAI_RESPONSES,
    ),
    APIRoute(
        "/v1/conversations/{id}",
        {
            "GET": responses.read_conversation,
            "POST": responses.change_conversation,
            "DELETE": responses.delete_conversation,
        },
        OPENAI_RESPONSES,
    ),
    APIRoute("/v1/audio/speech", {"POST": speak}, OPENAI_CHAT),
    APIRoute("/v1/audio/transcriptions", {"POST": transcribe}, OPENAI_CHAT),
    APIRoute("/v1/audio/translations", {"POST": translate}, OPENAI_CHAT),
    APIRoute("/v1/audio/music", {"POST": compose}, OPENAI_CHAT),
    APIRoute("/v1/images/generations", {"POST": generate}, OPENAI_CHAT),
    APIRoute("/v1/images/edits", {"POST": edit}, OPENAI_CHAT),
    APIRoute("/v1/decisions", {"POST": decide}, OPENAI_CHAT),
    APIRoute("/v1/moderations", {"POST": moderate}, OPENAI_CHAT),
    APIRoute("/v1/embeddings", _EMBED, OPENAI_VECTORS),
    APIRoute("/v1/rerank", _RERANK, OPENAI_VECTORS),
    APIRoute("/v1/files", {"GET": stored_files.list_all, "POST": stored_files.create}, OPENAI_CHAT),
    APIRoute("/v1/files/{id}/content", {"GET": stored_files.content}, OPENAI_CHAT),
    APIRoute("/v1/files/{id}", {"GET": stored_files.read, "DELETE": stored_files.delete}, OPENAI_CHAT),
    APIRoute("/v1/uploads", {"POST": stored_files.begin_upload}, OPENAI_CHAT),
    APIRoute("/v1/uploads/{id}/parts", {"POST": stored_files.add_part}, OPENAI_CHAT),
    APIRoute("/v1/uploads/{id}/complete", {"POST": stored_files.complete}, OPENAI_CHAT),
    APIRoute("/v1/uploads/{id}/cancel", {"POST": stored_files.cancel}, OPENAI_CHAT),
    APIRoute("/v1/messages", _ANSWER, ANTHROPIC),
    APIRoute("/v1/messages/count_tokens", _COUNT, ANTHROPIC),
    APIRoute("/v2/chat", _ANSWER, COHERE),
    APIRoute("/v2/embed", _EMBED, COHERE),
    APIRoute("/v2/rerank", _RERANK, COHERE),
    APIRoute("/api/chat", {"POST": models_listing.ollama_answer}, OLLAMA),
    APIRoute("/api/generate", {"POST": models_listing.ollama_answer}, OLLAMA_GENERATE),
    APIRoute("/api/embed", _EMBED, OLLAMA),
    APIRoute("/api/embeddings", _EMBED, OLLAMA),
    APIRoute("/api/tags", {"GET": models_listing.ollama_tags}, OLLAMA),
    APIRoute("/api/show", {"POST": models_listing.ollama_show}, OLLAMA),
    APIRoute("/api/ps", {"GET": models_listing.ollama_running}, OLLAMA),
    APIRoute("/api/version", {"GET": models_listing.ollama_version}, OLLAMA),
    *_GEMINI,
    APIRoute("/v1beta/models", {"GET": models_listing.gemini_models}, GEMINI),
    APIRoute("/v1beta/models/{model}", {"GET": models_listing.gemini_model}, GEMINI),
    APIRoute("/v1/models", {"GET": models_listing.models}, OPENAI_CHAT),
    APIRoute("/v1/models/{model}", {"GET": models_listing.model}, OPENAI_CHAT),
)
"""Every route. Of those with parameters, the first one with the method of the request is taken."""
DASHBOARD_ONLY: tuple[APIRoute, ...] = (*DASHBOARD, _PLAYGROUND)
"""The routes of `abstractcore dashboard`: its page uses files of the playground."""
WEBSOCKET_PATHS = frozenset(route.path for route in ROUTES if route.methods.get("GET") is open_websocket)
"""The paths that have WebSocket connections."""


def dialect_of_path(request: RequestHead) -> ClientDialect:
    """Returns the dialect in which a request without a route is answered."""
    if request.path.startswith("/v1beta/") or "x-goog-api-key" in request.headers:
        return GEMINI
    if request.path.startswith("/v1/messages") or "anthropic-version" in request.headers:
        return ANTHROPIC
    if request.path.startswith("/v2/"):
        return COHERE
    return OLLAMA if request.path.startswith("/api/") else OPENAI_CHAT
