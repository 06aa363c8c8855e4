"""Input and output of transpilers: HTTP requests and responses as data, and calls before they are encoded.

Base URLs of APIs as users write them, with and without the path of the API. The message of an error in a response: one
reader for the shapes of all servers and gateways.

They are `error` as an object or a text (most vendors), `object: error` (vLLM, Mistral), `detail` as a text or a list
(FastAPI), `errors` (Cloudflare), `fault` (Apigee), `base_resp` (MiniMax, with status 200), `Message` (Amazon),
`error_description` (OAuth), `title` (RFC 9457), and all of them within each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ..lazy_modules import LazyModule
from .base_error import shown
from .calls import ModelCall, ToolSearch
from .json_values import freeze_object
from .replies import CallWarning
from .reprs import Immutable, ShortRepr

if TYPE_CHECKING:
    from . import media_decisions, sent_names
else:
    media_decisions = LazyModule("abstractcore.schema.media_decisions")
    sent_names = LazyModule("abstractcore.schema.sent_names")

ENCODINGS = ("gzip", "deflate")
"""The values of `Accept-Encoding` in requests, and the `Content-Encoding` that responses may have."""


@dataclass(frozen=True, slots=True)
class WireRequest(Immutable):
    """An HTTP request. A transpiler sets a path (`/chat/completions`); the engine adds the URL of the endpoint.

    Header names are lower-case. Headers hold credentials, so the repr hides them.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes
    method: str = "POST"

    def __post_init__(self) -> None:
        object.__setattr__(self, "headers", freeze_object(self.headers, "headers"))

    def with_url(self, url: str) -> WireRequest:
        """Returns the request with another URL."""
        return WireRequest(url, self.headers, self.body, self.method)

    def with_headers(self, headers: Mapping[str, str]) -> WireRequest:
        """Returns the request with `headers` added; they replace headers of the same name."""
        return WireRequest(self.url, {**self.headers, **headers}, self.body, self.method)


@dataclass(frozen=True, slots=True)
class WireResponse(ShortRepr):
    """A complete HTTP response; header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def unexpected_encoding(headers: Mapping[str, str]) -> str | None:
    """Returns the `Content-Encoding` of a response unless it is one of `ENCODINGS`, applied once: a kilobyte that is
    compressed twice can fill the memory.
    """
    encoding = headers.get("content-encoding", "").strip()
    return None if encoding.lower() in ("", "identity", *ENCODINGS) else encoding


@dataclass(frozen=True, slots=True)
class Encoded(Immutable):
    """A call encoded as a request, with a warning for everything that the format cannot express. `names` are those that
    it has in place of the call's own, which are restored in the reply; None if it has all of them.
    """

    request: WireRequest
    warnings: tuple[CallWarning, ...] = ()
    names: sent_names.SentNames | None = None


@dataclass(frozen=True, slots=True)
class Lowered(Immutable):
    """A lowered call (adapted to the model), with the decision for each file. `reading` is None for replies that are
    read as they are; `tool_search` is where deferred tools are searched, None if there are none.
    """

    call: ModelCall
    decisions: tuple[media_decisions.MediaDecision, ...] = ()
    warnings: tuple[CallWarning, ...] = ()
    reading: sent_names.ReplyReading | None = None
    tool_search: ToolSearch | None = None


_LONGEST_QUOTE = 400
_HEADINGS = ("error", "title")
_MESSAGES = (
    *("error", "message", "Message", "detail", "errors", "msg", "error_message", "errorMessage", "error_description"),
    *("originalMessage", "faultstring", "fault", "reason", "err_msg", "details"),
)
"""Where messages are: a text, or what contains one."""
_DEEPEST = 6
_MOST_LISTED = 10


def error_message(body: object) -> str | None:
    """Returns the message of an error in a JSON value of any of the known shapes; None if there is none."""
    message = _message(body, 0)
    return None if message is None else message.encode("utf-8", "replace").decode()


def response_message(response: WireResponse, who: str = "server") -> str:
    """Returns the message in the body of a response that reports an error, else that of its status."""
    text = response.body.decode("utf-8-sig", "replace")
    body = parsed(text)
    message = None if isinstance(body, str) else error_message(body)
    return message or status_message(response, who)


def status_message(response: WireResponse, who: str) -> str:
    """Returns the message for a body without one: the status, and the start of the body unless it is a web page."""
    message = f"the {who} answered with status {response.status}"
    text = response.body[:_LONGEST_QUOTE].decode(errors="replace").strip()
    is_page = text.removeprefix("\ufeff").startswith("<")
    return f"{message}: {shown(text)}" if text.strip("{}[]") and not is_page else message


def failed_base(data: dict[str, Any]) -> dict[str, Any] | None:
    """Returns MiniMax's `base_resp` if it reports a failure: its code is not 0."""
    base = _object(data.get("base_resp"))
    return base if type(base.get("status_code")) is int and base["status_code"] > 0 else None


def parsed(value: object) -> object:
    """Returns the JSON in a text, where it is an object or a list; gateways quote errors of others so."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _message(body: object, depth: int) -> str | None:
    if depth > _DEEPEST:
        return None
    if isinstance(body, str):
        inner = parsed(body)
        return (None if isinstance(inner, str) else _message(inner, depth + 1)) or body.strip() or None
    if isinstance(body, list):
        items = [_message(item, depth + 1) for item in cast("list[Any]", body)[:_MOST_LISTED]]
        return "; ".join(dict.fromkeys(item for item in items if item)) or None
    return _message_of_object(_object(body), depth)


def _message_of_object(data: dict[str, Any], depth: int) -> str | None:
    failed = failed_base(data)
    if failed is not None:
        return failed["status_msg"] if isinstance(failed.get("status_msg"), str) else None
    headings = [text.strip() for name in _HEADINGS if isinstance(text := parsed(data.get(name)), str) and text.strip()]
    others = (_message(data.get(name), depth + 1) for name in _MESSAGES if data.get(name) != (headings or [None])[0])
    message = next((text for text in others if text), None)
    if headings and headings[0] != message:
        message = _join(headings[0], message)
    if message is not None:
        for name in ("detail", "errors"):
            if isinstance(data.get(name), list):
                message = _join(message, _message(data[name], depth + 1))
        # OpenRouter's message is its own, that of the model's provider is beside it.
        message = _join(message, _message(_object(data.get("metadata")).get("raw"), depth + 1))
        place = data.get("loc")
        if isinstance(place, list):
            message = f"{'.'.join(map(str, cast('list[object]', place)[:_MOST_LISTED]))}: {message}"
    return message


def _join(heading: str, text: str | None) -> str:
    if not text or text in heading:
        return heading
    return text if heading in text else f"{heading}: {text}"


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?(?=/|$)")
_VERSION_AT_END = re.compile(rf"{_VERSION.pattern}$")


def whole_base_url(url: str, usual: str | None = None, path: str = "") -> str:
    """Returns the base URL of an API that is meant by `url`, which may lack the end of it.

    A beginning of `usual`, the vendor's own base URL, means all of it; so does that URL with a version that it does not
    have. `path` is the path of the API, as in "/v1", for vendors whose clients append it to their base URL: it is
    appended here too, unless the URL ends with it. A version at the end of the URL replaces that of the path.
    """
    url = url.rstrip("/")
    if usual and (f"{usual}/".startswith(f"{url}/") or _VERSION_AT_END.sub("", url) == usual):
        return usual
    after_version = _VERSION.split(path, maxsplit=1)[-1]
    if url.endswith(after_version or path):
        return url
    return url + (after_version if _VERSION_AT_END.search(url) else path)
