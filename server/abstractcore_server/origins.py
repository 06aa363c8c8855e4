"""`Origins`: which web pages may use the server. A browser sends requests of any page with the rights of its user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from abstractcore.errors import AccessDeniedError

from .failures import RequestRefused
from .requests import Request

_FOREIGN_SITES = ("cross-site", "same-site")


class Origins:
    """Checks the headers `Origin` and `Sec-Fetch-Site`, which browsers send: a page is of the server itself, or of an
    allowed origin, as in "https://app.example.com".
    """

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = frozenset(map(str.lower, allowed))

    def check(self, request: Request, *, is_page: bool) -> Mapping[str, str]:
        """Returns the headers that let a page of an allowed origin read the response (CORS); none for others.

        Raises `RequestRefused` for other pages. A link to a page of the server (`is_page`) may be anywhere: browsers
        send no `Origin` with it.
        """
        headers = request.headers
        origin = headers.get("origin")
        host = headers.get("host", "")
        is_foreign = origin is not None and origin.partition("://")[2].lower() != host.lower()
        if not is_foreign and headers.get("sec-fetch-site") not in _FOREIGN_SITES:
            return {}
        if origin is not None and origin.lower() in self._allowed:
            return _cors_headers(origin, request)
        if is_page and origin is None and _is_link(request):
            return {}
        raise RequestRefused(403, AccessDeniedError(_refusal(origin)))


def is_preflight(request: Request) -> bool:
    """Whether a browser asks which requests a page may send."""
    return request.method == "OPTIONS" and "access-control-request-method" in request.headers


def _cors_headers(origin: str, request: Request) -> dict[str, str]:
    headers = {"access-control-allow-origin": origin, "access-control-expose-headers": "*", "vary": "origin"}
    if is_preflight(request):
        headers["access-control-allow-methods"] = request.headers["access-control-request-method"]
        headers["access-control-allow-headers"] = request.headers.get("access-control-request-headers", "")
    return headers


def _is_link(request: Request) -> bool:
    """Whether a browser opens the response as a page of its own."""
    headers = request.headers
    kind = (request.method, headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
    return kind == ("GET", "navigate", "document")


def _refusal(origin: str | None) -> str:
    """Returns the message for a page that may not use the server."""
    sent_by = "a web page of another origin" if origin is None else f"the web page {origin[:200]!r}"
    return (
        f"{sent_by} may not use this server (headers Origin and Sec-Fetch-Site): add it to origins in the server's "
        "configuration, or start it with --allow-origin ORIGIN, as in https://app.example.com"
    )
