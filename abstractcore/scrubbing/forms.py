"""The encodings of a credential in a text: plain, escaped for URLs, JSON or HTML, in base64, in hex."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote

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


def _quoted(safe: str) -> Callable[[str], str]:
    """Returns a function that percent-encodes all but letters, digits and `safe`."""
    return lambda text: quote(text, safe, errors="surrogatepass")


def _lower_escapes(text: str) -> str:
    return _ESCAPES.sub(lambda match: match[0].lower(), _quoted("")(text))


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _json_with_slashes(text: str) -> str:
    """Encodes as PHP does, with escaped slashes."""
    return _json(text).replace("/", "\\/")


def _html(text: str) -> str:
    return text.translate(_ENTITIES)


def _hex(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").hex()


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
    _quoted("/"),
    _quoted(""),
    lambda text: _quoted(" ")(text).replace(" ", "+"),
    _lower_escapes,
    _json,
    _json_with_slashes,
    _html,
    _hex,
)
_ENCODED = tuple(form for offset in range(3) for form in _and_for_urls(_base64(offset)))
