"""Headers of the user's own on a request: over everything else, the credentials among it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..ports import Auth
from ..schema import WireRequest


def with_headers(auth: Auth, headers: Mapping[str, str]) -> Auth:
    """`auth`, which puts `headers` on requests too."""
    return _HeadersOver(auth, headers) if headers else auth


@dataclass(frozen=True, slots=True)
class _HeadersOver:
    auth: Auth
    headers: Mapping[str, str] = field(repr=False)

    @property
    def secrets(self) -> Sequence[str]:
        """Credentials that do not show in requests: what the other knows."""
        return getattr(self.auth, "secrets", ())

    def sign(self, request: WireRequest, now: float) -> WireRequest:
        return self.auth.sign(request, now).with_headers(self.headers)
