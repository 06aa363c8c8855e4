"""What a JSON body, an event or a choice says of an error, in the shapes of all servers and gateways.

Its message is read by `abstractcore.schema.wire`, which lists the shapes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from abstractcore import errors
from abstractcore.errors import ProviderError
from abstractcore.schema.base_error import shown
from abstractcore.schema.wire import error_message, failed_base, parsed

from .error_table import ReportedError
from .json_reading import Object, as_object, as_objects, count_of, text_of
from .response_bodies import states_error

_INNER = ("error", "errors", "fault", "detail", "message")
"""Where the object with the code and the type is."""
_STATUSES = ("code", "status", "status_code", "statusCode")
_DEEPEST = 6
_ERROR_KIND = re.compile(r"error|exception|fail|invalid|limit|overload|denied|about:|://", re.IGNORECASE)
_BASE_RESP: Mapping[int, type[ProviderError]] = {
    1001: errors.RequestTimeoutError,
    1002: errors.RateLimitError,
    1004: errors.AuthenticationError,
    1008: errors.QuotaError,
    1026: errors.ContentFilterError,
    1027: errors.ContentFilterError,
    1039: errors.RateLimitError,
    1041: errors.RateLimitError,
    1042: errors.BadRequestError,
    2013: errors.BadRequestError,
    2045: errors.RateLimitError,
    2049: errors.AuthenticationError,
    2056: errors.QuotaError,
}
"""MiniMax's codes (https://platform.minimax.io/docs/api-reference/errorcode); others are failures of the server."""


def reported_in(body: Any) -> ReportedError:
    """Returns the error that a body, an event or a choice describes."""
    excerpt = shown(body) if body else None
    failed = failed_base(as_object(body))
    if failed is not None:
        code = count_of(failed, "status_code") or 0
        message = text_of(failed, "status_msg") or None
        return ReportedError(message, str(code), known=_BASE_RESP.get(code), excerpt=excerpt)
    detail = error_object(body)
    kind = text_of(detail, "type")
    return ReportedError(
        error_message(body),
        text_of(detail, "code") or text_of(detail, "errorcode"),
        kind if kind and kind != "error" else text_of(detail, "error_type"),
        status=_status(detail),
        excerpt=excerpt,
    )


def reports_error(event: Object, name: str = "message", marks: frozenset[str] = frozenset()) -> bool:
    """Returns whether an event of a stream reports an error: it says so, or has a message and nothing of a reply.

    `name` is the event's name, `marks` are the fields of the format's replies.
    """
    if name == "error" or states_error(event):
        return True
    kind = text_of(event, "type") or text_of(event, "event_type")
    is_other = not marks.isdisjoint(event) or (kind is not None and _ERROR_KIND.search(kind) is None)
    return not is_other and error_message(event) is not None


def body_reports_error(data: Object) -> bool:
    """Returns whether a body that is not a reply reports an error."""
    return states_error(data) or error_message(data) is not None


def error_object(body: Any) -> Object:
    """Returns the fields of an error, with those of the objects around it where it has none of that name."""
    return _error_object(body, 0)


def _error_object(body: Any, depth: int) -> Object:
    data = _first_object(body)
    if depth < _DEEPEST:
        for name in _INNER:
            inner = data.get(name) if name == "errors" or not isinstance(data.get(name), list) else None
            found = _first_object(inner)
            if found:
                return {**data, **_error_object(found, depth + 1)}
    return data


def _first_object(value: Any) -> Object:
    value = parsed(value)
    return (as_objects(value) or [{}])[0] if isinstance(value, list) else as_object(value)


def _status(detail: Object) -> int | None:
    """Returns the HTTP status in the fields of an error."""
    for name in _STATUSES:
        value = detail.get(name)
        code = int(value) if isinstance(value, str) and re.fullmatch(r"[345]\d\d", value, re.ASCII) else value
        if type(code) is int and 300 <= code < 600:
            return code
    return None
