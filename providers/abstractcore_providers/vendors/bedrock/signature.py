"""AWS Signature Version 4. No I/O: the time is passed in.

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
    """An access key; `token` is the session token of temporary credentials."""

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
        """The credentials, which requests do not contain in plain text."""
        return self.keys.access_key, self.keys.secret_key, self.keys.token or ""

    def sign(self, request: WireRequest, now: float) -> WireRequest:
        """Returns the request with its signature, which is valid for some minutes around `now`."""
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
        fields = f"Credential={self.keys.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
        return request.with_headers({**added, "authorization": f"{_ALGORITHM} {fields}"})


def _host(scheme: str, host: str) -> str:
    """Returns the host without the default port of its scheme."""
    return host.removesuffix(f":{_PORTS.get(scheme)}")


def _mac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
