"""Exchanges with a provider recorded in a file, and played back without a network.

A cassette is a file of lines, each the JSON of one `RecordedExchange` after `"cassette": 1`, the version of the format:

    {"cassette": 1, "request": {"method": "POST", "path": "/chat/completions", "headers": {...}, "body": {...}},
     "status": 200, "request_id": "...", "reply": {...}}

The request is as the wire format wrote it, before it was signed; a body that is no JSON is in `body_base64`, and files
in a body are as large as they were sent. In place of the `reply`, an operation that asks for none (a token count, kept
content) has a `response`, its body as the provider sent it; a stream has `batches`, lists of the deltas that
arrived together, with `left` if it was not read to its end; what failed has an `error`, behind the batches that came
before it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...errors import InvalidInputError
from ...schema.quoting import shown
from .exchanges import RecordedError, RecordedExchange, RecordedRequest
from .recording import Recording
from .replaying import Replay
from .scrubbing import Scrubber, keys_in

__all__ = ["RecordedError", "RecordedExchange", "RecordedRequest", "Recording", "Replay", "record", "replay"]


def record(path: str | os.PathLike[str], *, secrets: Iterable[str] | None = None) -> Recording:
    """Middleware that writes every exchange into the file at `path`: `create_llm(..., middleware=[record(path)])`.

    The first exchange replaces an older recording, and makes missing folders; any other file is left as it is. One
    recorder writes one file, for any number of LLMs, threads and event loops; a line is written when its exchange has
    ended, whole or not at all, so the file can be read at any moment. A try that failed is an exchange of its own; one
    that was cancelled before its answer is none.

    Keys are scrubbed: requests are taken before they are signed, only harmless headers keep their values, and fields
    and URL parameters whose names say key, token or password, what looks like a vendor's key, the credentials that the
    LLM sent, and `secrets` are replaced everywhere, also cut, masked or encoded. Without `secrets` these are the values
    of the environment variables that end in `_API_KEY`: name a key that comes from elsewhere. Raises `CassetteError`
    for a file that cannot be written, and `InvalidInputError` for a path or secrets that are none.
    """
    return Recording(_checked(path), Scrubber(keys_in(os.environ) if secrets is None else secrets))


def replay(path: str | os.PathLike[str], *, secrets: Iterable[str] | None = None) -> Replay:
    """Middleware that answers from the file that `record` wrote, and sends nothing.

    As nothing is sent, the LLM needs no API key. A request is answered by the first exchange not used yet whose method,
    path and body (with keys scrubbed) are equal: equal requests in the order of the recording, different ones in any
    order. Pauses before retries are made again: `abstractcore.testing.VirtualClock` makes them short. `unused` has the
    exchanges that nobody has asked for.
    `secrets` as in `record`. Raises `CassetteError` with the line of what cannot be read, and in a call
    `ReplayMismatchError` with the difference to the nearest request recorded.
    """
    return Replay(_checked(path), Scrubber(keys_in(os.environ) if secrets is None else secrets))


def _checked(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """`path`; raises `InvalidInputError` for what no file system takes for one."""
    if not isinstance(path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a path, got {type(path).__name__}", path="path")
    try:
        usable = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise InvalidInputError(f"{shown(path)} is not a path", path="path")
    return path
