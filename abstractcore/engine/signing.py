"""Requests signed, and the credentials that show who asks put where errors, records and logs are scrubbed of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ports import Auth, Endpoint, KnownAddress
from ..schema import WireRequest
from ..scrubbing import Secrets

_UNSIGNED = WireRequest("", {}, b"")


def signed(
    request: WireRequest, auth: Auth, now: float, secrets: Secrets, headers: Mapping[str, str] | None = None
) -> WireRequest:
    """`request` with its credentials, which `secrets` knows from then on, and with `headers` over everything else."""
    made = auth.sign(request, now)
    if headers:
        made = made.with_headers(headers)
    secrets.add_request(made.url, made.headers, {**request.headers, **(headers or {})})
    secrets.add(held_by(auth))
    return made


def held_by(holder: object) -> Sequence[str]:
    """The credentials that a `SecretHolder` names; none of what is not one."""
    return getattr(holder, "secrets", ())


def credentials_of_place(endpoint: Endpoint, secrets: Secrets) -> None:
    """Have `secrets` know what `endpoint` signs with, where that is known before the first request."""
    secrets.add(held_by(endpoint))
    if isinstance(endpoint, KnownAddress):
        address = endpoint.address
        signed(_UNSIGNED.with_url(address.url), address.auth, 0.0, secrets)
