"""The JSON document of a successful response, or the error for a body that is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from abstractcore.errors import InvalidInputError, ProviderError, ServerError, UnexpectedResponseError
from abstractcore.schema import SchemaError, WireResponse

from .json_reading import Object, as_object, count_of, read_answer

_EXCERPT = 80
T = TypeVar("T")
_LOOK = "If it does, a proxy or a sign-in page of the network answered in its place: open the address in a browser."
_JSON_MARKS = (b"{", b"[")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_body(response: WireResponse, hint: str) -> Any:
    """The JSON of a response. `hint` says what a right address looks like.

    Raises `UnexpectedResponseError` for a body that does not even begin like JSON (a web page, say), and `ServerError`,
    which may be tried again, for one that is cut, damaged or empty.
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
        raise ServerError(f"the answer is not JSON: it begins with {shown!r}", status=response.status, hint=hint)
    content_type = response.headers.get("content-type")
    message = f"the answer is not JSON: its content type is {content_type or 'missing'}, it begins with {shown!r}"
    error = UnexpectedResponseError(message, status=response.status, hint=f"{hint} {_LOOK}")
    error.content_type = content_type
    raise error


def no_reply(response: WireResponse, data: Any, missing: str, marks: frozenset[str], hint: str) -> ServerError:
    """The error for a JSON document without `missing`, which reports no error.

    It is an `UnexpectedResponseError`, which is not tried again, unless the document has a field of `marks`: names that
    replies of the format have, and other documents have not.
    """
    message = f"the answer holds no {missing}"
    if not marks.isdisjoint(as_object(data)):
        return ServerError(message, status=response.status, hint=hint)
    shown = " ".join(response.body[: 4 * _EXCERPT].decode("utf-8", "replace").split())[:_EXCERPT]
    error = UnexpectedResponseError(
        f"{message}: it is the JSON {shown!r}", status=response.status, hint=f"{hint} {_LOOK}"
    )
    error.content_type = response.headers.get("content-type")
    return error


def fitting(response: WireResponse, make: Callable[..., T], *given: Any) -> T:
    """What `make` returns for `given`; raises `ServerError` if the schema does not take what the response holds."""
    try:
        return make(*given)
    except (SchemaError, InvalidInputError) as error:
        raise ServerError(f"the answer does not fit the schema: {error}", status=response.status) from None


def read_count(
    response: WireResponse, field: str, error_in: Callable[[Object], ProviderError | None], hint: str
) -> int:
    """The number of tokens at `field`.

    Raises the error that the body reports, as `error_in` reads it, and `ServerError` for a body without the number.
    """
    data = as_object(read_body(response, hint))
    count = count_of(data, field)
    if count is None:
        raise error_in(data) or ServerError("the answer holds no number of tokens", status=response.status)
    return count
