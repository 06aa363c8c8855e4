"""`/openapi.json`: the routes of this server as an OpenAPI document (https://spec.openapis.org/oas/v3.1.0).

It has what this server adds to the vendors' own descriptions: which routes and fields there are, and what becomes of
them. Values of fields are described by their vendors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import to_json

from abstractcore import __version__
from abstractcore.schema import WireResponse

from .exchange import Exchange, Handler
from .route_descriptions import APIS, OWN, api_of, requests, summary_of
from .websockets import open_websocket

if TYPE_CHECKING:
    from .routes import Route

_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_NO_NAME: Final = re.compile(r"\W+")
_PAGE: Final = ("limit", "order", "after")
_QUERY: Final[Mapping[str, tuple[str, ...]]] = {
    "/v1/conversations/{id}/items": _PAGE,
    "/v1/files": (*_PAGE, "purpose"),
    "/v1/responses/{id}": ("stream", "starting_after"),
    "/v1/responses/{id}/input_items": _PAGE,
}
"""Parameters of the queries of GET requests."""
_JSON: Final = "application/json"
_STREAMS: Final = {"ollama": "application/x-ndjson", "ollama_generate": "application/x-ndjson"}
_ANSWERS: Final[Mapping[str, str]] = {
    "/": "text/html",
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


async def openapi(exchange: Exchange) -> WireResponse:
    """Returns all routes and fields as an OpenAPI 3.1 document."""
    return WireResponse(200, exchange.headers({"content-type": _JSON}), _document(not exchange.state.access.is_open))


@cache
def _document(needs_key: bool) -> bytes:
    from .routes import ROUTES

    vendors = dict(APIS.values())
    tags = [{"name": name, "externalDocs": {"url": url}} for name, url in vendors.items()]
    return to_json(
        {
            "openapi": "3.1.0",
            "info": {"title": "AbstractCore", "version": __version__, "description": _ABOUT},
            "servers": [{"url": "/"}],
            "tags": [*tags, {"name": OWN, "description": "This server's own routes."}],
            "security": [{name: []} for name in _KEYS] if needs_key else [],
            "paths": {route.path: _path_item(route) for route in ROUTES},
            "components": {
                "schemas": requests().schemas,
                "responses": {f"{name}Error": _response("An error.", _JSON, schema) for name, schema in ERRORS.items()},
                "securitySchemes": _KEYS,
            },
        }
    )


def _path_item(route: Route) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _TEXT} for name in _PARAMETER.findall(route.path)
    ]
    operations = {name.lower(): _operation(route, name, handler) for name, handler in route.methods.items()}
    return {**({"parameters": parameters} if parameters else {}), **operations}


def _operation(route: Route, method: str, handler: Handler) -> dict[str, Any]:
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


def _answer(route: Route, method: str) -> dict[str, Any]:
    response = _response("The answer.", _ANSWERS.get(route.path, _JSON), None)
    schema = requests().schemas.get(requests().paths.get(route.path, ""), {})
    if method == "POST" and ("stream" in schema.get("properties", {}) or ":stream" in route.path):
        response["content"][_STREAMS.get(route.dialect.name, "text/event-stream")] = {}
    return response


def _response(description: str, kind: str, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"description": description, "content": {kind: {} if schema is None else {"schema": schema}}}
