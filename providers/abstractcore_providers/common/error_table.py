"""A vendor's errors as a table: the class of each code, type, status and wording, and how errors are rendered.

What a JSON body, an event or a choice says of an error, in the shapes of all servers and gateways. Error classes of
HTTP statuses, for responses that say no more, the same in all formats. The time a server asks to wait before a retry,
read from and written to header fields (RFC 9110).

Its message is read by `abstractcore.schema.wire`, which lists the shapes.

Vendors may be more specific: by a code or a type in the body, by wording, or by a status of their own
(`error_table.py`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, TypeAlias

from pydantic_core import to_json

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ContextOverflowError, ProviderError
from abstractcore.schema import WireResponse
from abstractcore.schema.base_error import shown
from abstractcore.schema.wire import error_message, failed_base, parsed, status_message

from .reading import Object, as_object, as_objects, count_of, read_answer, text_of
from .response_bodies import states_error

_LONGEST_WAIT = 10.0**9


def read_wait(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds to wait, from milliseconds, seconds, or a date (relative to the response's date, as in RFC
    9110).
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _seconds(value)
    if seconds is not None or value is None:
        return seconds
    try:
        sent = parsedate_to_datetime(headers["date"])
        return max(0.0, (parsedate_to_datetime(value) - sent).total_seconds())
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def _seconds(value: str | None) -> float | None:
    """Returns a finite number of at least zero; None for anything else."""
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def wait_headers(seconds: float | None) -> dict[str, str]:
    """Returns the wait in whole seconds, and in milliseconds for clients that read them; rounded up."""
    if seconds is None or not math.isfinite(seconds):
        return {}
    seconds = min(max(seconds, 0.0), _LONGEST_WAIT)
    return {
        "retry-after": str(math.ceil(seconds)),
        "retry-after-ms": str(math.ceil(round(seconds * 1000, 3))),
    }


BY_STATUS: Mapping[int, type[ProviderError]] = {
    400: errors.BadRequestError,
    401: errors.AuthenticationError,
    402: errors.QuotaError,
    403: errors.AccessDeniedError,
    404: errors.NotFoundError,
    408: errors.RequestTimeoutError,
    409: errors.OverloadedError,
    424: errors.ServerError,
    429: errors.RateLimitError,
    499: errors.ServerError,
    503: errors.OverloadedError,
    504: errors.RequestTimeoutError,
    529: errors.OverloadedError,
}
"""Statuses that differ from others of their range. 409 is a lock conflict (OpenAI's, Anthropic's and Cohere's clients
retry it), 424 a failure of the model (Amazon, text-generation-inference), 499 a proxy that stopped waiting, 529
overload (Anthropic's, adopted by others).
"""


def class_of(status: int | None) -> type[ProviderError]:
    """Returns the error class of a status; None means an error in a successful response."""
    known = BY_STATUS.get(status or 0)
    if known is not None:
        return known
    return errors.BadRequestError if status is not None and 300 <= status < 500 else errors.ServerError


def complete(error: ProviderError, response: WireResponse) -> ProviderError:
    """Returns `error` with details from outside the body: the time to wait, and whether the URL redirects."""
    if 300 <= response.status < 400:
        error.hint = "The URL redirects, and API keys are not sent to another URL: pass the final one as base_url."
    if error.retry_after is None:
        error.retry_after = read_wait(response.headers)
    return error


ErrorClass: TypeAlias = type[ProviderError]
NUMBER = r"(?:\d[\d,]{0,15})"
"""A number in a message, possibly with thousands separators."""
_CALLERS_FAULT = (
    errors.InvalidInputError,
    errors.MediaError,
    errors.UnknownOptionError,
    errors.UnknownProviderError,
    errors.UnsupportedContentError,
    errors.UnsupportedOptionError,
)
CHECK_KEY = "Check the API key: api_key=..., or the provider's environment variable."
CHECK_MODEL = "Check the model's name, and that this key may use it."
DELETE_FILES = "Delete files in the provider's file store, or call without it: file_store='never'."
SHORTEN = "Shorten the prompt or the files, or choose a model with a longer context."


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """An error of a vendor: its status, its code, the type that codes share, and a prefix of the rendered message."""

    error: ErrorClass
    status: int
    type: str = ""
    code: str | None = None
    words: str = ""


class ErrorPattern(NamedTuple):
    """An error that only its wording identifies: one of the classes `of` (any, if empty) whose message matches."""

    words: re.Pattern[str]
    error: ErrorClass
    of: tuple[ErrorClass, ...] = ()


class ReportedError(NamedTuple):
    """An error as read from a body: `counts` are the tokens of prompt and context, `wait` is in seconds.

    `known` is the class, where the format knows it from more than a code or a type; `status` is that of the body
    itself. `excerpt` is the beginning of the body, which is shown if it has no message.
    """

    message: str | None = None
    code: str | None = None
    type: str | None = None
    counts: tuple[int | None, int | None] = (None, None)
    known: ErrorClass | None = None
    wait: float | None = None
    request_id: str | None = None
    status: int | None = None
    excerpt: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """The errors of a vendor.

    The first row of a class is the one that is rendered, so subclasses come before the classes they extend; the last
    row of a type is the meaning of the type alone. `codes`, `types` and `statuses` are further ones that are only read;
    `vague` are types that are less specific than the status. `counts` has the groups `prompt` and `context`.
    """

    rows: tuple[ErrorRow, ...]
    codes: Mapping[str, ErrorClass] = field(default_factory=dict[str, ErrorClass], kw_only=True)
    types: Mapping[str, ErrorClass] = field(default_factory=dict[str, ErrorClass], kw_only=True)
    statuses: Mapping[int, ErrorClass] = field(default_factory=dict[int, ErrorClass], kw_only=True)
    vague: frozenset[str] = field(default=frozenset(), kw_only=True)
    narrower: tuple[ErrorPattern, ...] = field(default=(), kw_only=True)
    counts: tuple[re.Pattern[str], ...] = field(default=(), kw_only=True)
    hints: Mapping[ErrorClass, str] = field(default_factory=dict[ErrorClass, str], kw_only=True)
    _by_code: Mapping[str, ErrorClass] = field(init=False)
    _by_type: Mapping[str, ErrorClass] = field(init=False)

    def __post_init__(self) -> None:
        by_code = {row.code: row.error for row in self.rows if row.code is not None}
        by_type = {row.type: row.error for row in self.rows if row.type}
        object.__setattr__(self, "_by_code", {**by_code, **self.codes})
        object.__setattr__(self, "_by_type", {**by_type, **self.types})

    def error(self, reported: ReportedError, status: int | None, fallback: str) -> ProviderError:
        """Returns the error with this status (None in a successful response); `fallback` is the message if there is
        none.
        """
        message = reported.message or fallback
        kind = reported.known or self.error_class(reported)
        if kind is None or reported.code not in self._by_code:
            kind = self._narrow(kind or self._of_status(reported.type, status), message)
        error = kind(
            message,
            status=status,
            code=reported.code or reported.type,
            hint=self.hints.get(kind),
            retry_after=reported.wait,
            request_id=reported.request_id,
        )
        if isinstance(error, ContextOverflowError):
            error.prompt_tokens, error.context_tokens = self._counts(message) or reported.counts
        return error

    def in_answer(self, reported: ReportedError, *, who: str = "provider") -> ProviderError:
        """Returns the error that a successful response, or a frame of its stream, contains."""
        excerpt = f": {reported.excerpt}" if reported.excerpt else ""
        return self.error(reported, reported.status, f"the {who} reported an error in its response{excerpt}")

    def of_response(
        self, reported: ReportedError, response: WireResponse, request_id: str | None, *, who: str = "provider"
    ) -> ProviderError:
        """Returns the error of a response with an error status."""
        error = self.error(reported, response.status, status_message(response, who))
        error.request_id = reported.request_id or request_id
        return complete(error, response)

    def error_class(self, reported: ReportedError) -> ErrorClass | None:
        """Returns the class of its code or its type; None if they are unknown or less specific than the status."""
        found = self._by_code.get(reported.code or "")
        return found or (None if reported.type in self.vague else self._by_type.get(reported.type or ""))

    def row(self, error: AbstractCoreError) -> ErrorRow:
        """Returns the row that renders `error`: as a client error, by its own class, or as a server error."""
        rendered = errors.BadRequestError("") if isinstance(error, _CALLERS_FAULT) else error
        found = next((row for row in self.rows if isinstance(rendered, row.error)), None)
        return found or next(row for row in self.rows if row.error is errors.ServerError)

    def _of_status(self, type: str | None, status: int | None) -> ErrorClass:
        if status is None and type in self.vague:
            return self._by_type[type or ""]
        return self.statuses.get(status or 0) or class_of(status)

    def _narrow(self, kind: ErrorClass, message: str) -> ErrorClass:
        fitting = (narrower for narrower in self.narrower if not narrower.of or kind in narrower.of)
        return next((narrower.error for narrower in fitting if narrower.words.search(message)), kind)

    def _counts(self, message: str) -> tuple[int, int] | None:
        for pattern in self.counts:
            found = pattern.search(message)
            if found is not None and found["prompt"] is not None:
                return _number(found["prompt"]), _number(found["context"])
        return None


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def own_rows(**statuses: int) -> tuple[ErrorRow, ...]:
    """Builds a row for every class with a code of AbstractCore, for vendors whose errors have no codes.

    `statuses` are those of codes whose status is not the usual one.
    """
    return tuple(ErrorRow(error, statuses.get(code, status), code=code) for error, status, code in _USUAL)


_USUAL: tuple[tuple[ErrorClass, int, str], ...] = (
    (errors.ContextOverflowError, 400, "context_length_exceeded"),
    (errors.ContentFilterError, 400, "content_filter"),
    (errors.BadRequestError, 400, "bad_request"),
    (errors.AuthenticationError, 401, "unauthorized"),
    (errors.QuotaError, 402, "quota_exceeded"),
    (errors.AccessDeniedError, 403, "forbidden"),
    (errors.ModelNotFoundError, 404, "model_not_found"),
    (errors.NotFoundError, 404, "not_found"),
    (errors.RequestTimeoutError, 408, "timeout"),
    (errors.RateLimitError, 429, "rate_limited"),
    (errors.OverloadedError, 503, "overloaded"),
    (errors.ServerError, 500, "server_error"),
)


def read_failure(response: WireResponse) -> Any:
    """Returns the JSON of an error response; None for any other body."""
    try:
        return read_answer(response.body)
    except ValueError:
        return None


def failure(status: int, body: Object, error: AbstractCoreError, **headers: str) -> WireResponse:
    """Returns the response with this body, and the `retry-after` header of `error`."""
    response_headers = {"content-type": "application/json", **headers, **wait_headers(error.retry_after)}
    return WireResponse(status, response_headers, to_json(body))


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
