"""`Recording`: the middleware that records exchanges.

Removes credentials from recorded requests and responses: by name, by pattern, and by value.
"""

from __future__ import annotations

import errno
import json
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from ...copying import NotCopied
from ...errors import AbstractCoreError, CassetteError, InvalidInputError
from ...ports import Answer, Attempt, AttemptNext, DeltaStream, OperationResult
from ...schema import Delta, JSONObject, JSONValue, ModelReply, SchemaError, WireRequest, WireResponse, freeze, to_data
from ...schema.json_values import check_items
from ...scrubbing import SCRUBBED, Secrets
from .exchanges import RecordedError, RecordedExchange, RecordedRequest, RecordedResponse, line_of, with_whole_texts

_SHOWN_HEADERS = ("accept", "content-type")
_SHOWN_HEADER_ENDS = ("-version", "-beta")
_SECRET_NAMES = (
    *("apikey", "accesskey", "privatekey", "secretkey", "authorization", "cookie", "credential", "credentials"),
    *("password", "secret", "token"),
)
_LOOKS = re.compile(
    r"\b(?:sk|xai|gsk|hf|ghp|glpat|nvapi|pplx|r8)[-_][\w-]{16,}"
    r"|\bAIza[\w-]{30,}|\bAKIA[A-Z0-9]{16}\b"
    r"|\b(?i:bearer)\s+(?=\S*\d)[\w.~+/=-]{16,}"
)
_JSON_WEB_TOKENS = re.compile(r"(?<![\w-])((?>[\w-]*?\b(?=eyJ)))[\w-]{13,}+\.[\w-]{10,}+\.[\w-]++")
_PARAMETERS = re.compile(r"([?&][\w.-]*(?:key|token|secret|signature|sig|password|credential)s?=)[^&#\s\"'<>\\]+", re.I)
_USERS = re.compile(r"(\w://)[^/\s@\"'<>]+@")


def keys_in(environment: Mapping[str, str]) -> list[str]:
    """Returns the values of the variables that hold API keys."""
    return [value for name, value in environment.items() if name.upper().endswith("_API_KEY")]


class Scrubber:
    """Replaces credentials; `secrets` are known ones. Values of fewer than 8 characters are ignored."""

    def __init__(self, secrets: Iterable[str]) -> None:
        if isinstance(secrets, str):
            raise InvalidInputError("expected a list of texts, got text", path="secrets")
        secrets = check_items([*secrets] if isinstance(secrets, Iterable) else secrets, str, "secrets")  # pyright: ignore[reportUnnecessaryIsInstance]
        self._known = Secrets(secrets).for_content()

    def request(self, request: WireRequest) -> RecordedRequest:
        """Returns the request to record and compare."""
        path = self.text(request.url)
        headers = {name: value if _is_shown(name) else SCRUBBED for name, value in request.headers.items()}
        try:
            body = freeze(json.loads(request.body))
        except (ValueError, RecursionError):
            form = "&" + request.body.decode("utf-8", "surrogateescape")
            data = self.text(form)[1:].encode("utf-8", "surrogateescape")
            return RecordedRequest(request.method, path, headers, body_base64=data)
        return RecordedRequest(request.method, path, headers, freeze(self.value(body, names=True)))

    def value(self, value: JSONValue, *, names: bool = False) -> JSONValue:
        """Replaces credentials in the texts of a JSON value; with `names`, also fields named like credentials."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            entries = cast("Mapping[str, JSONValue]", value)
            return {
                name: SCRUBBED
                if names and isinstance(item, str) and _is_secret(name)
                else self.value(item, names=names)
                for name, item in entries.items()
            }
        if isinstance(value, list | tuple):
            return [self.value(item, names=names) for item in cast("list[JSONValue]", value)]
        return value

    def text(self, text: str) -> str:
        """Returns a text with credentials replaced."""
        text = _LOOKS.sub(SCRUBBED, self._known.text(text))
        for pattern in (_JSON_WEB_TOKENS, _PARAMETERS):
            text = pattern.sub(rf"\1{SCRUBBED}", text)
        return _USERS.sub(rf"\1{SCRUBBED}@", text)


def _is_shown(header: str) -> bool:
    return header in _SHOWN_HEADERS or header.endswith(_SHOWN_HEADER_ENDS)


def _is_secret(name: str) -> bool:
    return name.replace("_", "").replace("-", "").lower().endswith(_SECRET_NAMES)


_BEGINNING = re.compile(rb'\s*\{\s*"cassette"\s*:')


class Recording(NotCopied):
    """Writes exchanges to the cassette at `path`, in the thread or event loop in which they end."""

    _holds = "a file that one process writes"
    _instead = "Call record(path) in the other process, with a path of its own."

    def __init__(self, path: str | os.PathLike[str], scrubber: Scrubber) -> None:
        self.path = Path(path)
        self._scrubber = scrubber
        self._begun = False
        self._writing = False
        self._lines: deque[bytes] = deque()
        self._lock = threading.RLock()
        self._on_disk(self._check_replaceable)

    async def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Answer:
        """Makes the attempt, and records its result."""
        request = self._scrubber.request(attempt.request)
        write = partial(self._write, attempt.context.secrets)
        attempts = attempt.context.attempts
        before = len(attempts)

        def exchange() -> RecordedExchange:
            latest = attempts[-1] if len(attempts) > before else None
            status, request_id = (latest.status, latest.request_id) if latest is not None else (None, None)
            return RecordedExchange(request, status, request_id, batches=())

        responses: list[RecordedResponse] = []
        try:
            answer = await next(_observe(attempt, responses))
        except AbstractCoreError as error:
            write(replace(exchange(), batches=None, error=RecordedError.of(error)))
            raise
        if responses:
            write(replace(exchange(), batches=None, response=responses[-1]))
            return answer
        if isinstance(answer, ModelReply):
            write(replace(exchange(), batches=None, reply=answer))
            return answer
        if isinstance(answer, OperationResult):
            raise CassetteError(
                f"a middleware answered the operation {attempt.operation.name!r}: there is no response to record.",
                hint="Put record(path) last in the list of middleware.",
            )
        return _RecordedStream(answer, exchange(), write)

    def _write(self, secrets: Secrets, exchange: RecordedExchange) -> None:
        secrets = secrets.for_content()
        if exchange.batches:
            batches = with_whole_texts(exchange.batches, lambda text: secrets.text(self._scrubber.text(text)))
            exchange = replace(exchange, batches=batches)
        try:
            data = secrets.value(self._scrubber.value(to_data(exchange)))
        except SchemaError as error:
            raise CassetteError(f"an exchange cannot be written to {self.path}: {error}") from None
        line = line_of(cast(JSONObject, data))
        self._lines.append(line)
        with self._lock:
            # If it is writing, this is a finalizer in the writing thread, which continues with this line.
            if not self._writing:
                self._on_disk(self._append_all)

    def _append_all(self) -> None:
        self._writing = True
        try:
            while self._lines:
                self._append(self._lines.popleft())
        finally:
            self._writing = False

    def _append(self, line: bytes) -> None:
        if not self._begun:
            self._check_replaceable()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(b"")
            self._begun = True
        with self.path.open("ab", buffering=0) as file:
            end = file.tell()
            try:
                if file.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError:
                file.truncate(end)
                raise

    def _check_replaceable(self) -> None:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            beginning = file.read(64)
        if beginning and not _BEGINNING.match(beginning):
            raise CassetteError(
                f"{self.path} is not a cassette: it is not overwritten.", hint="Pass another path, or delete the file."
            )

    def _on_disk(self, work: Callable[[], None]) -> None:
        try:
            work()
        except OSError as error:
            raise CassetteError(f"{self.path} cannot be written: {error.strerror or error}") from None


class _RecordedStream:
    """A stream that is recorded when it ends, fails or is closed."""

    def __init__(
        self, source: DeltaStream, exchange: RecordedExchange, write: Callable[[RecordedExchange], None]
    ) -> None:
        self._source = source
        self._exchange = exchange
        self._write = write
        self._batches: list[tuple[Delta, ...]] = []
        self._ended = False

    async def read(self) -> list[Delta]:
        try:
            batch = await self._source.read()
        except AbstractCoreError as error:
            self._end(error=RecordedError.of(error))
            raise
        if batch:
            self._batches.append(tuple(batch))
        else:
            self._end()
        return batch

    async def close(self) -> None:
        try:
            self._end(left=True)
        finally:
            await self._source.close()

    def abort(self) -> None:
        self._source.abort()
        self._end(left=True)

    def _end(self, *, left: bool = False, error: RecordedError | None = None) -> None:
        if not self._ended:
            self._ended = True
            self._write(replace(self._exchange, batches=tuple(self._batches), left=left, error=error))


def _observe(attempt: Attempt, responses: list[RecordedResponse]) -> Attempt:
    """Returns `attempt`, whose response is added to `responses` if the operation is not chat."""
    operation = attempt.operation
    if operation.is_chat:
        return attempt

    def observe(response: WireResponse, given: object) -> object:
        value = operation.decode(response, given)
        read = {name: response.headers[name] for name in operation.reads_headers if name in response.headers}
        responses.append(RecordedResponse.of(response.body, read))
        return value

    return replace(attempt, operation=replace(operation, decode=observe))
