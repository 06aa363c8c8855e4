"""Cassettes: records HTTP exchanges with a provider in a file, and replays them without a network.

A cassette is a JSON Lines file. Each line is a `RecordedExchange` after `"cassette": 1`, the version of the format:

    {"cassette": 1, "request": {"method": "POST", "path": "/chat/completions", "headers": {...}, "body": {...}},
     "status": 200, "request_id": "...", "reply": {...}}

The request is recorded as encoded, before it is signed; a body that is not JSON is in `body_base64`, and files in a
body are recorded in full. In place of `reply`, an operation without a reply (counting tokens, cached contents) has a
`response`, its body as the provider sent it; a stream has `batches`, lists of deltas that arrived together, and `left`
if it was not read to its end; a failed exchange has an `error`, after the batches that arrived before it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...errors import InvalidInputError
from ...schema.base_error import shown
from .exchanges import RecordedError, RecordedExchange, RecordedRequest
from .recording import Recording
from .replaying import Replay
from .recording import Scrubber, keys_in

__all__ = ["RecordedError", "RecordedExchange", "RecordedRequest", "Recording", "Replay", "record", "replay"]


def record(path: str | os.PathLike[str], *, secrets: Iterable[str] | None = None) -> Recording:
    """Returns middleware that records every exchange in the file `path`: `create_llm(..., middleware=[record(path)])`.

    The first exchange replaces an older cassette, and creates missing folders; a file that is not a cassette is not
    overwritten. One recorder writes one file, for any number of LLMs, threads and event loops. A line is written
    atomically when its exchange has ended, so the file can be read at any time. Failed attempts are recorded too;
    attempts that are cancelled before a response are not.

    Credentials are scrubbed. Requests are recorded before they are signed, and only harmless headers keep their values.
    Fields and URL parameters with names like key, token or password, texts that look like a vendor's key, credentials
    that the LLM sent, and `secrets` are replaced everywhere, also truncated, masked or encoded. `secrets` defaults to
    the values of environment variables that end in `_API_KEY`: pass keys from elsewhere. Raises `CassetteError` for a
    file that cannot be written, and `InvalidInputError` for an invalid path or invalid secrets.
    """
    return Recording(_checked_path(path), Scrubber(keys_in(os.environ) if secrets is None else secrets))


def replay(path: str | os.PathLike[str], *, secrets: Iterable[str] | None = None) -> Replay:
    """Returns middleware that answers from the file that `record` wrote, and sends nothing.

    The LLM needs no API key. A request is answered by the first unused exchange with equal method, path and body (with
    credentials scrubbed): equal requests in recorded order, different ones in any order. Pauses before retries are
    repeated: `abstractcore.testing.VirtualClock` makes them instant. `unused` holds the exchanges that were not
    requested. `secrets` is as in `record`. Raises `CassetteError` with the line that cannot be read, and in a call
    `ReplayMismatchError` with the difference to the closest recorded request.
    """
    return Replay(_checked_path(path), Scrubber(keys_in(os.environ) if secrets is None else secrets))


def _checked_path(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Returns `path`; raises `InvalidInputError` for an invalid path."""
    if not isinstance(path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a path, got {type(path).__name__}", path="path")
    try:
        usable = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise InvalidInputError(f"{shown(path)} is not a path", path="path")
    return path
