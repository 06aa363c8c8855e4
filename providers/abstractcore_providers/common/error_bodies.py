"""What a JSON body, an event or a choice says of an error: one reader for the shapes of all servers and gateways.

They are `error` as an object or a text (most vendors), `object: error` (vLLM, Mistral), `detail` as a text or a list
(FastAPI), `errors` (Cloudflare), `fault` (Apigee), `base_resp` (MiniMax, with status 200), `Message` (Amazon),
`error_description` (OAuth), `title` (RFC 9457), and all of them within each other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from abstractcore import errors
from abstractcore.errors import ProviderError
from abstractcore.schema.quoting import shown

from .error_table import ReportedError
from .json_reading import Object, as_object, as_objects, count_of, read_answer, text_of
from .response_bodies import failed_base, states_error

_HEADINGS = ("error", "title")
_MESSAGES = (
    *("error", "message", "Message", "detail", "errors", "msg", "error_message", "errorMessage", "error_description"),
    *("originalMessage", "faultstring", "fault", "reason"),
)
"""Where messages are: a text, or what contains one."""
_INNER = ("error", "errors", "fault", "detail", "message")
"""Where the object with the code and the type is."""
_STATUSES = ("code", "status", "status_code", "statusCode")
_DEEPEST = 6
_MOST_LISTED = 10
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
        message_in(body),
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
    return not is_other and message_in(event) is not None


def body_reports_error(data: Object) -> bool:
    """Returns whether a body that is not a reply reports an error."""
    return states_error(data) or message_in(data) is not None


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
    value = _parsed(value)
    return (as_objects(value) or [{}])[0] if isinstance(value, list) else as_object(value)


def message_in(body: Any) -> str | None:
    """Returns the message of an error in any of the known shapes; None if there is none."""
    return _message(body, 0)


def _message(body: Any, depth: int) -> str | None:
    if depth > _DEEPEST:
        return None
    if isinstance(body, str):
        parsed = _parsed(body)
        return (None if isinstance(parsed, str) else _message(parsed, depth + 1)) or body.strip() or None
    if isinstance(body, list):
        items = [_message(item, depth + 1) for item in cast("list[Any]", body)[:_MOST_LISTED]]
        return "; ".join(dict.fromkeys(item for item in items if item)) or None
    return _message_of_object(as_object(body), depth)


def _message_of_object(data: Object, depth: int) -> str | None:
    failed = failed_base(data)
    if failed is not None:
        return text_of(failed, "status_msg")
    headings = [text.strip() for name in _HEADINGS if isinstance(text := _parsed(data.get(name)), str) and text.strip()]
    others = (_message(data.get(name), depth + 1) for name in _MESSAGES if data.get(name) != (headings or [None])[0])
    message = next((text for text in others if text), None)
    if headings and headings[0] != message:
        message = _joined(headings[0], message)
    if message is not None:
        for listed in (data.get("detail"), data.get("errors")):
            message = _joined(message, _message(listed, depth + 1) if isinstance(listed, list) else None)
        # OpenRouter's message is its own, that of the model's provider is beside it.
        message = _joined(message, _message(as_object(data.get("metadata")).get("raw"), depth + 1))
        place = data.get("loc")
        if isinstance(place, list):
            message = f"{'.'.join(map(str, cast('list[object]', place)[:_MOST_LISTED]))}: {message}"
    return message


def _joined(heading: str, text: str | None) -> str:
    if not text or text in heading:
        return heading
    return text if heading in text else f"{heading}: {text}"


def _parsed(value: Any) -> Any:
    """Returns the JSON in a text, where it is an object or a list; gateways quote errors of others so."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return read_answer(value.encode("utf-8", "replace"))
        except ValueError:
            return value
    return value


def _status(detail: Object) -> int | None:
    """Returns the HTTP status in the fields of an error."""
    for name in _STATUSES:
        value = detail.get(name)
        code = int(value) if isinstance(value, str) and re.fullmatch(r"[345]\d\d", value, re.ASCII) else value
        if type(code) is int and 300 <= code < 600:
            return code
    return None
