"""Amazon's signatures (Signature Version 4), by the time that is given. No I/O.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from time import gmtime, strftime
from urllib.parse import quote, urlsplit

from abstractcore.schema import WireRequest

_ALGORITHM = "AWS4-HMAC-SHA256"
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class AwsKeys:
    """An access key; `token` goes with one that was lent for a time."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SignatureAuth:
    """Signs requests to a service in a region."""

    keys: AwsKeys
    region: str
    service: str = "bedrock"

    @property
    def secrets(self) -> Sequence[str]:
        """What requests are signed with, which does not stand in them."""
        return self.keys.access_key, self.keys.secret_key, self.keys.token or ""

    def sign(self, request: WireRequest, now: float) -> WireRequest:
        """The request with its signature, which is good for some minutes around `now`."""
        address = urlsplit(request.url)
        stamp = strftime("%Y%m%dT%H%M%SZ", gmtime(now))
        added = {"x-amz-date": stamp}
        if self.keys.token is not None:
            added["x-amz-security-token"] = self.keys.token
        signed = dict(sorted({"host": _host(address.scheme, address.netloc), **request.headers, **added}.items()))
        names = ";".join(signed)
        canonical = [
            request.method,
            quote(address.path, safe="/~"),
            "",
            *(f"{name}:{' '.join(value.split())}" for name, value in signed.items()),
            "",
            names,
            sha256(request.body).hexdigest(),
        ]
        scope = f"{stamp[:8]}/{self.region}/{self.service}/aws4_request"
        digest = sha256("\n".join(canonical).encode()).hexdigest()
        key = f"AWS4{self.keys.secret_key}".encode()
        for word in scope.split("/"):
            key = _mac(key, word)
        signature = _mac(key, "\n".join((_ALGORITHM, stamp, scope, digest))).hex()
        said = f"Credential={self.keys.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
        return request.with_headers({**added, "authorization": f"{_ALGORITHM} {said}"})


def _host(scheme: str, place: str) -> str:
    """The host as clients name it: without the port that its scheme has anyway."""
    return place.removesuffix(f":{_PORTS.get(scheme)}")


def _mac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
