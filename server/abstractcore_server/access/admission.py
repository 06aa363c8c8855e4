"""Who is let in: hosts, origins of web pages, keys and what they grant."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Protocol

from abstractcore.budgets import Budget
from abstractcore.errors import AccessDeniedError, AuthenticationError, InvalidInputError
from abstractcore.schema import CostSource, CostSums, ModelCall, Outcome, Usage

from ..failures import RequestRefused
from ..requests import RequestHead

_SHORTEST_KEY = 16
_HEADERS = ("x-api-key", "x-goog-api-key", "api-key")
"""Headers of clients' keys, beside `Authorization: Bearer`: Anthropic's, Google's, Azure's."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a client may do. `key_id` names its key, never the key itself; None without keys. `owner` is whose stored
    responses and conversations it may use: all clients without keys share theirs.

    `models` are patterns of the names that it may call, as in "openai/*"; None allows all. `tags` are added to the
    records of its calls. A call may take `call_seconds`; None for those of the limits. `budgets` hold for all of its
    calls.
    """

    key_id: str | None = None
    models: tuple[str, ...] | None = None
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    owner: str = ""
    call_seconds: float | None = None
    budgets: tuple[Budget, ...] = ()

    def allows(self, model: str) -> bool:
        """Whether it may call a model, by the name it is listed under."""
        return self.models is None or any(fnmatchcase(model, pattern) for pattern in self.models)

    def check_model(self, *names: str) -> None:
        """Raises `AccessDeniedError` for a model that it may not call by any of its names."""
        if not any(map(self.allows, names)):
            raise AccessDeniedError(f"this key may not use the model {names[0]!r}")


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a call used in the end. With `estimated`, it was cancelled before the provider reported its tokens: they are
    counted from what arrived. `cost` is in US dollars, None if it is unknown; `costs` are the sums of all its requests,
    if they do not follow from it.
    """

    outcome: Outcome
    usage: Usage
    cost: Decimal | None = None
    cost_source: CostSource | None = None
    estimated: bool = False
    costs: CostSums | None = None

    @property
    def sums(self) -> CostSums:
        """What is known, what is estimated, and the number of requests of which neither is known."""
        if self.costs is not None or self.cost is None:
            return self.costs or CostSums(unknown=1)
        return CostSums(estimated=self.cost) if self.cost_source == "estimate" else CostSums(self.cost)


class CallLease(Protocol):
    """A call that was let in. It holds what it reserved of its key's limits until it is settled."""

    async def settle(self, settlement: Settlement) -> None:
        """Called once when the call has ended, however it ended."""
        ...


class AccessControl(Protocol):
    """Decides which requests and calls are let in."""

    @property
    def is_open(self) -> bool:
        """Whether everyone who can connect has access: the server then listens on this machine only."""
        ...

    async def admit(self, request: RequestHead) -> Grant:
        """Returns the grant of the sender of a request, before its body is read.

        Raises `AuthenticationError` without a valid key, and `RateLimitError` with `retry_after`.
        """
        ...

    async def begin(self, grant: Grant, call: ModelCall) -> CallLease:
        """Lets a call in, before it is sent to its provider; raises `RateLimitError` and `QuotaError`."""
        ...


class NoCallLease:
    """A call without limits."""

    async def settle(self, settlement: Settlement) -> None:
        """Does nothing."""


class OpenAccess:
    """Lets everyone in who can connect."""

    is_open = True

    async def admit(self, request: RequestHead) -> Grant:
        """Returns a grant of everything; raises `AuthenticationError` for a key in the URL."""
        refuse_key_in_url(request)
        return Grant()

    async def begin(self, grant: Grant, call: ModelCall) -> CallLease:
        """Lets every call in."""
        return NoCallLease()


class FixedKeys:
    """Lets requests in that have one of `keys`, which are compared in constant time.

    Raises `InvalidInputError` for a key that is short, or that a header cannot hold.
    """

    is_open = False

    def __init__(self, keys: Sequence[str]) -> None:
        for key in keys:
            check_key(key)
        self._digests = [digest_of(key) for key in keys]

    async def admit(self, request: RequestHead) -> Grant:
        """Returns the grant of the key in a request; raises `AuthenticationError` without a valid one."""
        digest = digest_of(credential_of(request))
        matches = [hmac.compare_digest(digest, each) for each in self._digests]
        if not any(matches):
            raise AuthenticationError("this key is not valid here")
        return Grant(key_id=f"key{matches.index(True) + 1}", owner=f"sha256:{digest.hex()}")

    async def begin(self, grant: Grant, call: ModelCall) -> CallLease:
        """Lets every call in."""
        return NoCallLease()


class AdminKeys(FixedKeys):
    """Lets in who has one of the keys of admins; nobody without them."""

    async def admit(self, request: RequestHead) -> Grant:
        """Returns the grant of a key; raises `AuthenticationError` without a valid one, and `AccessDeniedError` if
        there are none.
        """
        if not self._digests:
            raise AccessDeniedError(
                "this server has no admin key", hint="Set ABSTRACTCORE_SERVER_ADMIN_KEY, and start it again."
            )
        return await super().admit(request)


def digest_of(key: str) -> bytes:
    """Returns the SHA-256 of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def check_key(key: str, source: str = "keys") -> None:
    """Raises `InvalidInputError` for a key that is short, or that a header cannot hold; the error names its
    `source`.
    """
    if len(key) < _SHORTEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidInputError(
            f"a key needs at least {_SHORTEST_KEY} characters, which are ASCII without spaces",
            path=source,
            hint='To make one: python -c "import secrets; print(secrets.token_urlsafe(32))"',
        )


def credential_of(request: RequestHead) -> str:
    """Returns the key in a request's headers; raises `AuthenticationError` if there is none, if there are different
    ones, or if the URL has one.
    """
    refuse_key_in_url(request)
    headers = request.headers
    given = {headers[name].strip() for name in _HEADERS if name in headers}
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        given.add(token.strip())
    given.discard("")
    if not given:
        raise AuthenticationError("a key is required: send Authorization: Bearer KEY")
    if len(given) > 1:
        raise AuthenticationError("the request has several different keys: send one")
    return given.pop()


def refuse_key_in_url(request: RequestHead) -> None:
    """Raises `AuthenticationError` for a key in the URL, which proxies and logs keep, even if it is valid."""
    if request.has_credential_in_url:
        raise AuthenticationError("a key in the URL is refused, since URLs are logged: send it as a header")


_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Hosts:
    """Checks the header `Host`: it must be an allowed name, with any port."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(map(_as_in_url, (*_LOOPBACK, *names)))

    def allows(self, host: str) -> bool:
        """Whether a request with this `Host` is answered."""
        name, colon, port = host.rpartition(":")
        if not colon or not port.isdecimal():
            name = host
        return name.lower().rstrip(".") in self._names


def _as_in_url(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host.lower()


_FOREIGN_SITES = ("cross-site", "same-site")


class Origins:
    """Checks the headers `Origin` and `Sec-Fetch-Site`, which browsers send: a page is of the server itself, or of an
    allowed origin, as in "https://app.example.com".
    """

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = frozenset(map(str.lower, allowed))

    def check(self, request: RequestHead, *, is_page: bool) -> Mapping[str, str]:
        """Returns the headers that let a page of an allowed origin read the response (CORS); none for others.

        Raises `RequestRefused` for other pages. A link to a page of the server (`is_page`) may be anywhere: browsers
        send no `Origin` with it.
        """
        headers = request.headers
        origin = headers.get("origin")
        host = headers.get("host", "")
        is_foreign = origin is not None and origin.partition("://")[2].lower() != host.lower()
        if not is_foreign and headers.get("sec-fetch-site") not in _FOREIGN_SITES:
            return {}
        if origin is not None and origin.lower() in self._allowed:
            return _cors_headers(origin, request)
        if is_page and origin is None and _is_link(request):
            return {}
        raise RequestRefused(403, AccessDeniedError(_refusal(origin)))


def is_preflight(request: RequestHead) -> bool:
    """Whether a browser asks which requests a page may send."""
    return request.method == "OPTIONS" and "access-control-request-method" in request.headers


def _cors_headers(origin: str, request: RequestHead) -> dict[str, str]:
    headers = {"access-control-allow-origin": origin, "access-control-expose-headers": "*", "vary": "origin"}
    if is_preflight(request):
        headers["access-control-allow-methods"] = request.headers["access-control-request-method"]
        headers["access-control-allow-headers"] = request.headers.get("access-control-request-headers", "")
    return headers


def _is_link(request: RequestHead) -> bool:
    """Whether a browser opens the response as a page of its own."""
    headers = request.headers
    kind = (request.method, headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
    return kind == ("GET", "navigate", "document")


def _refusal(origin: str | None) -> str:
    """Returns the message for a page that may not use the server."""
    sent_by = "a web page of another origin" if origin is None else f"the web page {origin[:200]!r}"
    return (
        f"{sent_by} may not use this server (headers Origin and Sec-Fetch-Site): add it to origins in the server's "
        "configuration, or start it with --allow-origin ORIGIN, as in https://app.example.com"
    )
