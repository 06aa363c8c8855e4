"""Finds the credentials of a request by the names of headers and URL parameters.

The encodings of a credential in a text: plain, escaped for URLs, JSON or HTML, in base64, in hex.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qsl, quote, unquote, urlsplit

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
            yield from _in_pair(_decode(rest.strip()))
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


def _decode(text: str) -> str:
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


SHORTEST = 8
"""The length of a recognised beginning of a credential: shorter texts occur in plain words. A shorter credential is
found as a whole word (`short_values`)."""

_ESCAPES = re.compile("%[0-9A-F]{2}")


class CredentialForm(NamedTuple):
    """An encoded credential. `beginning` encodes its first `SHORTEST` characters: the rest may be missing: vendors
    and gateways truncate values in their messages. With `runs_on`, the characters right after `whole` belong to the
    same encoded text.
    """

    beginning: str
    whole: str
    runs_on: bool = False


def plain_forms_of(secret: str) -> Iterable[str]:
    """Returns the distinct forms of `secret`, complete, but for base64."""
    return dict.fromkeys(form(secret) for form in _PLAIN)


def forms_of(secret: str) -> Iterable[CredentialForm]:
    """Returns the distinct forms of `secret`."""
    plain = (CredentialForm(form(secret[:SHORTEST]), form(secret)) for form in _PLAIN)
    encoded = (CredentialForm(form(secret[:SHORTEST]), form(secret), True) for form in _ENCODED)
    return dict.fromkeys((*plain, *encoded))


def _quote_function(safe: str) -> Callable[[str], str]:
    """Returns a function that percent-encodes all but letters, digits and `safe`."""
    return lambda text: quote(text, safe, errors="surrogatepass")


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _base64(offset: int) -> Callable[[str], str]:
    """Returns a function that encodes a text in base64 after `offset` bytes, without characters that mix other bytes.

    So a key is found in an encoded `user:key` too (https://www.rfc-editor.org/rfc/rfc4648#section-4).
    """

    def encode(text: str) -> str:
        data = bytes(offset) + text.encode("utf-8", "surrogatepass")
        encoded = base64.b64encode(data).decode("ascii")
        return encoded[-(-offset * 8 // 6) : len(data) * 8 // 6]

    return encode


def _and_for_urls(encode: Callable[[str], str]) -> Iterator[Callable[[str], str]]:
    yield encode
    yield lambda text: encode(text).translate(_URL_SAFE)
    yield lambda text: quote(encode(text), "")


_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_URL_SAFE = str.maketrans("+/", "-_")
_PLAIN: tuple[Callable[[str], str], ...] = (
    str,
    _quote_function("/"),
    _quote_function(""),
    lambda text: _quote_function(" ")(text).replace(" ", "+"),
    lambda text: _ESCAPES.sub(lambda match: match[0].lower(), _quote_function("")(text)),
    _json,
    lambda text: _json(text).replace("/", "\\/"),
    lambda text: text.translate(_ENTITIES),
    lambda text: text.encode("utf-8", "surrogatepass").hex(),
)
_ENCODED = tuple(form for offset in range(3) for form in _and_for_urls(_base64(offset)))
