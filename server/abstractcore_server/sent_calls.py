"""`SentCall`: one request to a provider, and the answer to it, as a receipt has them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable


def digest_of(data: bytes) -> str:
    """Returns the SHA-256 of bytes, as hex digits."""
    return hashlib.sha256(data).hexdigest()


class SentCall:
    """A request with the body `request`, and the paths of JSON, `changed`, in which it differs from the client's. One
    that `has_failed` has no whole answer.
    """

    def __init__(self, request: bytes, changed: tuple[str, ...]) -> None:
        self.request = request
        self.changed = changed
        self.has_failed = False
        self._received: list[bytes] = []
        self._digests: tuple[str, str] | None = None

    @property
    def chunks(self) -> int:
        """How many parts of the answer have arrived."""
        return len(self._received)

    @property
    def hear(self) -> Callable[[bytes], None]:
        """Takes the next part of the answer."""
        return self._received.append

    def received(self, since: int = 0) -> bytes:
        """Returns the answer, as far as it has arrived, without its first parts."""
        return b"".join(self._received[since:])

    def fail(self) -> None:
        """Forgets what has arrived: an error of a provider may repeat its key."""
        self.has_failed = True
        self._received = []

    def forget_bodies(self) -> None:
        """Keeps the digests alone."""
        self._digests = self.digests
        self.request, self._received = b"", []

    @property
    def digests(self) -> tuple[str, str]:
        """The SHA-256 of the request and of the answer."""
        return self._digests or (digest_of(self.request), digest_of(self.received()))
