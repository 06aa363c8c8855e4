"""What was asked of whom, for errors: the address without anything secret."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ..errors import ModelNotFoundError, NotFoundError, ProviderError
from ..schema import WireRequest

_NOT_FOUND, _METHOD_NOT_ALLOWED = 404, 405
_LIKE_A_KEY = re.compile(r"(?=[^/]*\d)[\w~+=-]{20,}")


def shown_url(url: str) -> str:
    """`url` without user, password and query, and with what looks like a key in its path left out."""
    parts = urlsplit(url)
    path = "/".join("***" if _LIKE_A_KEY.fullmatch(segment) else segment for segment in parts.path.split("/"))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"


def with_place(error: ProviderError, base: str, request: WireRequest) -> ProviderError:
    """`error` with the method and the URL, if it means that there is nothing at that path. `base` is the endpoint's."""
    missing = isinstance(error, NotFoundError) and not isinstance(error, ModelNotFoundError)
    if not (missing and error.status in (None, _NOT_FOUND)) and error.status != _METHOD_NOT_ALLOWED:
        return error
    error.message = f"{error.message.rstrip('.')}, in answer to {request.method} {shown_url(base + request.url)}"
    path = urlsplit(request.url).path
    if path and base.endswith(path):
        error.hint = f"Leave {path} out of base_url: it is appended for each call."
    return error
