"""Removes credentials from recorded requests and responses: by name, by pattern, and by value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import cast

from ...errors import InvalidInputError
from ...schema import JSONValue, WireRequest, freeze
from ...schema.json_values import check_items
from ...scrubbing import SCRUBBED, Secrets
from .exchanges import RecordedRequest

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
