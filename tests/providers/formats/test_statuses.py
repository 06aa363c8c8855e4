"""HTTP statuses mean the same in every format by default, and match the vendors' clients.

The clients' own classes are in `openai._exceptions`, `anthropic._exceptions`, `google.genai.errors`, `cohere.errors`
and the models of `botocore`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import httpx2
import pytest

from abstractcore import errors
from abstractcore.errors import ProviderError
from abstractcore.schema import WireResponse
from abstractcore_providers.formats.registered import FORMATS

STATUSES = [300, 302, 308, *range(400, 432), 451, 499, *range(500, 512), 520, 524, 529, 599]
OF_VENDORS = {("cohere_chat", 498): errors.ContentFilterError}
"""Vendor-specific statuses: a deny-listed token."""
BODIES = [b"", b"{}", b"<html>Bad gateway</html>", b"upstream request timeout"]
CAUSES: dict[int, type[ProviderError]] = {
    300: errors.BadRequestError,
    302: errors.BadRequestError,
    308: errors.BadRequestError,
    400: errors.BadRequestError,
    401: errors.AuthenticationError,
    402: errors.QuotaError,
    403: errors.AccessDeniedError,
    404: errors.NotFoundError,
    405: errors.BadRequestError,
    408: errors.RequestTimeoutError,
    409: errors.OverloadedError,
    413: errors.BadRequestError,
    422: errors.BadRequestError,
    424: errors.ServerError,
    429: errors.RateLimitError,
    499: errors.ServerError,
    500: errors.ServerError,
    502: errors.ServerError,
    503: errors.OverloadedError,
    504: errors.RequestTimeoutError,
    529: errors.OverloadedError,
}


def read(format: str, status: int, body: bytes = b"") -> ProviderError:
    return FORMATS[format]().error(WireResponse(status, {}, body))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("status", CAUSES)
def test_bare_status_has_one_meaning(format, status):
    for body in BODIES:
        error = read(format, status, body)
        assert (type(error), error.status) == (CAUSES[status], status)


@pytest.mark.parametrize("status", STATUSES)
def test_bare_status_means_the_same_in_every_format(status):
    for body in BODIES:
        found = {name: type(read(name, status, body)) for name in FORMATS if (name, status) not in OF_VENDORS}
        assert len(set(found.values())) == 1, found


@pytest.mark.parametrize(("format", "status"), OF_VENDORS)
def test_vendor_specific_statuses(format, status):
    assert type(read(format, status)) is OF_VENDORS[format, status]


@pytest.mark.parametrize("format", FORMATS)
def test_only_redirects_hint_at_the_final_url(format):
    for status in (300, 308, 399):
        assert "base_url" in (read(format, status).hint or "")
    for status in (400, 499, 500):
        assert "redirects" not in (read(format, status).hint or "")


@pytest.mark.parametrize("format", FORMATS)
def test_retry_after_header_is_read_in_every_format(format):
    assert FORMATS[format]().error(WireResponse(503, {"retry-after": "9"}, b"")).retry_after == 9


def test_retry_after_in_a_body_precedes_the_header():
    body = b'{"error": {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}]}}'
    assert FORMATS["gemini"]().error(WireResponse(429, {"retry-after": "9"}, body)).retry_after == 1.5


OF_CALLERS = [
    errors.InvalidInputError("no", path="messages"),
    errors.MediaError("no"),
    errors.UnknownOptionError("no"),
    errors.UnknownProviderError("no"),
    errors.UnsupportedContentError("no"),
    errors.UnsupportedOptionError("no"),
]


@pytest.mark.parametrize("error", OF_CALLERS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("format", FORMATS)
def test_caller_errors_are_rendered_as_bad_request(format, error):
    rendered = FORMATS[format]().render_error(error)
    assert (rendered.status, type(FORMATS[format]().error(rendered))) == (400, errors.BadRequestError)


@pytest.mark.parametrize("format", FORMATS)
def test_server_errors_are_not_rendered_as_caller_errors(format):
    for error in (errors.ConfigurationError("no"), errors.ToolError("no"), errors.PluginError("no")):
        rendered = FORMATS[format]().render_error(error)
        assert (rendered.status, type(FORMATS[format]().error(rendered))) == (500, errors.ServerError)


# What the vendors' own clients say


CLASSES: dict[type[ProviderError], set[str]] = {
    errors.AuthenticationError: {"AuthenticationError", "OAuthError", "UnauthorizedError"},
    errors.AccessDeniedError: {"PermissionDeniedError", "ForbiddenError"},
    errors.NotFoundError: {"NotFoundError"},
    errors.QuotaError: {"PaymentRequiredError"},
    errors.RateLimitError: {"RateLimitError", "TooManyRequestsError"},
    errors.OverloadedError: {"ConflictError", "ServiceUnavailableError", "OverloadedError"},
    errors.RequestTimeoutError: {"RequestTimeoutError", "GatewayTimeoutError", "DeadlineExceededError"},
    errors.ContentFilterError: {"InvalidTokenError"},
    errors.ServerError: {
        "InternalServerError",
        "ClientClosedRequestError",
        "NotImplementedError",
        "HTTPNotImplementedError",
    },
    errors.BadRequestError: {
        "BadRequestError",
        "ContentTooLargeError",
        "PreconditionFailedError",
        "RequestHeaderFieldsTooLargeError",
        "RequestTooLargeError",
        "UnprocessableEntityError",
    },
}
"""The names that vendors' clients have for our classes."""


CLIENTS = {
    "openai_chat": "openai._exceptions",
    "anthropic_messages": "anthropic._exceptions",
    "cohere_chat": "cohere.errors",
}


def clients_classes(format: str) -> Iterator[tuple[str, int]]:
    """The classes that the vendor's client raises for a status, by name, each with the status."""
    module = import_module(CLIENTS[format])
    for name in getattr(module, "__all__", None) or vars(module):
        value = getattr(module, name)
        if inspect.isclass(value) and issubclass(value, Exception):
            made = value(body=None) if format == "cohere_chat" else value
            status = getattr(made, "status_code", None)
            if isinstance(status, int):
                yield name, status


@pytest.mark.parametrize("format", CLIENTS)
def test_status_classes_match_the_vendors_client(format):
    classes = dict(clients_classes(format))
    assert len(classes) > 6
    for name, status in classes.items():
        assert name in CLASSES[type(read(format, status))], status


@pytest.mark.parametrize("format", ["openai_chat", "anthropic_messages"])
def test_retryable_statuses_match_the_vendors_client(format):
    """The clients try all of 500 and above again, of which some can never pass: those we try again as well."""
    module: Any = import_module(format.partition("_")[0])
    with module.Client(api_key="k", base_url="http://127.0.0.1:9") as client:
        for status in [status for status in STATUSES if status >= 400]:
            response = httpx2.Response(status, request=httpx2.Request("POST", "http://127.0.0.1:9"))
            assert client._should_retry(response) == read(format, status).retryable or (status in (424, 499)), status


def test_retryable_statuses_match_googles_client():
    for status in import_module("google.genai._api_client")._RETRY_HTTP_STATUS_CODES:
        assert read("gemini", status).retryable


@pytest.mark.parametrize("operation", ["Converse", "ConverseStream", "CountTokens"])
def test_amazon_operation_errors_have_consistent_class_and_status(operation):
    """A name says more than its status for a model that failed, or is not there, and for a prompt that is refused."""
    model = (
        import_module("botocore.session").get_session().get_service_model("bedrock-runtime").operation_model(operation)
    )
    narrower = {"ResourceNotFoundException", "ModelNotReadyException"}
    assert len(model.error_shapes) > 5
    for shape in model.error_shapes:
        status = shape.metadata["error"]["httpStatusCode"] if "error" in shape.metadata else 500
        named = FORMATS["bedrock_converse"]().error(WireResponse(status, {"x-amzn-errortype": shape.name}, b"{}"))
        assert type(named) is CAUSES[status] or shape.name in narrower, shape.name
