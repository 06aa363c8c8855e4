"""The JSON document of a successful response, or the error for a body that is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from abstractcore.errors import InvalidInputError, ProviderError, ServerError, UnexpectedResponseError
from abstractcore.schema import ModelReply, SchemaError, WireResponse
from abstractcore.schema.wire import failed_base

from .json_reading import Object, as_object, count_of, read_answer
from .unread_values import UNREAD, UnreadValues

_EXCERPT = 80
T = TypeVar("T")
_LOOK = "If so, a proxy or a sign-in page answered instead: open the URL in a browser."
_JSON_MARKS = (b"{", b"[")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

NO_ERROR = (None, False, "")
"""Values of a field `error` that report none."""


def states_error(data: Object) -> bool:
    """Returns whether a body, an event or a choice says that it is an error, whatever else it contains."""
    return (
        data.get("error") not in NO_ERROR
        or data.get("object") == "error"
        or data.get("type") == "error"
        or data.get("success") is False
        or failed_base(data) is not None
        or isinstance(data.get("fault"), dict)
    )


def read_body(response: WireResponse, hint: str) -> Any:
    """Parses the JSON of a response. `hint` describes a correct base URL.

    Raises `UnexpectedResponseError` for a body that does not start like JSON (a web page, say), and `ServerError`,
    which can be retried, for one that is truncated, corrupt or empty.
    """
    try:
        return read_answer(response.body)
    except ValueError:
        pass
    text = response.body.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if not text:
        raise ServerError("the answer is empty", status=response.status, hint=hint)
    shown = " ".join(text[: 4 * _EXCERPT].decode("utf-8", "replace").split())[:_EXCERPT]
    if text.startswith(_JSON_MARKS):
        raise ServerError(f"the response is not JSON: it begins with {shown!r}", status=response.status, hint=hint)
    content_type = response.headers.get("content-type")
    message = f"the response is not JSON: its content type is {content_type or 'missing'}, it begins with {shown!r}"
    error = UnexpectedResponseError(message, status=response.status, hint=f"{hint} {_LOOK}")
    error.content_type = content_type
    raise error


def no_reply(response: WireResponse, data: Any, missing: str, marks: frozenset[str], hint: str) -> ServerError:
    """Returns the error for a JSON document without `missing`, which reports no error.

    It is an `UnexpectedResponseError`, which is not retried, unless the document has a field of `marks`: names that
    only replies of the format have.
    """
    message = f"the response has no {missing}"
    if not marks.isdisjoint(as_object(data)):
        return ServerError(message, status=response.status, hint=hint)
    shown = " ".join(response.body[: 4 * _EXCERPT].decode("utf-8", "replace").split())[:_EXCERPT]
    error = UnexpectedResponseError(
        f"{message}: it is the JSON {shown!r}", status=response.status, hint=f"{hint} {_LOOK}"
    )
    error.content_type = response.headers.get("content-type")
    return error


def fitting(response: WireResponse, make: Callable[..., T], *given: Any) -> T:
    """Returns `make(given)`; raises `ServerError` if the response does not match the schema."""
    try:
        return make(*given)
    except (SchemaError, InvalidInputError) as error:
        raise ServerError(f"the answer does not match the schema: {error}", status=response.status) from None


def fitting_reply(response: WireResponse, make: Callable[..., ModelReply], *given: Any) -> ModelReply:
    """As `fitting`, for a reply, with a warning for each value that has another type than its field."""
    unread: UnreadValues = {}
    token = UNREAD.set(unread)
    try:
        reply = fitting(response, make, *given)
    finally:
        UNREAD.reset(token)
    return replace(reply, warnings=(*reply.warnings, *unread.values())) if unread else reply


def read_count(
    response: WireResponse, field: str, error_in: Callable[[Object], ProviderError | None], hint: str
) -> int:
    """Returns the number of tokens at `field`.

    Raises the error that the body reports, as `error_in` reads it, and `ServerError` for a body without the number.
    """
    data = as_object(read_body(response, hint))
    count = count_of(data, field)
    if count is None:
        raise error_in(data) or ServerError("the response has no token count", status=response.status)
    return count
