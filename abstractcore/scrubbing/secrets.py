"""`Secrets`: the credentials that one LLM has sent or may send, and their removal from texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from .credentials import credentials_in
from .exceptions import ExceptionScrubber
from .texts import SecretScanner, is_long
from .values import with_texts

if TYPE_CHECKING:
    from .short_values import ShortSecretScanner

T = TypeVar("T")
_MOST = 64
"""The maximum number remembered. Tokens are renewed: the oldest are forgotten first."""


class Secrets:
    """Credentials to remove from texts. Those of fewer than 8 characters are removed where they are whole words; of
    fewer than 4, and words such as "test", only after the name of a credential, as in `api_key="x"`.

    Threads may add some while others read. It has no locks, which a fork could leave locked.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known: dict[str, None] = {}
        self._headers: dict[str, str] = {}
        self._scanners: tuple[tuple[str, ...], list[SecretScanner | ShortSecretScanner]] | None = None
        self.add(known)

    def add(self, secrets: Iterable[str]) -> None:
        """Adds `secrets`."""
        for secret in map(str.strip, secrets):
            if secret and secret not in self._known:
                self._known[secret] = None
                while len(self._known) > _MOST:
                    self._known.pop(next(iter(self._known)), None)

    def add_request(self, url: str, headers: Mapping[str, str], unsigned: Mapping[str, str]) -> None:
        """Adds the credentials of a request; `unsigned` are its headers before it was signed."""
        if "?" in url or "@" in url or headers != self._headers:
            self.add(credentials_in(url, headers, [name for name in headers if name not in unsigned]))
            self._headers = dict(headers)

    def and_those_in(self, headers: Mapping[str, str]) -> Secrets:
        """Returns a copy with the credentials in the headers of one call: each call may be another user's."""
        return Secrets((*self._known, *credentials_in("", headers)))

    def for_content(self) -> Secrets:
        """Returns a copy for texts of users and models, which must not change but for a credential: a short one may be
        a word of theirs.
        """
        return Secrets(filter(is_long, self._known))

    def text(self, text: str) -> str:
        """Returns `text` without credentials, complete or truncated, in any common encoding."""
        known = tuple(self._known)
        if not known or not text:
            return text
        scanners = self._scanners
        if scanners is None or scanners[0] != known:
            scanners = self._scanners = known, _scanners_of(known)
        for scanner in scanners[1]:
            text = scanner.scrubbed(text)
        return text

    def value(self, value: T) -> T:
        """Returns `value` without credentials in its texts; the same object if there are none."""
        return with_texts(value, self.text) if value and self._known else value

    def error(self, error: BaseException) -> None:
        """Removes credentials from `error` in place: from its text, attributes, notes and chain.

        An exception in the chain whose text cannot be changed is replaced by a `ScrubbedError`.
        """
        self.cleaned(error)

    def cleaned(self, error: BaseException) -> BaseException:
        """Scrubs `error` and returns it, or its replacement if its own text cannot be changed."""
        return ExceptionScrubber(self.text).cleaned(error) if self._known else error


def _scanners_of(known: Sequence[str]) -> list[SecretScanner | ShortSecretScanner]:
    long = [secret for secret in known if is_long(secret)]
    short = [secret for secret in known if not is_long(secret)]
    if not short:
        return [SecretScanner(long)]
    from .short_values import ShortSecretScanner

    return [*([SecretScanner(long)] if long else []), ShortSecretScanner(short)]
