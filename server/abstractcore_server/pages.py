"""What the server shows of itself: the playground at `/`, `/docs`, `/openapi.json`, counts and probes."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final, NamedTuple

from pydantic_core import to_json

from abstractcore import __version__
from abstractcore.database import DatabaseError
from abstractcore.errors import NotFoundError
from abstractcore.schema import WireResponse

from .context import APIRoute, Handler, RequestContext, RouteTable
from .metrics import budget_gauges
from .responses.websockets import open_websocket

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
        "/dashboard",
        "/dashboard/api/calls",
        "/dashboard/api/live",
        "/dashboard/api/summary",
        "/dashboard/api/traces/{id}",
        "/dashboard/api/traces/{id}/files/{file}",
        "/dashboard/files/{file}",
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
    """Returns the summary of a handler: the first sentence of its docstring, without the errors that it raises."""
    sentence = " ".join((handler.__doc__ or "").replace("`", "").split()).partition(". ")[0].removesuffix(".")
    return sentence.partition("; raises ")[0].partition("; answers with ")[0]


def fields_of(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields each field of a request with its description; fields of objects as "options.seed"."""
    for name, field in schema.get("properties", {}).items():
        if "properties" in field:
            yield from ((f"{name}.{inner}", text) for inner, text in fields_of(field))
        else:
            yield name, field.get("description", "")


_RUNNING: Final = b"AbstractCore is running"
TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_PAGE: Final = "index.html"
HEADERS: Final = {
    "cache-control": "no-cache",
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
        "media-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""The page may only load its own files and ask its own server, and no other page may show it."""


async def root(context: RequestContext) -> WireResponse:
    """Returns the playground to browsers, and a line of text to other clients."""
    if "text/html" in context.request.headers.get("accept", ""):
        return _file_of_page(_PAGE)
    return WireResponse(200, {"content-type": "text/plain; charset=utf-8", "vary": "accept"}, _RUNNING)


async def page_file(context: RequestContext) -> WireResponse:
    """Returns a file of the playground; raises `NotFoundError` for any other name."""
    name = context.request.parameters["file"]
    if name not in _contents():
        raise NotFoundError(f"the page has no file {name[:100]!r}")
    return _file_of_page(name)


def _file_of_page(name: str) -> WireResponse:
    return WireResponse(
        200, {"content-type": TYPES[name.rpartition(".")[2]], "vary": "accept", **HEADERS}, _contents()[name]
    )


@cache
def _contents() -> dict[str, bytes]:
    """Returns the files of the page, which are read once."""
    folder = files("abstractcore_server") / "page"
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name.rpartition(".")[2] in TYPES}


_DOCS: Final = """<!doctype html>
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
      <p>Clients of these APIs need only another base URL; the rest is in their own documentation. The names of models
        are in <a href="/v1/models">/v1/models</a>. <a href="/openapi.json">/openapi.json</a> is this page for programs,
        and <a href="/">the playground</a> shows each call as a program.</p>
      <div class="wide" tabindex="0" role="region" aria-label="Routes">
      <table>
        <thead>
          <tr>
            <th scope="col">Path</th><th scope="col">Methods</th><th scope="col">Purpose</th><th scope="col">API</th>
          </tr>
        </thead>
        <tbody>
{rows}
        </tbody>
      </table>
      </div>
      <h2>Fields of requests</h2>
      <p>A field is carried: the model gets it, translated for its own API; the server's: the server acts on it itself;
        left out, with a warning: models of other APIs have no such field; or refused: an error with its name.</p>
{fields}
    </main>
  </body>
</html>
"""


async def docs(context: RequestContext) -> WireResponse:
    """Returns this page: all routes, and the fields of their requests."""
    return WireResponse(200, {**HEADERS, "content-type": "text/html; charset=utf-8"}, _page(context.state.routes))


@cache
def _page(table: RouteTable) -> bytes:
    rows = "\n".join(map(_row, table.routes))
    fields = "\n".join(_fields(name, schema) for name, schema in requests().schemas.items() if "properties" in schema)
    return _DOCS.replace("{rows}", rows).replace("{fields}", fields).encode()


def _row(route: APIRoute) -> str:
    vendor, page = APIS[route.dialect.name]
    api = api_of(route.path, route.dialect.name)
    shown = f'<a href="{page}">{vendor}</a>' if api == vendor else OWN
    path, schema = f"<code>{escape(route.path)}</code>", requests().paths.get(route.path)
    if schema is not None and "properties" in requests().schemas[schema]:
        path = f'<a href="#{schema}">{path}</a>'
    purposes: dict[str, list[str]] = {}
    for method, handler in route.methods.items():
        purposes.setdefault(summary_of(handler), []).append(method)
    cells = [f"<td>{', '.join(methods)}</td><td>{escape(purpose)}</td>" for purpose, methods in purposes.items()]
    span = f' rowspan="{len(cells)}"' if len(cells) > 1 else ""
    cells[0] = f"<td{span}>{path}</td>{cells[0]}<td{span}>{shown}</td>"
    return "\n".join(f"          <tr>{each}</tr>" for each in cells)


def _fields(name: str, schema: Mapping[str, Any]) -> str:
    """Returns the section of a request: its fields by what becomes of them."""
    paths = ", ".join(f"<code>{escape(path)}</code>" for path, own in requests().paths.items() if own == name)
    groups: dict[str, list[str]] = {}
    for field, text in fields_of(schema):
        groups.setdefault(text or "the server's", []).append(f"<code>{escape(field)}</code>")
    rows = "".join(f"<tr><td>{', '.join(fields)}</td><td>{escape(text)}</td></tr>" for text, fields in groups.items())
    head = '<thead><tr><th scope="col">Fields</th><th scope="col">Handling</th></tr></thead>'
    return f'      <h3 id="{name}">{paths}</h3>\n      <table>{head}<tbody>{rows}</tbody></table>'


_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_NO_NAME: Final = re.compile(r"\W+")
_PAGE_PARAMETERS: Final = ("limit", "order", "after")
_QUERY: Final[Mapping[str, tuple[str, ...]]] = {
    "/dashboard/api/calls": ("since", "until", "model", "tag", "failed", "text", "order", "skip"),
    "/dashboard/api/summary": ("since", "by"),
    "/v1/conversations/{id}/items": _PAGE_PARAMETERS,
    "/v1/files": (*_PAGE_PARAMETERS, "purpose"),
    "/v1/responses/{id}": ("stream", "starting_after"),
    "/v1/responses/{id}/input_items": _PAGE_PARAMETERS,
}
"""Parameters of the queries of GET requests."""
_JSON: Final = "application/json"
_STREAMS: Final = {"ollama": "application/x-ndjson", "ollama_generate": "application/x-ndjson"}
_ANSWERS: Final[Mapping[str, str]] = {
    "/": "text/html",
    "/dashboard": "text/html",
    "/dashboard/api/live": "text/event-stream",
    "/dashboard/api/traces/{id}/files/{file}": "application/octet-stream",
    "/dashboard/files/{file}": "*/*",
    "/docs": "text/html",
    "/metrics": "text/plain",
    "/playground/{file}": "*/*",
    "/v1/audio/music": "audio/*",
    "/v1/audio/speech": "audio/*",
    "/v1/files/{id}/content": "application/octet-stream",
}
"""Content types of answers that are not JSON."""
_WEBSOCKET: Final = {"description": "A WebSocket connection."}
_TEXT: Final = {"type": "string"}
_OPTIONAL: Final = {"type": ["string", "null"]}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


_OPENAI_ERROR: Final = _object(error=_object(message=_TEXT, type=_TEXT, param=_OPTIONAL, code=_OPTIONAL))
ERRORS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Anthropic": _object(type={"const": "error"}, error=_object(type=_TEXT, message=_TEXT)),
    "Cohere": _object(message=_TEXT),
    "Google": _object(error=_object(code={"type": "integer"}, message=_TEXT, status=_TEXT)),
    "Ollama": _object(error=_TEXT),
    "OpenAI": _OPENAI_ERROR,
}
"""The schemas of errors, by the vendor whose shape they have."""
_KEYS: Final = {
    "bearer": {"type": "http", "scheme": "bearer"},
    **{name: {"type": "apiKey", "in": "header", "name": name} for name in ("x-api-key", "x-goog-api-key", "api-key")},
}
_ABOUT: Final = """Clients of these APIs need only another base URL. A field is *carried*: the model gets it, translated
for its own API; *the server's*: the server acts on it itself; *left out, with a warning*: models of other APIs have no
such field; or *refused*: an error with its name. Unknown fields are carried to models of the same API, and left out
with a warning for others."""


async def openapi(context: RequestContext) -> WireResponse:
    """Returns all routes and fields as an OpenAPI 3.1 document."""
    document = _document(context.state.routes, not context.state.access.is_open)
    return WireResponse(200, context.headers({"content-type": _JSON}), document)


@cache
def _document(table: RouteTable, needs_key: bool) -> bytes:
    vendors = dict(APIS.values())
    tags = [{"name": name, "externalDocs": {"url": url}} for name, url in vendors.items()]
    return to_json(
        {
            "openapi": "3.1.0",
            "info": {"title": "AbstractCore", "version": __version__, "description": _ABOUT},
            "servers": [{"url": "/"}],
            "tags": [*tags, {"name": OWN, "description": "This server's own routes."}],
            "security": [{name: []} for name in _KEYS] if needs_key else [],
            "paths": {route.path: _path_item(route) for route in table.routes},
            "components": {
                "schemas": requests().schemas,
                "responses": {f"{name}Error": _response("An error.", _JSON, schema) for name, schema in ERRORS.items()},
                "securitySchemes": _KEYS,
            },
        }
    )


def _path_item(route: APIRoute) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _TEXT} for name in _PARAMETER.findall(route.path)
    ]
    operations = {name.lower(): _operation(route, name, handler) for name, handler in route.methods.items()}
    return {**({"parameters": parameters} if parameters else {}), **operations}


def _operation(route: APIRoute, method: str, handler: Handler) -> dict[str, Any]:
    query = _QUERY.get(route.path, ()) if method == "GET" else ()
    vendor = APIS[route.dialect.name][0]
    operation: dict[str, Any] = {
        "operationId": "_".join(filter(None, [method.lower(), *_NO_NAME.split(route.path)])),
        "summary": summary_of(handler),
        "tags": [api_of(route.path, route.dialect.name)],
        "parameters": [{"name": name, "in": "query", "schema": _TEXT} for name in query],
        "responses": {
            **({"101": _WEBSOCKET} if handler is open_websocket else {"200": _answer(route, method)}),
            "default": {"$ref": f"#/components/responses/{vendor}Error"},
        },
    }
    schema = requests().paths.get(route.path)
    if schema is not None and method == "POST":
        kind = "multipart/form-data" if schema in requests().forms else _JSON
        content = {kind: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
        operation["requestBody"] = {"required": True, "content": content}
    if route.is_open:
        operation["security"] = []
    return operation


def _answer(route: APIRoute, method: str) -> dict[str, Any]:
    response = _response("The answer.", _ANSWERS.get(route.path, _JSON), None)
    schema = requests().schemas.get(requests().paths.get(route.path, ""), {})
    if method == "POST" and ("stream" in schema.get("properties", {}) or ":stream" in route.path):
        response["content"][_STREAMS.get(route.dialect.name, "text/event-stream")] = {}
    return response


def _response(description: str, kind: str, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"description": description, "content": {kind: {} if schema is None else {"schema": schema}}}


_log = logging.getLogger("abstractcore.server")
_METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


async def metrics(context: RequestContext) -> WireResponse:
    """Returns the counts of all processes, and the budgets of the configuration, for Prometheus."""
    state = context.state
    try:
        budgets = budget_gauges(await asyncio.to_thread(state.budgets.states))
    except DatabaseError as error:  # the counts do not need it
        _log.warning("the budgets are not in /metrics: %s", error)
        budgets = ""
    text = state.metrics.text() + budgets
    return WireResponse(200, context.headers({"content-type": _METRICS_TYPE}), text.encode())


async def health(context: RequestContext) -> WireResponse:
    """Answers with 200 while the process runs."""
    return WireResponse(200, {"content-type": "application/json"}, b'{"status":"ok"}')


async def ready(context: RequestContext) -> WireResponse:
    """Answers with 200; with 503 once the server is being stopped."""
    if context.state.drains.is_stopping:
        return WireResponse(503, {"content-type": "application/json"}, b'{"status":"stopping"}')
    return WireResponse(200, {"content-type": "application/json"}, b'{"status":"ready"}')
