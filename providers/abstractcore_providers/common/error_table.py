"""A vendor's errors as a table: the class of each code, type, status and wording, and how errors are rendered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from pydantic_core import to_json

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ContextOverflowError, ProviderError
from abstractcore.schema import WireResponse
from abstractcore.schema.wire import status_message

from .error_statuses import class_of, complete
from .json_reading import Object, read_answer
from .retry_waits import wait_headers

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
        kind = reported.known or self.named(reported)
        if kind is None or reported.code not in self._by_code:
            kind = self._narrowed(kind or self._of_status(reported.type, status), message)
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

    def named(self, reported: ReportedError) -> ErrorClass | None:
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

    def _narrowed(self, kind: ErrorClass, message: str) -> ErrorClass:
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
