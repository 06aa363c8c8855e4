"""What an answer says of a job: it waits, or it is finished. Data, and functions that read the next answer.

`TrackedOptions`: the options of a call, which notes those that a format reads. Errors of vendors by status, and what
they say of content that they block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeAlias, TypeVar

from ..capabilities.http_errors import error_class
from ..errors import ContentFilterError, ProviderError, ServerError
from ..schema import CallWarning, JSONValue, MediaPart, ModelReply, Usage, WireRequest, WireResponse
from ..schema.wire import error_message, response_message

R_contra = TypeVar("R_contra", contravariant=True)
"""What a format is asked for: one task, as data of the plugin."""


@dataclass(frozen=True, slots=True)
class MadeFile:
    """A file that was made: its content, or the URL from which it is downloaded.

    `needs_key`: the URL is of the vendor's API, and is fetched with the credentials.
    """

    content: bytes | None = field(default=None, repr=False)
    url: str | None = None
    media_type: str | None = None
    needs_key: bool = False


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """The end of a job: its files, and the reasons for which others were blocked."""

    files: tuple[MadeFile, ...]
    blocked: tuple[str, ...] = ()
    model: str | None = None
    usage: Usage | None = None
    metadata: dict[str, JSONValue] = field(default_factory=dict[str, JSONValue])


@dataclass(frozen=True, slots=True)
class PendingJob:
    """A job that is not finished: the request that asks for its state, and what reads the answer.

    `done` is its progress, 0 to 1, if the vendor reports it. `cancel` is the request that ends it early.
    """

    id: str
    poll: WireRequest
    read: Callable[[WireResponse], Step]
    state: str = "waiting"
    done: float | None = None
    cancel: WireRequest | None = None
    pause_seconds: float = 1.0
    preview: MadeFile | None = None


Step: TypeAlias = PendingJob | FinishedJob


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """The first request of a task, with warnings for what it cannot express. Its URL is absolute.

    `starts_job`: it starts something that goes on without this connection, and is not sent twice.
    """

    request: WireRequest
    warnings: tuple[CallWarning, ...] = ()
    starts_job: bool = False


class EventReader(Protocol):
    """Reads the events of a streamed answer. `total` is how many files it will have, finished and unfinished."""

    @property
    def total(self) -> int | None:
        """How many files are expected; None if that is not known."""
        ...

    def feed(self, data: bytes) -> list[MadeFile]:
        """Returns the unfinished files that `data` completes; raises `ProviderError` for an error event."""
        ...

    def finish(self) -> FinishedJob:
        """Returns the end; raises `StreamInterruptedError` if the answer is incomplete."""
        ...


class JobFormat(Protocol[R_contra]):
    """The wire format of one vendor: pure functions."""

    def encode(self, request: R_contra, base_url: str) -> TaskRequest:
        """Returns the first request; raises `UnsupportedContentError` and `InvalidInputError`."""
        ...

    def read(self, request: R_contra, response: WireResponse, base_url: str) -> Step:
        """Returns the step that the successful answer to it describes; raises `ServerError` for an invalid one."""
        ...

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of an answer with another status than 2xx."""
        ...

    def events(self, request: R_contra) -> EventReader | None:
        """Returns a reader if the answer is a stream of events; None for others."""
        ...


def metadata_of(**values: Any) -> dict[str, JSONValue]:
    """Returns the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


class TrackedOptions:
    """The options of a call: the fields of a dataclass that are not None. Those that a format does not read become
    warnings.

    A field `extra` has fields of the vendor, which are sent as they are. `where` names the vendor in warnings.
    """

    def __init__(self, options: Any, where: str) -> None:
        self._options = options
        self._where = where
        self._given = {each.name for each in fields(options) if getattr(options, each.name) is not None}
        self._warnings: list[CallWarning] = []

    def get(self, name: str) -> Any:
        """Returns an option, or None, and notes that it is taken."""
        self._given.discard(name)
        return getattr(self._options, name)

    def extra(self) -> dict[str, Any]:
        """Returns the fields of the vendor, which are sent as they are."""
        return dict(self.get("extra") or {})

    def warn(self, name: str, message: str, sent: str | float | None = None) -> None:
        """Adds a warning for an option that is not sent as it was asked for."""
        self._warnings.append(CallWarning("changed_option", name, message, self._small(name), sent))

    def warnings(self) -> tuple[CallWarning, ...]:
        """Returns the warnings, with one for each option that was not read."""
        left = [
            CallWarning("unsupported_option", name, f"{self._where} does not take {name!r}", self._small(name))
            for name in sorted(self._given)
        ]
        return (*self._warnings, *left)

    def _small(self, name: str) -> JSONValue:
        value = getattr(self._options, name)
        return value if isinstance(value, str | int | float) else None


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
