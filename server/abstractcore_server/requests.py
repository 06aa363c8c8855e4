"""A request: its head, its body with limits, forms, and the ids of its trace."""

from __future__ import annotations

import asyncio
import secrets
import zlib
from collections.abc import Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import parse_qsl

import jiter
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from abstractcore.errors import InvalidInputError, RequestTimeoutError

from .client_connection import ClientGone, Receive
from .configuration.settings import ServerLimits
from .failures import RequestRefused, refused

_CREDENTIALS_IN_URLS = ("key", "api_key", "api-key", "apikey", "access_token", "token")


@dataclass(slots=True)
class RequestHead:
    """A request without its body. Header names are lower-case; a repeated header's values are joined with commas.

    `path` is as it was sent, with its percent-encoding: routes match it literally, so that no spelling of a path is
    another route. `parameters` are the named parts of the route's pattern, decoded. `query` is not decoded.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str] = field(repr=False)
    trace_id: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, scope: Mapping[str, Any], trace_id: str) -> RequestHead:
        """Returns the request of an ASGI scope."""
        headers: dict[str, str] = {}
        for raw_name, raw_value in scope["headers"]:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
        query: bytes = scope["query_string"]
        return cls(scope["method"], raw_path.decode("latin-1"), query.decode("latin-1"), headers, trace_id)

    @property
    def target(self) -> str:
        """The path with its query, as a wire format reads it."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def query_values(self) -> dict[str, str]:
        """Returns the decoded parameters of the query; of a repeated one, the last."""
        return dict(parse_qsl(self.query, keep_blank_values=True)) if self.query else {}

    @property
    def has_credential_in_url(self) -> bool:
        """Whether the query has a parameter for a key: proxies and logs keep URLs."""
        return any(name in _CREDENTIALS_IN_URLS for name in self.query_values())


_GZIP = 16 + zlib.MAX_WBITS
_AS_JSON = ("", "application/json", "application/x-www-form-urlencoded")
"""Content types of JSON. The last one is what curl sends with `-d`, as in vendors' documentation. A form that a web
page sends has an `Origin`, for which `Origins` has refused it before.
"""


async def read_body(receive: Receive, headers: Mapping[str, str], limits: ServerLimits) -> bytes:
    """Returns the whole body, unpacked if it has `Content-Encoding: gzip`.

    Raises `RequestRefused` with 408, 413 or 415, and `ClientGone` if the client leaves before its end.
    """
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", ""):
        raise refused(415, f"Content-Encoding {encoding[:40]!r} is not supported: use gzip, or none")
    declared = headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > limits.body_bytes):
        raise too_large(limits)
    try:
        async with asyncio.timeout(limits.body_seconds):
            body = await _received(receive, limits)
    except TimeoutError:
        error = RequestTimeoutError(f"the body did not arrive within {limits.body_seconds:g} seconds")
        raise RequestRefused(408, error, connection="close") from None
    return _unpacked(body, limits) if encoding == "gzip" else body


async def _received(receive: Receive, limits: ServerLimits) -> bytes:
    message = await receive()
    if message["type"] != "http.request":
        raise ClientGone
    if not message.get("more_body", False):
        body: bytes = message.get("body", b"")
        if len(body) > limits.body_bytes:
            raise too_large(limits)
        return body
    pieces = bytearray(message.get("body", b""))
    while message.get("more_body", False):
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        pieces += message.get("body", b"")
        if len(pieces) > limits.body_bytes:
            raise too_large(limits)
    return bytes(pieces)


def _unpacked(body: bytes, limits: ServerLimits) -> bytes:
    """Returns an unpacked body. One packed body may contain another, but not several after each other."""
    unpacker = zlib.decompressobj(_GZIP)
    try:
        unpacked = unpacker.decompress(body, limits.body_bytes + 1)
    except zlib.error:
        raise refused(400, "the body is not gzip, as its Content-Encoding says") from None
    if len(unpacked) > limits.body_bytes:
        raise too_large(limits)
    if not unpacker.eof or unpacker.unused_data:
        raise refused(400, "the body is not one complete gzip stream")
    return unpacked


def too_large(limits: ServerLimits) -> RequestRefused:
    """Returns the refusal of a body that is too large. The connection stays open, and the rest of the body is dropped:
    a client or a proxy that still sends to a closed one would see a reset, and no response.
    """
    return refused(413, f"the body is larger than {limits.body_bytes} bytes")


def read_object(body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """Returns the JSON object in a body.

    Raises `RequestRefused` with 415 for another content type, and `InvalidInputError` for what is not a JSON object, or
    beyond the parser's limits: 200 levels, 4,300 digits.
    """
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _AS_JSON and not kind.endswith("+json"):
        raise refused(415, f"Content-Type {kind[:80]!r} is not supported here: send application/json")
    try:
        value = jiter.from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidInputError(f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInputError(f"the body must be a JSON object, got {type(value).__name__}")
    return cast("dict[str, Any]", value)


FRAMING_BYTES = 64 * 1024
"""How much larger than its contents a form may be: boundaries, and the heads of its parts."""
_MOST_PARTS = 200


@dataclass(slots=True)
class Upload:
    """A file of a form. `name` is what the client calls it: never a path of this machine."""

    name: str
    content: bytearray = field(default_factory=bytearray, repr=False)


@dataclass(slots=True)
class MultipartForm:
    """The fields of a form, and its files, by their names in order."""

    fields: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    files: dict[str, list[Upload]] = field(default_factory=dict[str, list[Upload]])

    @property
    def size(self) -> int:
        """The bytes of all files, and the characters of all fields."""
        files = sum(len(upload.content) for uploads in self.files.values() for upload in uploads)
        return files + sum(len(value) for values in self.fields.values() for value in values)

    def others(self, known: Collection[str]) -> set[str]:
        """Returns the names of fields and files other than those that are `known`."""
        return {*self.fields, *self.files} - {*known}

    def text(self, name: str) -> str | None:
        """Returns the last value of a field."""
        values = self.fields.get(name)
        return values[-1] if values else None

    def texts(self, name: str) -> list[str]:
        """Returns all values of a field, which clients send as `name` or `name[]`."""
        return [*self.fields.get(name, ()), *self.fields.get(f"{name}[]", ())]

    def uploads(self, name: str) -> list[Upload]:
        """Returns all files of a field, which clients send as `name` or `name[]`."""
        return [*self.files.get(name, ()), *self.files.get(f"{name}[]", ())]

    def upload(self, name: str) -> Upload:
        """Returns the only file of a field; raises `InvalidInputError`."""
        found = self.uploads(name)
        if len(found) != 1:
            hint = f"A file has a name: with curl, write -F '{name}=@FILE'." if self.texts(name) else None
            raise InvalidInputError(f"expected one file, got {len(found)}", path=name, hint=hint)
        return found[0]


def read_form(body: bytes, headers: Mapping[str, str]) -> MultipartForm:
    """Returns the form in a body.

    Raises `RequestRefused` with 415 for another content type, and `InvalidInputError` for a broken form, more than 200
    parts, and fields that are not UTF-8.
    """
    kind, options = parse_options_header(headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise refused(415, "send multipart/form-data with a boundary here")
    reader = _FormReader()
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": reader.begin,
                "on_header_field": reader.header_name,
                "on_header_value": reader.header_value,
                "on_header_end": reader.header_end,
                "on_headers_finished": reader.headers_end,
                "on_part_data": reader.data,
                "on_part_end": reader.end,
                "on_end": reader.finish,
            },
        )
        parser.write(body)
        parser.finalize()
    except FormParserError as error:
        raise InvalidInputError(f"the form cannot be read: {error}") from None
    if not reader.is_complete:
        raise InvalidInputError("the form is cut off: its last boundary is missing")
    return reader.form


class _FormReader:
    """Collects the parts of a form, as the parser finds them."""

    def __init__(self) -> None:
        self.form = MultipartForm()
        self.is_complete = False
        self._parts = 0
        self._header = (bytearray(), bytearray())
        self._headers: dict[bytes, bytes] = {}
        self._name = ""
        self._upload: Upload | None = None
        self._value = bytearray()

    def begin(self) -> None:
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise InvalidInputError(f"the form has more than {_MOST_PARTS} parts")
        self._headers = {}
        self._value = bytearray()
        self._upload = None

    def header_name(self, data: bytes, start: int, end: int) -> None:
        self._header[0].extend(data[start:end])

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._header[1].extend(data[start:end])

    def header_end(self) -> None:
        name, value = self._header
        self._headers[bytes(name).lower()] = bytes(value)
        self._header = (bytearray(), bytearray())

    def headers_end(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"name")
        if not name:
            raise InvalidInputError("a part of the form has no name")
        self._name = _text(name, "a name")
        if b"filename" in options:
            file_name = _text(options[b"filename"], self._name).replace("\\", "/").rpartition("/")[2]
            self._upload = Upload(file_name or self._name)

    def data(self, data: bytes, start: int, end: int) -> None:
        (self._value if self._upload is None else self._upload.content).extend(data[start:end])

    def end(self) -> None:
        if self._upload is None:
            self.form.fields.setdefault(self._name, []).append(_text(bytes(self._value), self._name))
        else:
            self.form.files.setdefault(self._name, []).append(self._upload)

    def finish(self) -> None:
        self.is_complete = True


def _text(value: bytes, path: str) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInputError("is not UTF-8", path=path) from None


_waiting: ContextVar[list[str] | None] = ContextVar("abstractcore_server_trace_ids", default=None)


def new_trace_id() -> str:
    """Returns 32 hex digits (W3C Trace Context) that no one can guess."""
    return secrets.token_hex(16)


def begin_request(trace_id: str) -> None:
    """Makes `trace_id` the id of the first call of this task and its tasks; further calls get ids of their own."""
    _waiting.set([trace_id])


def next_trace_id() -> str:
    """Returns the id of a call that begins: the `new_id` of the server's `Services`."""
    waiting = _waiting.get()
    return waiting.pop() if waiting else new_trace_id()
