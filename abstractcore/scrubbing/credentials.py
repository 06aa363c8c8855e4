"""Finds the credentials of a request by the names of headers and URL parameters."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

_SENSITIVE = ("auth", "key", "token", "secret", "cookie", "password", "passwd", "credential", "signature")
_SENSITIVE_PARAMETERS = (*_SENSITIVE, "sig", "pwd")
_HARMLESS = ("accept", "connection", "content-", "date", "host", "user-agent", "x-amz-date", "signedheaders")
_HARMLESS_ENDS = ("-version", "-beta", "-organization", "-project", "-region", "-length")
_MADE = ("Signature", "signature")
"""Signatures, which are valid for one request only: remembering them would displace real credentials."""
_PARAMETER = re.compile(r"(?<![\w-])([\w-]++)\s*+=\s*+\"?([^\",;\s]+)")

_LIKE_A_KEY = re.compile(r"(?=[^/]*\d)[\w~+=-]{20,}")


@lru_cache(maxsize=256)
def is_sensitive(name: str) -> bool:
    """Returns whether a header or field of this name holds a credential."""
    return not _is_harmless(name) and any(part in name.lower() for part in _SENSITIVE)


def shown_url(url: str) -> str:
    """Returns `url` without user, password, query, and texts in its path that look like a key."""
    parts = urlsplit(url)
    path = "/".join("***" if _LIKE_A_KEY.fullmatch(segment) else segment for segment in parts.path.split("/"))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"


def credentials_in(url: str, headers: Mapping[str, str], added: Collection[str] = ()) -> Iterator[str]:
    """Yields the credentials of a request. `added` are the headers that authentication added, whatever their names."""
    for name, value in headers.items():
        if is_sensitive(name) or (name in added and not _is_harmless(name)):
            yield from _in_cookies(value) if "cookie" in name.lower() else _in_header(value)
    yield from _in_url(url)


def credentials_of(options: Mapping[str, Any]) -> Iterator[str]:
    """Yields the credentials in options of `create_llm`: by their names, in headers, and in URLs."""
    for name, value in options.items():
        if isinstance(value, str):
            yield from (value,) if is_sensitive(name) else _in_url(value)
        elif isinstance(value, Mapping):
            entries = {
                key: each for key, each in cast("Mapping[object, object]", value).items() if isinstance(key, str)
            }
            texts = {key: each for key, each in entries.items() if isinstance(each, str)}
            yield from credentials_in("", texts)
            if is_sensitive(name):
                yield from texts.values()


def _is_harmless(name: str) -> bool:
    name = name.lower()
    return name.startswith(_HARMLESS) or name.endswith(_HARMLESS_ENDS)


def _in_header(value: str) -> Iterator[str]:
    """Yields the value itself; the word after a scheme; the sensitive parameters of a longer value
    (https://www.rfc-editor.org/rfc/rfc9110#section-11.4).
    """
    scheme, _, rest = value.strip().partition(" ")
    parameters = _PARAMETER.findall(rest) if "," in rest else []
    if parameters:
        secrets = (given for name, given in parameters if _names_a_secret(name) and name not in _MADE)
        yield from (secret.partition("/")[0] for secret in secrets)
    elif rest:
        yield rest.strip()
        if scheme.lower() == "basic":
            yield from _in_pair(_decoded(rest.strip()))
    else:
        yield scheme


def _in_cookies(value: str) -> Iterator[str]:
    return (pair.partition("=")[2].strip() for pair in value.split(";"))


def _in_url(url: str) -> Iterator[str]:
    """Yields the userinfo and the parameters named like credentials, encoded and decoded."""
    if "@" not in url and "?" not in url:
        return
    try:
        parts = urlsplit(url)
        user, password = parts.username, parts.password
    except ValueError:
        return
    if user and password:
        yield from _in_pair(f"{user}:{password}")
        yield from _in_pair(f"{unquote(user)}:{unquote(password)}")
    elif user:
        yield from (user, unquote(user))
    for name, value in parse_qsl(parts.query):
        if _names_a_secret(name):
            yield value


def _names_a_secret(name: str) -> bool:
    name = name.lower()
    return not _is_harmless(name) and any(part in name for part in _SENSITIVE_PARAMETERS)


def _in_pair(pair: str) -> Iterator[str]:
    """Yields `user:password`, its encoding for HTTP, and the password."""
    password = pair.partition(":")[2]
    if password:
        yield from (pair, password)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""
