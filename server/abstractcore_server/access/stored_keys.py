"""`StoredKeys`: lets in who has a key of the database, within the limits of that key."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import abstractcore
from abstractcore.budgets import Budget, DatabaseLedger
from abstractcore.database import DatabaseError
from abstractcore.errors import AuthenticationError, ConfigurationError, RateLimitError, ServerError
from abstractcore.limits import CallLeases, LimitReached
from abstractcore.schema import ModelCall

from ..configuration.settings import DatabaseDown, Settings, Unpriced
from ..failures import RequestRefused
from ..requests import RequestHead
from ..store import AccessKey, KeyLimits, Keys, Store, default_file
from .admission import CallLease, FixedKeys, Grant, NoCallLease, Settlement, credential_of

KEY_SECONDS = 5.0
"""How long a process takes a key as valid without asking the database."""
_MOST_KEYS = 4096
_ANSWER_TOKENS = 1024
"""Reserved for an answer whose length the client does not limit."""
_LATE_SECONDS = 30.0
"""How long a lease lasts beyond the longest time of a call."""
_RETRY_SECONDS = 5
_log = logging.getLogger("abstractcore.server")


@dataclass(frozen=True, slots=True)
class StoredGrant(Grant):
    """The grant of a key with limits."""

    limits: KeyLimits = field(default_factory=KeyLimits)


class StoredKeys:
    """Lets in who has a key of the database, or one of `fixed`, which have no limits.

    While the database is down, all others are refused; with `down="open"`, keys that this process has seen stay valid,
    without limits of calls and tokens. Limits of dollars are budgets in `ledger`: a call that it cannot count is
    refused, and one whose price is unknown counts `unpriced`. Calls take at most `call_seconds`. `now` returns seconds
    since the epoch. `process` names this process among all that share the database, in up to 12 characters.
    """

    is_open = False

    def __init__(
        self,
        store: Store,
        *,
        fixed: Sequence[str] = (),
        down: DatabaseDown = "closed",
        unpriced: Unpriced = "refuse",
        call_seconds: float = 600.0,
        now: Callable[[], float] = time.time,
        process: str = "",
    ) -> None:
        self._keys = Keys(store, now)
        self._leases = CallLeases(store, now, process)
        self.ledger = DatabaseLedger(store)
        self._unpriced: Unpriced = unpriced
        self._fixed = FixedKeys(fixed)
        self._down = down
        self._call_seconds = call_seconds
        self._now = now
        self._seen: OrderedDict[bytes, tuple[float, AccessKey]] = OrderedDict()

    async def admit(self, request: RequestHead) -> Grant:
        """Returns the grant of the key in a request.

        Raises `AuthenticationError` without a valid one, and `RequestRefused` if it cannot be checked.
        """
        with suppress(AuthenticationError):
            return await self._fixed.admit(request)
        key = await self._valid(credential_of(request))
        if key is None:
            raise AuthenticationError("this key is not valid here")
        budgets = key_budgets(key, self.ledger, self._unpriced)
        return StoredGrant(key.name, key.models, key.tags, f"name:{key.name}", budgets=budgets, limits=key.limits)

    async def _valid(self, secret: str) -> AccessKey | None:
        digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
        now = self._now()
        seen, key = self._seen.get(digest, (-math.inf, None))
        if now - seen >= KEY_SECONDS:
            try:
                key = await asyncio.to_thread(self._keys.find, secret)
            except DatabaseError as error:
                _log.error("keys cannot be checked, the database is down: %s", error)
                if key is None or self._down == "closed":
                    raise _unavailable() from None
            else:
                self._remember(digest, key, now)
        return None if key is None or (key.expires is not None and now >= key.expires) else key

    def _remember(self, digest: bytes, key: AccessKey | None, now: float) -> None:
        self._seen.pop(digest, None)
        if key is not None:
            self._seen[digest] = (now, key)
            if len(self._seen) > _MOST_KEYS:
                self._seen.popitem(last=False)

    async def begin(self, grant: Grant, call: ModelCall) -> CallLease:
        """Lets a call in.

        Raises `RateLimitError` at a limit of its key, and `RequestRefused` if it cannot be checked.
        """
        if not isinstance(grant, StoredGrant) or grant.key_id is None or not grant.limits.any:
            return NoCallLease()
        tokens = await asyncio.to_thread(abstractcore.Services.estimate_tokens, call)
        tokens += call.sampling.max_output_tokens or _ANSWER_TOKENS
        seconds = (grant.call_seconds or self._call_seconds) + _LATE_SECONDS
        arguments = (grant.key_id, grant.limits, tokens, seconds)
        try:
            lease = await asyncio.to_thread(self._leases.begin, *arguments)
        except DatabaseError as error:
            _log.error("limits cannot be checked, the database is down: %s", error)
            if self._down == "open":
                return NoCallLease()
            raise _unavailable() from None
        if isinstance(lease, LimitReached):
            limit = lease.limit if lease.limit == "calls at once" else f"{lease.limit} per minute"
            message = f"this key's limit of {limit} is reached: {lease.most}"
            raise RateLimitError(message, retry_after=max(1, math.ceil(lease.retry_after)))
        return StoredCallLease(self._leases, lease)


class StoredCallLease:
    """What a call reserved of its key's limits in the database."""

    def __init__(self, leases: CallLeases, lease: str) -> None:
        self._leases = leases
        self._lease = lease

    async def settle(self, settlement: Settlement) -> None:
        """Records the tokens that the call used, also while its task is being cancelled."""
        tokens = (settlement.usage.input or 0) + (settlement.usage.output or 0)
        await asyncio.shield(asyncio.to_thread(self._settle, tokens))

    def _settle(self, tokens: int) -> None:
        try:
            self._leases.settle(self._lease, tokens)
        except DatabaseError as error:
            _log.error("a call was not settled, the database is down; its lease will expire: %s", error)


def stored_keys(settings: Settings, process: str = "", killed: Sequence[str] = ()) -> StoredKeys | None:
    """Returns the access by the database of the settings, by default the one in the user's data folder if it has keys;
    None without one. `process` is that of `StoredKeys`. Leases of the processes `killed` are ended.

    Raises `ConfigurationError` for a database that cannot be used.
    """
    try:
        store = _store_with_keys(settings.server.database)
        if store is None:
            return None
        for name in killed:
            CallLeases(store).free(name)
        server, seconds = settings.server, settings.limits.call_seconds
        return StoredKeys(
            store,
            fixed=settings.keys,
            down=server.database_down,
            unpriced=server.unpriced,
            call_seconds=seconds,
            process=process,
        )
    except DatabaseError as error:
        hint = error.hint or "Check the folder or the server that it names."
        raise settings.error(f"it cannot be used: {error.message}", "server", "database", hint=hint) from None
    except ConfigurationError as error:
        raise settings.error(error.message, "server", "database", hint=error.hint) from None


def _store_with_keys(url: str | None) -> Store | None:
    if url is not None:
        return Store(url)
    if not default_file().exists():
        return None
    store = Store(default_file())
    if Keys(store).all():
        return store
    store.close()
    return None


def _unavailable() -> RequestRefused:
    error = ServerError("keys cannot be checked at the moment")
    return RequestRefused(503, error, retry_after=str(_RETRY_SECONDS))


def key_budgets(key: AccessKey, ledger: DatabaseLedger, unpriced: Unpriced = "refuse") -> tuple[Budget, ...]:
    """Returns the budgets of a key: its limits of dollars."""
    return tuple(
        Budget(usd, per, name=f"key {key.name} per {per}", unpriced=unpriced, ledger=ledger)
        for per, usd in key.limits.dollars.items()
    )
