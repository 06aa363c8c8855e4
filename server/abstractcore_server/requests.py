"""`Request`: the head of a client's HTTP request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

_CREDENTIALS_IN_URLS = ("key", "api_key", "api-key", "apikey", "access_token", "token")


@dataclass(slots=True)
class Request:
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
    def of(cls, scope: Mapping[str, Any], trace_id: str) -> Request:
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
