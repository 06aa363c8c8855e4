"""Ed25519 signatures over the heads of runs. Kept elsewhere, they find ledgers that were rewritten with their rows, and
runs that were deleted.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from abstractcore.errors import InvalidInputError, MissingExtraError
from abstractcore.schema import install_hint

from .errors import RunNotFoundError
from .json_documents import JSON, canonical, parsed
from .ledger_checks import Problem
from .store import Store
from .store.history import stored_ids, stored_record, stored_run
from .store.reading import not_found
from .verification import verify_run

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PrivateKey: TypeAlias = "Ed25519PrivateKey | bytes | str"
"""A key of `cryptography`, its PEM, or its 32 bytes."""
PublicKey: TypeAlias = "Ed25519PublicKey | bytes | str"
"""A key of `cryptography`, its PEM, or its 32 bytes."""
_TYPE: Final = "abstractruntime.head"
_RAW_BYTES: Final = 32
_FIELDS: Final = ("at", "count", "head", "run")


def sign_heads(store: Store, private_key: PrivateKey, runs: Iterable[str] | None = None) -> list[str]:
    """Returns a line for each run, of all or of these ids: its id, number of records, head, the time, and a signature.

    Keep them where those who can write the database cannot. What is signed was not verified: call `verify_all` before.

    Raises `MissingExtraError` without `cryptography`, `InvalidInputError` for an invalid key, and `RunNotFoundError`.
    """
    key = _private(private_key)
    lines: list[str] = []
    for id in stored_ids(store) if runs is None else runs:
        row = stored_run(store, id).row
        if row is None and runs is not None:
            raise not_found(id)
        if row is not None:
            lines.append(signed_head(key, id, row.seq, row.head, store.time()))
    return lines


def signed_head(private_key: PrivateKey, run: str, count: int, head: str, at: float) -> str:
    """Returns the line of one run."""
    data: dict[str, JSON] = {"at": round(at * 1e6), "count": count, "head": head, "run": run}
    signature = _private(private_key).sign(_signed(data))
    return canonical({**data, "signature": base64.b64encode(signature).decode()}, "head").decode()


def verify_heads(store: Store, lines: Iterable[str], public_key: PublicKey) -> list[Problem]:
    """Returns what is wrong with the runs of signed lines, and with these runs' ledgers.

    A run may have gone on since: the record that was its last one has the head that was signed.

    Raises `MissingExtraError` without `cryptography`, and `InvalidInputError` for an invalid key.
    """
    key = _public(public_key)
    problems: list[Problem] = []
    verified: set[str] = set()
    for number, line in enumerate(lines, 1):
        head = checked_head(key, line)
        if head is None:
            problems.append(Problem(f"line {number}", 0, "it is no signed head, or its signature does not fit"))
            continue
        run, count = head["run"], head["count"]
        if run not in verified:
            verified.add(run)
            with suppress(RunNotFoundError):
                problems += verify_run(store, run).problems
        problems += _compared(store, run, count, head["head"])
    return problems


def checked_head(public_key: PublicKey, line: str) -> dict[str, Any] | None:
    """Returns the data of a line; None if it was not signed with the key."""
    from cryptography.exceptions import InvalidSignature

    try:
        data = parsed(line)
        signed = {name: data[name] for name in _FIELDS}
        _public(public_key).verify(base64.b64decode(data["signature"], validate=True), _signed(signed))
    except (InvalidSignature, ValueError, TypeError, KeyError, RecursionError, binascii.Error):
        return None
    return signed


def _compared(store: Store, run: str, count: int, head: str) -> list[Problem]:
    now = stored_run(store, run)
    if now.row is None:
        return [Problem(run, count, f"the run is gone: it was signed with {count} records")]
    record = stored_record(store, run, count)
    if record is None:
        return [Problem(run, count, f"the record is gone: the run was signed with {count}, and has {now.records}")]
    return [] if record.hash == head else [Problem(run, count, "its hash is not the head that was signed")]


def _signed(data: dict[str, JSON]) -> bytes:
    return canonical({"type": _TYPE, **data}, "head")


def _private(key: PrivateKey) -> Ed25519PrivateKey:
    serialization, ed25519 = _cryptography()
    kind: Any = ed25519.Ed25519PrivateKey
    return _key(key, kind, kind.from_private_bytes, lambda pem: serialization.load_pem_private_key(pem, None))


def _public(key: PublicKey) -> Ed25519PublicKey:
    serialization, ed25519 = _cryptography()
    kind: Any = ed25519.Ed25519PublicKey
    return _key(key, kind, kind.from_public_bytes, serialization.load_pem_public_key)


def _key(key: Any, kind: type[Any], of_bytes: Callable[[bytes], Any], of_pem: Callable[[bytes], Any]) -> Any:
    """Returns a key as `cryptography` has it."""
    if isinstance(key, kind):
        return key
    data = key.encode() if isinstance(key, str) else key
    try:
        read = None
        if isinstance(data, bytes):
            read = of_bytes(data) if len(data) == _RAW_BYTES else of_pem(data)
    except (ValueError, TypeError, _unsupported()):
        read = None
    if not isinstance(read, kind):
        hint = "Make one: openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout"
        problem = f"expected an {kind.__name__}, its PEM without a password, or its {_RAW_BYTES} bytes"
        raise InvalidInputError(problem, path="key", hint=hint)
    return read


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        hint = install_hint("cryptography>=42")
        raise MissingExtraError("signatures require cryptography, which is not installed.", hint=hint) from None
    return serialization, ed25519


def _unsupported() -> type[Exception]:
    from cryptography.exceptions import UnsupportedAlgorithm

    return UnsupportedAlgorithm
