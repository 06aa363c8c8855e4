"""URLs of requests in errors, without secrets."""

from __future__ import annotations

from urllib.parse import urlsplit

from ..errors import ModelNotFoundError, NotFoundError, ProviderError
from ..schema import WireRequest
from ..schema.quoting import shown_url

_NOT_FOUND, _METHOD_NOT_ALLOWED = 404, 405


def with_request(error: ProviderError, base: str, request: WireRequest) -> ProviderError:
    """Adds method and URL to an `error` that means that the path does not exist. `base` is the endpoint's URL."""
    missing = isinstance(error, NotFoundError) and not isinstance(error, ModelNotFoundError)
    if not (missing and error.status in (None, _NOT_FOUND)) and error.status != _METHOD_NOT_ALLOWED:
        return error
    error.message = f"{error.message.rstrip('.')}, in answer to {request.method} {shown_url(base + request.url)}"
    path = urlsplit(request.url).path
    if path and base.endswith(path):
        error.hint = f"Leave {path} out of base_url: it is appended for each call."
    return error
