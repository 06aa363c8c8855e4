"""Errors of Google's APIs: `error` with `code`, `message` and `status` (google.rpc.Status)."""

from __future__ import annotations

from typing import Any

from abstractcore import AuthenticationError, ProviderError
from abstractcore.mediajobs import error_body, error_of, list_of, mapping_of
from abstractcore.schema import WireResponse


def google_error(response: WireResponse) -> ProviderError:
    """Returns the error of an answer."""
    return google_status(mapping_of(error_body(response).get("error")), response)


def google_status(status: dict[str, Any], response: WireResponse) -> ProviderError:
    """Returns the error that a `google.rpc.Status` reports; an invalid key is a bad request there."""
    message = str(status.get("message") or "")
    reasons = [mapping_of(detail).get("reason") for detail in list_of(status.get("details"))]
    if "API_KEY_INVALID" in reasons:
        return AuthenticationError(message, status=response.status, code="API_KEY_INVALID")
    return error_of(response, message, str(status["status"]) if status.get("status") else None)
