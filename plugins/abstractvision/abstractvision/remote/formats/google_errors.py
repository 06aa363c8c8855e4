"""Errors of Google's APIs: `error` with `code`, `message` and `status` (google.rpc.Status)."""

from __future__ import annotations

from abstractcore import AuthenticationError, ProviderError
from abstractcore.mediajobs import error_body, error_of, list_of, mapping_of
from abstractcore.schema import WireResponse


def google_error(response: WireResponse) -> ProviderError:
    """Returns the error of a response; an invalid key is a bad request there."""
    status = mapping_of(error_body(response).get("error"))
    error = error_of(response, status.get("status"))
    reasons = [mapping_of(detail).get("reason") for detail in list_of(status.get("details"))]
    if "API_KEY_INVALID" in reasons:
        return AuthenticationError(error.message, status=response.status, code="API_KEY_INVALID")
    return error
