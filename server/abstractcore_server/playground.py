"""The page at `/`: a chat with files for people, as static files that use the server's own API."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from abstractcore.errors import NotFoundError
from abstractcore.schema import WireResponse

from .exchange import Exchange

_RUNNING: Final = b"AbstractCore is running"
_TYPES: Final = {
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


async def root(exchange: Exchange) -> WireResponse:
    """Returns the playground to browsers, and a line of text to other clients."""
    if "text/html" in exchange.request.headers.get("accept", ""):
        return _response(_PAGE)
    return WireResponse(200, {"content-type": "text/plain; charset=utf-8", "vary": "accept"}, _RUNNING)


async def file(exchange: Exchange) -> WireResponse:
    """Returns a file of the playground; raises `NotFoundError` for any other name."""
    name = exchange.request.parameters["file"]
    if name not in _contents():
        raise NotFoundError(f"the page has no file {name[:100]!r}")
    return _response(name)


def _response(name: str) -> WireResponse:
    return WireResponse(
        200, {"content-type": _TYPES[name.rpartition(".")[2]], "vary": "accept", **HEADERS}, _contents()[name]
    )


@cache
def _contents() -> dict[str, bytes]:
    """Returns the files of the page, which are read once."""
    folder = files("abstractcore_server") / "page"
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name.rpartition(".")[2] in _TYPES}
