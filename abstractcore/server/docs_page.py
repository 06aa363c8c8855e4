"""`/docs`: the routes of this server, each with the page of the API that it is of."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from ..schema import WireResponse
from .exchange import Exchange
from .playground import HEADERS

_APIS: Final = {
    "anthropic": ("Anthropic", "https://platform.claude.com/docs/en/api/messages"),
    "cohere": ("Cohere", "https://docs.cohere.com/reference/chat"),
    "gemini": ("Google", "https://ai.google.dev/api/generate-content"),
    "ollama": ("Ollama", "https://docs.ollama.com/api"),
    "ollama_generate": ("Ollama", "https://docs.ollama.com/api/generate"),
    "openai_chat": ("OpenAI", "https://platform.openai.com/docs/api-reference"),
    "openai_completions": ("OpenAI", "https://platform.openai.com/docs/api-reference/completions"),
    "openai_responses": ("OpenAI", "https://platform.openai.com/docs/api-reference/responses"),
}
_OWN: Final = frozenset(
    {"/", "/docs", "/health", "/metrics", "/playground/{file}", "/ready", "/v1/audio/music", "/v1/decisions"}
)
_PAGE: Final = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Routes of this server</title>
    <link rel="icon" href="/playground/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/playground/style.css">
  </head>
  <body class="document">
    <main>
      <h1>Routes of this server</h1>
      <p>Clients of these APIs work with their own documentation: only the address is another one. Models are named as
        in <a href="/v1/models">/v1/models</a>; what a field does with each model is in docs/server.md of AbstractCore.
        <a href="/">The playground</a> shows each call as a program.</p>
      <table>
        <thead><tr><th scope="col">Path</th><th scope="col">Methods</th><th scope="col">API</th></tr></thead>
        <tbody>
{rows}
        </tbody>
      </table>
    </main>
  </body>
</html>
"""


async def docs(exchange: Exchange) -> WireResponse:
    """Answers with the page."""
    from .routes import ROUTES

    rows = "\n".join(_row(route.path, route.methods, route.dialect.name) for route in ROUTES)
    headers = {**HEADERS, "content-type": "text/html; charset=utf-8"}
    return WireResponse(200, headers, _PAGE.replace("{rows}", rows).encode())


def _row(path: str, methods: Iterable[str], dialect: str) -> str:
    name, page = _APIS[dialect]
    api = "this server's own" if path in _OWN else f'<a href="{page}">{name}</a>'
    return f"          <tr><td><code>{escape(path)}</code></td><td>{', '.join(methods)}</td><td>{api}</td></tr>"
