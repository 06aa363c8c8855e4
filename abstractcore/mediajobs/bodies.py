"""Bodies of requests and responses: JSON, forms, base64.

`Vendor`: a row of a plugin's file of vendors: an address, a key, the name of a wire format, and default models.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from ..errors import AuthenticationError, CapabilityUnavailableError, ServerError
from ..schema import WireRequest, WireResponse
from ..schema.base_error import one_line
from ..schema.wire import whole_base_url


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


@dataclass(frozen=True, slots=True)
class Vendor:
    """One vendor. `keys` are the environment variables of its key, `header` and `scheme` how the key is sent.

    `models` are those used by default, by task; `catalogue` is the provider whose prices the catalogue has. `options`
    is the beginning of the options of `create_llm`, such as "vision", and `model_option` the one that names the model.
    `url_path` is what the vendor's own clients append to their base URL. `example_url` is what an address looks like,
    for errors; a server without `needs_key` may be open.
    """

    name: str
    summary: str
    format: str
    base_url: str | None
    keys: tuple[str, ...]
    header: str
    scheme: str
    options: str
    model_option: str
    tasks: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict[str, str])
    catalogue: str | None = None
    url_path: str = ""
    example_url: str = "http://127.0.0.1:8080/v1"
    needs_key: bool = True

    def model_for(self, task: str, asked: str | None) -> str:
        """Returns the model to use; raises `CapabilityUnavailableError` without one."""
        model = asked or self.models.get(task)
        if model:
            return model
        hint = f"Name one: model=..., or {self.model_option}=... in create_llm."
        raise CapabilityUnavailableError(f"{self.name} has no model of its own choice for {task}", hint=hint)

    def address(self, config: Mapping[str, Any]) -> str:
        """Returns the base URL, whose end may be missing in the option; raises `CapabilityUnavailableError` without
        one.
        """
        option = f"{self.options}_base_url"
        url = config.get(option) or self.base_url
        if isinstance(url, str) and url.startswith(("https://", "http://")):
            return whole_base_url(url, self.base_url, self.url_path)
        hint = f"Set it where the LLM is created: create_llm(..., {option}='{self.example_url}')."
        raise CapabilityUnavailableError(f"{self.name} needs the URL of a server, got {url!r}", hint=hint)

    def credentials(self, config: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
        """Returns the header with the key; raises `AuthenticationError` if it is not set."""
        option = f"{self.options}_api_key"
        key = config.get(option) or next((environment[each] for each in self.keys if environment.get(each)), None)
        if key:
            return {self.header: f"{self.scheme}{key}"}
        if not self.keys or not self.needs_key:
            return {}
        hint = f"Set {self.keys[0]}, or {option}=... in create_llm."
        raise AuthenticationError(f"no key for {self.name}", hint=hint, provider=self.name)

    def reported(self, model: str) -> str:
        """Returns the model as results and prices name it."""
        return f"{self.catalogue or self.name}/{model}"


def read_vendors(text: str, *, options: str, model_option: str) -> dict[str, Vendor]:
    """Returns the vendors of a JSON object by name; `text` is a file of the plugin's own."""
    rows: dict[str, dict[str, Any]] = json.loads(text)
    return {
        name: Vendor(name, options=options, model_option=model_option, **_freeze(row)) for name, row in rows.items()
    }


def _freeze(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if name in ("keys", "tasks") else value for name, value in row.items()}
