"""`Keys`: the keys of clients, of which the database has hashes only."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets as randomness
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, insert, select, update

from abstractcore.budgets import Budget
from abstractcore.database import Statement, reads, writes
from abstractcore.errors import InvalidInputError
from abstractcore.registry import did_you_mean, nearest_names

from .tables import Store, key_budgets, keys, secrets

_FORM = re.compile(r"ac-([0-9a-f]{12})-[A-Za-z0-9_-]{43}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")
_ABSENT = bytes(32)
_SECRET = Statement(select(secrets).where(secrets.c.prefix == bindparam("prefix")))
_KEY = Statement(select(keys).where(keys.c.name == bindparam("name")))
_DOLLARS = Statement(select(key_budgets).where(key_budgets.c.name == bindparam("name")))
_PREFIXES = Statement(
    select(secrets.c.prefix)
    .where(secrets.c.name == bindparam("name"), secrets.c.expires.is_(None) | (secrets.c.expires > bindparam("now")))
    .order_by(secrets.c.created)
)


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """What a key may use: calls and tokens in any 60 seconds, calls at once, and US dollars in a day and in a month of
    UTC. None is without limit.
    """

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    parallel: int | None = None
    usd_per_day: Decimal | None = None
    usd_per_month: Decimal | None = None

    @property
    def any(self) -> bool:
        """Whether calls or tokens are limited."""
        return (self.requests_per_minute, self.tokens_per_minute, self.parallel) != (None, None, None)

    @property
    def dollars(self) -> dict[Literal["day", "month"], Decimal]:
        """The limits of dollars, by their windows."""
        found: dict[Literal["day", "month"], Decimal] = {}
        if self.usd_per_day is not None:
            found["day"] = self.usd_per_day
        if self.usd_per_month is not None:
            found["month"] = self.usd_per_month
        return found


@dataclass(frozen=True, slots=True)
class AccessKey:
    """A key without its secret. `prefixes` are the beginnings of its valid secrets. Times are seconds since the epoch.

    `models` are patterns of the names that it may call; None is all.
    """

    name: str
    prefixes: tuple[str, ...]
    models: tuple[str, ...] | None
    tags: Mapping[str, str]
    limits: KeyLimits
    created: float
    expires: float | None
    revoked: float | None


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key with its secret, which is nowhere else."""

    key: AccessKey
    secret: str = field(repr=False)


class Keys:
    """Makes, finds and revokes keys. `now` returns seconds since the epoch.

    Every method raises `DatabaseError`.
    """

    def __init__(self, store: Store, now: Callable[[], float] = time.time) -> None:
        self.database = store
        self._now = now

    @writes
    def create(
        self,
        connection: Connection,
        name: str,
        *,
        models: Sequence[str] | None = None,
        tags: Mapping[str, str] | None = None,
        limits: KeyLimits | None = None,
        expires: float | None = None,
    ) -> IssuedKey:
        """Makes a key; raises `InvalidInputError` for an invalid name, and for one that a key has or had."""
        _check(name, models, limits or KeyLimits())
        now, given = self._now(), limits or KeyLimits()
        if connection.execute(select(keys.c.name).where(keys.c.name == name)).first() is not None:
            hint = "Choose another name, or run: abstractcore keys rotate NAME."
            raise InvalidInputError(f"there is a key with the name {name!r}", path="name", hint=hint)
        row = {
            "name": name,
            "models": None if models is None else list(models),
            "tags": dict(tags or {}),
            "requests_per_minute": given.requests_per_minute,
            "tokens_per_minute": given.tokens_per_minute,
            "parallel": given.parallel,
            "created": now,
            "expires": expires,
        }
        connection.execute(insert(keys).values(row))
        budgets = [{"name": name, "per": per, "usd": f"{usd:f}"} for per, usd in given.dollars.items()]
        if budgets:
            connection.execute(insert(key_budgets), budgets)
        secret = _new_secret(connection, name, now)
        return IssuedKey(self._read(connection, name), secret)

    @writes
    def rotate(self, connection: Connection, name: str, *, overlap: float = 0.0) -> IssuedKey:
        """Gives a key a new secret. Its earlier ones are valid for `overlap` more seconds.

        Raises `InvalidInputError` for a key that does not exist or was revoked.
        """
        if self._read(connection, name).revoked is not None:
            raise InvalidInputError(f"the key {name!r} was revoked", hint="Create another one.")
        now = self._now()
        ends = now + overlap
        lasting = (secrets.c.name == name) & (secrets.c.expires.is_(None) | (secrets.c.expires > ends))
        connection.execute(update(secrets).where(lasting).values(expires=ends))
        secret = _new_secret(connection, name, now)
        return IssuedKey(self._read(connection, name), secret)

    @writes
    def revoke(self, connection: Connection, name: str) -> AccessKey:
        """Makes a key invalid for ever; raises `InvalidInputError` for one that does not exist."""
        if self._read(connection, name).revoked is None:
            connection.execute(update(keys).where(keys.c.name == name).values(revoked=self._now()))
        return self._read(connection, name)

    @reads
    def all(self, connection: Connection) -> list[AccessKey]:
        """Returns all keys by name, also those that are not valid any more."""
        names = connection.execute(select(keys.c.name).order_by(keys.c.name)).scalars().all()
        return [self._read(connection, name) for name in names]

    def find(self, secret: str) -> AccessKey | None:
        """Returns the valid key with a secret; None if there is none.

        The row is found by the prefix, which is not secret; the hashes are compared in constant time.
        """
        form = _FORM.fullmatch(secret)
        return None if form is None else self._find(form[1], _digest(secret))

    @reads
    def _find(self, connection: Connection, prefix: str, digest: bytes) -> AccessKey | None:
        row = _SECRET.first(connection, prefix=prefix)
        if not hmac.compare_digest(digest, _ABSENT if row is None else row.digest) or row is None:
            return None
        key = self._read(connection, row.name)
        now = self._now()
        ends = [each for each in (row.expires, key.expires) if each is not None]
        return None if key.revoked is not None or any(now >= each for each in ends) else key

    def _read(self, connection: Connection, name: str) -> AccessKey:
        row = _KEY.first(connection, name=name)
        if row is None:
            names = connection.execute(select(keys.c.name)).scalars().all()
            near = nearest_names(name[:100], names)
            hint = did_you_mean(near) if near else "To see them: abstractcore keys list."
            raise InvalidInputError(f"there is no key with the name {name[:100]!r}", path="name", hint=hint)
        lasting = _PREFIXES.all(connection, name=name, now=self._now())
        dollars = {f"usd_per_{each.per}": Decimal(each.usd) for each in _DOLLARS.all(connection, name=name)}
        limits = KeyLimits(row.requests_per_minute, row.tokens_per_minute, row.parallel, **dollars)
        return _key(row, [f"ac-{secret.prefix}" for secret in lasting], limits)


def _key(row: Any, prefixes: Sequence[str], limits: KeyLimits) -> AccessKey:
    models = None if row.models is None else tuple(row.models)
    return AccessKey(row.name, tuple(prefixes), models, row.tags, limits, row.created, row.expires, row.revoked)


def _new_secret(connection: Connection, name: str, now: float) -> str:
    """Returns a new secret of a key, of 256 random bits after its prefix."""
    prefix = randomness.token_hex(6)
    secret = f"ac-{prefix}-{randomness.token_urlsafe(32)}"
    connection.execute(insert(secrets).values(prefix=prefix, name=name, digest=_digest(secret), created=now))
    return secret


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _check(name: str, models: Sequence[str] | None, limits: KeyLimits) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            "a name has up to 100 letters, digits, and . _ @ -, the first one a letter or digit", path="name"
        )
    if models is not None and not all(each.strip() and len(each) <= 200 and each.isprintable() for each in models):
        raise InvalidInputError("expected names of models, as in openai/gpt-5.4 or openai/*", path="models")
    for path in ("requests_per_minute", "tokens_per_minute", "parallel"):
        value: int | None = getattr(limits, path)
        if value is not None and not 0 < value < 2**31:
            raise InvalidInputError(f"expected a whole number from 1 to {2**31 - 1}, got {value}", path=path)
    for per, usd in limits.dollars.items():
        try:
            Budget(usd, per)
        except InvalidInputError as error:
            raise InvalidInputError(error.message.removeprefix("usd: "), path=f"usd_per_{per}") from None
