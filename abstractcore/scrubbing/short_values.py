"""Finds credentials of fewer than eight characters: whole words, since parts of them occur in other words."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence

from .forms import plain_forms_of
from .texts import SCRUBBED

_FEWEST = 4
"""Values of fewer characters are found after the name of a credential only: they are words of any text."""
_PLACEHOLDERS = frozenset(
    {
        *("auto", "changeme", "demo", "dummy", "empty", "false", "fake", "key", "local", "no-key", "none", "null"),
        *("ollama", "password", "secret", "test", "token", "true"),
    }
)
"""What is passed where a server needs no key, or stands in headers: these words are found in the same places only."""
_BEFORE = r"(?<![\w/@-])(?<!\w\.)"
_AFTER = r"(?![\w/@-]|\.\w)"
_NAMED = (
    r"(?i:(?:key|token|secret|password|passwd|credential|authorization)s?(?:\s(?:provided|given|is|was))?"
    r"(?:[\"'`]?\s{0,3}[:=]\s{0,3}[\"'`]?|\s[\"'`])|(?:bearer|basic)\s)"
)


class ShortSecretScanner:
    """Finds `secrets` as whole words, and in the encodings of URLs, JSON, HTML, hex and base64."""

    def __init__(self, secrets: Sequence[str]) -> None:
        words = [secret for secret in secrets if not _is_common(secret)]
        forms = dict.fromkeys(form for word in words for form in (*plain_forms_of(word), _in_base64(word)))
        self._words = re.compile(f"{_BEFORE}(?:{_any_of(forms)}){_AFTER}") if forms else None
        self._named = re.compile(f"({_NAMED})(?:{_any_of(secrets)}){_AFTER}")

    def scrubbed(self, text: str) -> str:
        """Returns `text` with each credential replaced by `SCRUBBED`; `text` itself if there is none."""
        text = self._named.sub(rf"\1{SCRUBBED}", text)
        return text if self._words is None else self._words.sub(SCRUBBED, text)


def _is_common(secret: str) -> bool:
    """Returns whether a value is also a word, a number or a setting in texts that are not about a credential."""
    return len(secret) < _FEWEST or secret.isdecimal() or secret.lower() in _PLACEHOLDERS


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))


def _in_base64(secret: str) -> str:
    return base64.b64encode(secret.encode("utf-8", "surrogatepass")).decode("ascii").rstrip("=")
