"""The forms in which a text quotes a credential: as it is, escaped for URLs, JSON or HTML, in base64, in hex."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote

SHORTEST = 8
"""Shorter values are no credentials, and fewer characters of one are not looked for: they occur in plain words."""

_ESCAPES = re.compile("%[0-9A-F]{2}")


class Form(NamedTuple):
    """A credential as it may be quoted. `beginning` stands for its first `SHORTEST` characters: the rest may be missing
    where it is found, as vendors and gateways cut what they quote. Where it `runs_on`, what follows `whole` without a
    break belongs to the same encoded text.
    """

    beginning: str
    whole: str
    runs_on: bool = False


def forms_of(secret: str) -> Iterable[Form]:
    """Each form of `secret` once."""
    plain = (Form(form(secret[:SHORTEST]), form(secret)) for form in _PLAIN)
    encoded = (Form(form(secret[:SHORTEST]), form(secret), True) for form in _ENCODED)
    return dict.fromkeys((*plain, *encoded))


def _quoted(safe: str) -> Callable[[str], str]:
    """Percent-encoded but for letters, digits and `safe`."""
    return lambda text: quote(text, safe, errors="surrogatepass")


def _lower_escapes(text: str) -> str:
    return _ESCAPES.sub(lambda match: match[0].lower(), _quoted("")(text))


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _json_with_slashes(text: str) -> str:
    """As PHP writes it."""
    return _json(text).replace("/", "\\/")


def _html(text: str) -> str:
    return text.translate(_ENTITIES)


def _hex(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").hex()


def _base64(offset: int) -> Callable[[str], str]:
    """`text` in base64, where `offset` bytes stand before it: only the characters that it alone decides.

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
