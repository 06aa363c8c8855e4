"""What is asked of vendors, as data, and the requests that formats make of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from abstractcore.ports import MediaBytes
from abstractcore.schema import WireRequest

Query = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class SpeechText:
    """A text to be spoken, and how. `before` is the text that was spoken before it."""

    text: str
    voice: str
    model: str
    speed: float | None = None
    instructions: str | None = None
    language: str | None = None
    before: str = ""


@dataclass(frozen=True, slots=True)
class SpeechRecording:
    """A recording to be transcribed, and how. `speakers` is whether they are told apart, or how many there are."""

    data: MediaBytes
    model: str
    language: str | None = None
    terms: Sequence[str] = ()
    speakers: bool | int = False


def json_post(
    path: str, body: Mapping[str, Any], query: Query = (), headers: Mapping[str, str] | None = None
) -> WireRequest:
    """Returns a POST of JSON; fields that are None are left out."""
    content = json.dumps({name: value for name, value in body.items() if value is not None}, ensure_ascii=False)
    return WireRequest(
        _url(path, query), {"content-type": "application/json", **(headers or {})}, content.encode(), "POST"
    )


def get(path: str, query: Query = (), headers: Mapping[str, str] | None = None) -> WireRequest:
    """Returns a GET of JSON."""
    return WireRequest(_url(path, query), {"accept": "application/json", **(headers or {})}, b"", "GET")


def data_post(path: str, data: bytes, media_type: str, query: Query = ()) -> WireRequest:
    """Returns a POST of a file as it is."""
    return WireRequest(_url(path, query), {"content-type": media_type}, bytes(data), "POST")


def form_post(
    path: str,
    fields: Sequence[tuple[str, str]],
    data: MediaBytes,
    query: Query = (),
    headers: Mapping[str, str] | None = None,
) -> WireRequest:
    """Returns a POST of a form with a file (RFC 7578)."""
    boundary = hashlib.sha256(data).hexdigest()[:40]
    name = (data.name or "recording").replace('"', "_").replace("\r", "_").replace("\n", "_")
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
        for field, value in fields
    ]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    parts += [head.encode(), f"Content-Type: {data.media_type}\r\n\r\n".encode(), bytes(data)]
    parts.append(f"\r\n--{boundary}--\r\n".encode())
    content_type = f"multipart/form-data; boundary={boundary}"
    return WireRequest(_url(path, query), {"content-type": content_type, **(headers or {})}, b"".join(parts), "POST")


def _url(path: str, query: Query) -> str:
    return f"{path}?{urlencode(query)}" if query else path
