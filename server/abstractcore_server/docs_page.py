"""`/docs`: the routes of this server, each with the page of the API that it is of, and the fields of requests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from abstractcore.schema import WireResponse

from .exchange import Exchange
from .playground import HEADERS
from .route_descriptions import APIS, OWN, api_of, fields_of, requests, summary_of

if TYPE_CHECKING:
    from .routes import Route

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


async def docs(exchange: Exchange) -> WireResponse:
    """Returns this page: all routes, and the fields of their requests."""
    return WireResponse(200, {**HEADERS, "content-type": "text/html; charset=utf-8"}, _page())


@cache
def _page() -> bytes:
    from .routes import ROUTES

    rows = "\n".join(map(_row, ROUTES))
    fields = "\n".join(_fields(name, schema) for name, schema in requests().schemas.items() if "properties" in schema)
    return _PAGE.replace("{rows}", rows).replace("{fields}", fields).encode()


def _row(route: Route) -> str:
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
