"""`account_of`: what learned limits belong to: a model at an address, for a key, which is not shown."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from typing import Final

from ..ports import KnownAddress, KnownUrl, ProviderSession
from ..schema import WireRequest

_SALT: Final = secrets.token_bytes(16)
_UNSIGNED: Final = WireRequest("", {}, b"")


def account_of(provider: str, session: ProviderSession, keys: Sequence[object], headers: Mapping[str, str]) -> str:
    """Returns a text that is the same for the same provider, model, address and key in this process. `keys` are those
    of the user, or functions that return them; `headers` are the user's, which may have one.
    """
    endpoint = session.endpoint
    parts = [provider, session.model, *(f"{name}:{value}" for name, value in sorted(headers.items()))]
    parts += [key if isinstance(key, str) else str(id(key)) for key in keys if key is not None]
    if isinstance(endpoint, KnownAddress):
        address = endpoint.address
        signed = address.auth.sign(_UNSIGNED.with_url(address.url), 0.0)
        parts += [signed.url, *(f"{name}:{value}" for name, value in sorted(signed.headers.items()))]
    elif isinstance(endpoint, KnownUrl):
        parts.append(endpoint.url or "")
    digest = hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=12, key=_SALT)
    return f"{provider}/{session.model} {digest.hexdigest()}"
