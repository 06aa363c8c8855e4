"""Signs requests, and registers their credentials for scrubbing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ports import Auth, Endpoint, KnownAddress
from ..schema import WireRequest
from ..scrubbing import Secrets

_UNSIGNED = WireRequest("", {}, b"")


def signed(
    request: WireRequest, auth: Auth, now: float, secrets: Secrets, headers: Mapping[str, str] | None = None
) -> WireRequest:
    """Returns `request` with its credentials, which are added to `secrets`, and with `headers` over its own."""
    signed_request, unsigned = auth.sign(request, now), request.headers
    if headers:
        signed_request, unsigned = signed_request.with_headers(headers), {**unsigned, **headers}
    secrets.add_request(signed_request.url, signed_request.headers, unsigned)
    secrets.add(held_by(auth))
    return signed_request


def held_by(holder: object) -> Sequence[str]:
    """Returns the credentials of a `SecretHolder`; none for other objects."""
    return getattr(holder, "secrets", ())


def credentials_of_endpoint(endpoint: Endpoint, secrets: Secrets) -> None:
    """Adds the credentials of `endpoint` to `secrets`, if they are known before the first request."""
    secrets.add(held_by(endpoint))
    if isinstance(endpoint, KnownAddress):
        address = endpoint.address
        signed(_UNSIGNED.with_url(address.url), address.auth, 0.0, secrets)
