"""What an answer says of a job: it waits, or it is finished. Data, and functions that read the next answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

from ..errors import ProviderError
from ..schema import CallWarning, JSONValue, Usage, WireRequest, WireResponse

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
