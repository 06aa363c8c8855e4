"""Digests of accounts: what tells uploads of one account at one address from those of others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import NamedTuple

from ..ports import Address, Endpoint, Runtime
from ..schema import WireRequest
from ..schema.quoting import shown_url

_UNSIGNED = WireRequest("", {}, b"")
_OFFLINE = "offline"


class Account(NamedTuple):
    """An account at an endpoint: the base URL without secrets, and a digest of the URL and the credentials."""

    endpoint: str
    digest: str


async def account_of(endpoint: Endpoint, headers: Mapping[str, str], runtime: Runtime, now: float) -> Account:
    """Returns the account that requests to `endpoint` with the user's `headers` use; `now` is in seconds since the
    epoch.

    The digest is a SHA-256, so that credentials cannot be read from it. Raises what the endpoint raises.
    """
    if getattr(endpoint, "offline", False) is True:  # of an LLM whose middleware answers all requests
        return Account(_OFFLINE, _digest(_OFFLINE, "", headers))
    address = await endpoint.open(runtime)
    try:
        return _account_at(address, headers, now)
    finally:
        if address.release is not None:
            address.release()


def _account_at(address: Address, headers: Mapping[str, str], now: float) -> Account:
    signed = address.auth.sign(_UNSIGNED.with_url(address.url), now)
    return Account(shown_url(address.url), _digest(address.url, address.query, {**signed.headers, **headers}))


def _digest(url: str, query: str, headers: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps([url, query, sorted(headers.items())]).encode()).hexdigest()[:32]
