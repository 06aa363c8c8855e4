"""Errors of vendors by status, and what they say of content that they block."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..capabilities.http_errors import error_class
from ..errors import ContentFilterError, ProviderError, ServerError
from ..schema import MediaPart, ModelReply, WireResponse
from ..schema.wire import error_message, response_message
from .steps import FinishedJob

_BLOCKED = re.compile(
    r"moderat|content.?(policy|filter)|safety|nsfw|sensitive|flagged|prohibited|violat\w{0,10} \w{0,40} ?polic",
    re.IGNORECASE,
)
_LONGEST = 600


def is_about_content(text: str) -> bool:
    """Returns whether a message or code says that content was blocked."""
    return _BLOCKED.search(text) is not None


def error_of(response: WireResponse, code: object = None) -> ProviderError:
    """Returns the error of a response by its status, with the message in its body.

    `code` is the vendor's, as it is in the body; it counts if it is a text or a number.
    """
    message = _on_one_line(response_message(response))
    code = str(code) if isinstance(code, str | int) and code else None
    kind = error_class(response.status)
    if response.status in (400, 403, 422) and is_about_content(f"{code or ''} {message}"):
        kind = ContentFilterError
    return kind(message, status=response.status, code=code)


def job_failed(message: object, code: str | None = None) -> ProviderError:
    """Returns the error of a job that the vendor reports as failed."""
    said = _on_one_line(error_message(message) or "the job failed")
    if is_about_content(f"{code or ''} {said}"):
        return ContentFilterError(said, code=code)
    error = ServerError(said, code=code)
    error.retryable = False
    return error


def blocked_error(finished: FinishedJob, parts: Sequence[MediaPart], vendor: str, model: str) -> ContentFilterError:
    """Returns the error for files that were blocked, with `parts`, those that were not."""
    reasons = "; ".join(dict.fromkeys(finished.blocked))
    passed = f"{len(parts)} of {len(parts) + len(finished.blocked)} files passed; the others were blocked: "
    return ContentFilterError(
        (passed if parts else "") + reasons,
        hint="The files that passed are in error.partial.parts." if parts else "Change the prompt.",
        provider=vendor,
        model=model,
        partial=ModelReply(tuple(parts), "content_filter", model=model, provider=vendor),
    )


def _on_one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
