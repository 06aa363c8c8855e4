"""Bodies of requests and responses: JSON, forms, base64."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from ..errors import ServerError
from ..schema import WireRequest, WireResponse
from ..schema.base_error import one_line


class FormFile(NamedTuple):
    """A file in a form. `name` is its name there, with an ending that servers know."""

    name: str
    media_type: str
    content: bytes


def json_request(url: str, body: Mapping[str, Any], method: str = "POST", **headers: str) -> WireRequest:
    """Returns a request with a JSON body."""
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return WireRequest(url, {"content-type": "application/json", **headers}, content, method)


def get_request(url: str) -> WireRequest:
    """Returns a request without a body."""
    return WireRequest(url, {}, b"", "GET")


def form_request(
    url: str, fields: Mapping[str, Any], files: Sequence[tuple[str, FormFile]] = (), **headers: str
) -> WireRequest:
    """Returns a request with a multipart form (RFC 7578). The boundary is a hash of the content."""
    pieces: list[tuple[str, bytes]] = []
    for name, value in fields.items():
        text = value if isinstance(value, str) else json.dumps(value)
        pieces.append((f'name="{name}"', text.encode()))
    for name, file in files:
        head = f'name="{name}"; filename="{file.name}"\r\ncontent-type: {file.media_type}'
        pieces.append((head, file.content))
    hasher = hashlib.sha256()
    for head, content in pieces:
        hasher.update(head.encode())
        hasher.update(content)
    boundary = f"part-{hasher.hexdigest()[:40]}"
    parts = [
        f"--{boundary}\r\ncontent-disposition: form-data; {head}\r\n\r\n".encode() + content + b"\r\n"
        for head, content in pieces
    ]
    body = b"".join(parts) + f"--{boundary}--\r\n".encode()
    return WireRequest(url, {"content-type": f"multipart/form-data; boundary={boundary}", **headers}, body)


def from_base64(text: object, what: str) -> bytes:
    """Returns decoded content; raises `ServerError`. `what` names it in errors."""
    try:
        content = base64.b64decode(cast(str, text), validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise ServerError(f"{what} is not base64") from None
    if not content:
        raise ServerError(f"{what} is empty")
    return content


def json_object(response: WireResponse) -> dict[str, Any]:
    """Returns the JSON object of a successful response; raises `ServerError`."""
    try:
        value: object = json.loads(response.body)
    except (ValueError, RecursionError):
        start = one_line(response.body[:200].decode("utf-8", "replace"), 100)
        raise ServerError(f"expected a JSON object, got {start!r}") from None
    if not isinstance(value, dict):
        raise ServerError(f"expected a JSON object, got {type(value).__name__}")
    return cast("dict[str, Any]", value)


def error_body(response: WireResponse) -> dict[str, Any]:
    """Returns the JSON object of a response with an error, empty if it has none."""
    try:
        return json_object(response)
    except ServerError:
        return {}


def mapping_of(value: object) -> dict[str, Any]:
    """Returns a JSON object, empty for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """Returns a JSON array, empty for any other value."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def text_of(value: object, what: str) -> str:
    """Returns a text that a response must have; raises `ServerError`. `what` names it in errors."""
    if isinstance(value, str) and value:
        return value
    raise ServerError(f"the answer has no {what}")
