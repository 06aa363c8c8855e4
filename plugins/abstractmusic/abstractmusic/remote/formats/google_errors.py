"""Errors of Google's APIs: `error` with a message and a code or status."""

from __future__ import annotations

from abstractcore import AuthenticationError, ProviderError
from abstractcore.mediajobs import error_body, error_of, mapping_of
from abstractcore.schema import WireResponse


def google_error(response: WireResponse) -> ProviderError:
    """Returns the error of an answer; an invalid key is a bad request there."""
    said = mapping_of(error_body(response).get("error"))
    code = next((value for name in ("status", "code") if isinstance(value := said.get(name), str) and value), None)
    error = error_of(response, code)
    if response.status == 400 and "API key not valid" in error.message:
        return AuthenticationError(error.message, status=response.status, code=code)
    return error
