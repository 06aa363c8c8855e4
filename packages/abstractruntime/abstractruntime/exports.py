"""A run as a file: `run.zip`, which anybody can verify offline, with the script that lies in it.

Its `records.jsonl` has what is hashed of each record, and the hash; line N of `bodies.jsonl` is the body of record N as
it is stored, and empty if it was redacted; `artifacts` has large values by their hash; `run.json` the number of records
and the head; `signature.json`, if it was signed, the line of `sign_heads`. Equal runs give equal bytes.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

from abstractcore.errors import InvalidInputError

from .json_documents import JSON, canonical, digest
from .ledger_checks import LedgerReport, Problem
from .offline import verify
from .records import envelope
from .signatures import PrivateKey, PublicKey, checked_head, signed_head
from .store import Store
from .store.history import stored_artifact, stored_artifacts, stored_records, stored_run
from .verification import verify_run

_SIGNATURE: Final = "signature.json"
_MOST_BYTES: Final = 4 * 1024**3
_README: Final = """\
The run {run}, with {records} records. Verify it with Python, in a folder of its own:

    unzip run.zip && python -I verify.py

It prints `ok`, or what was changed, and needs nothing but Python. A script that came with the data proves nothing to
who does not trust the sender: read it, or take `abstractcore runs verify run.zip` of your own installation.
A run that was changed as a whole, with its head, is found by a signature only.

records.jsonl    what is hashed of each record, and its hash: the SHA-256 of the rest of the line as JSON with
                 sorted keys and no spaces. `at` is in microseconds since the epoch.
bodies.jsonl     the body of each record, whose SHA-256 is `body` of the record; an empty line was redacted.
artifacts        large values, by their SHA-256.
run.json         the number of records, and the hash of the last one.
signature.json   if it is there: an Ed25519 signature over the id, the number, the head and a time.
"""


def export_run(store: Store, id: str, path: str | Path, *, private_key: PrivateKey | None = None) -> LedgerReport:
    """Writes a run and its ledger to a new zip file, which only its owner may read; returns what was verified of it.

    A run that has not ended is written as it is now. With `private_key`, an Ed25519 key, its head is signed.

    Raises `LedgerError` for a run that does not verify, and `RunNotFoundError`; `InvalidInputError` for a path that
    exists or cannot be written, and for an invalid key; `MissingExtraError` if it is to be signed without
    `cryptography`.
    """
    target = Path(path)
    if target.exists():
        raise InvalidInputError(f"{target} exists", path="path", hint="Give the name of a new file.")
    verify_run(store, id).check()
    row = stored_run(store, id).row
    run = {"run": id, "records": row.seq, "head": row.head}
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise InvalidInputError(f"{target} cannot be written: {error.strerror}", path="path") from None
    try:
        with os.fdopen(handle, "wb") as file:
            _write(store, file, run, private_key)
        verification = verify_export(name).check()
        os.replace(name, target)
    except OSError as error:
        raise InvalidInputError(f"{target} cannot be written: {error.strerror}", path="path") from error
    finally:
        Path(name).unlink(missing_ok=True)
    return verification


def verify_export(path: str | Path, *, public_key: PublicKey | None = None) -> LedgerReport:
    """Returns what is wrong with an exported run; with `public_key`, also whether its head was signed with that key.

    Raises `InvalidInputError` for a file that is no such export, or is no key.
    """
    try:
        with zipfile.ZipFile(path) as file:
            if sum(info.file_size for info in file.infolist()) > _MOST_BYTES:
                raise InvalidInputError(f"has more than {_MOST_BYTES:,} bytes", path="path")
            return _verified(file, public_key)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise InvalidInputError(f"{path} is not an exported run: {error}", path="path") from None


def _verified(file: zipfile.ZipFile, public_key: PublicKey | None) -> LedgerReport:
    try:
        run: Any = json.loads(file.read("run.json"))
        id, count, head = str(run["run"]), int(run["records"]), str(run["head"])
    except Exception as error:
        raise InvalidInputError(f"its run.json cannot be read: {error!r:.200}", path="path") from None
    problems = [Problem(id, seq, message) for seq, message in verify(file.open)]
    if public_key is not None:
        signed = checked_head(public_key, _text(file, _SIGNATURE))
        if signed is None or (signed["run"], signed["count"], signed["head"]) != (id, count, head):
            problems.append(Problem(id, count, "its head was not signed with this key"))
    return LedgerReport(id, count, head, tuple(problems))


def _text(file: zipfile.ZipFile, name: str) -> str:
    try:
        return file.read(name).decode()
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error):
        return ""


def _write(store: Store, file: Any, run: dict[str, Any], private_key: PrivateKey | None) -> None:
    id, count, head = run["run"], run["records"], run["head"]
    with zipfile.ZipFile(file, "w") as archive:
        _add(archive, "README.txt", [_README.format(run=id, records=count).encode()])
        for sha256 in stored_artifacts(store, id):
            _add(archive, f"artifacts/{sha256}", [stored_artifact(store, id, sha256)])
        _add(archive, "bodies.jsonl", ((row.body or b"") + b"\n" for row in stored_records(store, id, count)))
        _add(archive, "records.jsonl", _lines(stored_records(store, id, count)))
        _add(archive, "run.json", [canonical(run, "run") + b"\n"])
        if private_key is not None:
            line = signed_head(private_key, id, count, head, store.time())
            _add(archive, _SIGNATURE, [line.encode() + b"\n"])
        _add(archive, "verify.py", [resources.files("abstractruntime").joinpath("offline.py").read_bytes()])


def _lines(rows: Iterable[Any]) -> Iterator[bytes]:
    """Yields records as a verifier of chains takes them."""
    previous: str | None = None
    for row in rows:
        body_sha256 = row.redacted if row.body is None else digest(row.body)
        data: dict[str, JSON] = envelope(row.run, row.seq, row.kind, row.at, body_sha256, previous)
        yield canonical({**data, "record_hash": row.hash}, "record") + b"\n"
        previous = row.hash


def _add(archive: zipfile.ZipFile, name: str, parts: Iterable[bytes]) -> None:
    info = zipfile.ZipInfo(name)  # whose time is always the same
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3
    info.external_attr = 0o600 << 16
    with archive.open(info, "w", force_zip64=True) as member:
        for part in parts:
            member.write(part)
