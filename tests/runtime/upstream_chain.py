"""A verifier of chained ledgers by the rule of AbstractRuntime 0.4.28 (MIT; docs/provenance.md, ledger_chain.py).

A record is a JSON object. Its hash is the SHA-256 of its canonical text without `record_hash` and `signature`: keys
sorted, no spaces, characters beyond ASCII as they are, UTF-8. `prev_hash` is the hash of the record before, or null.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any


def record_hash(record: Mapping[str, Any]) -> str:
    """Returns the hash that a record should have."""
    hashed = {key: value for key, value in record.items() if key not in {"record_hash", "signature"}}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def chained(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns records with the hashes that make them a chain."""
    chain: list[dict[str, Any]] = []
    for record in records:
        linked = {**record, "prev_hash": chain[-1]["record_hash"] if chain else None}
        chain.append({**linked, "record_hash": record_hash(linked)})
    return chain


def bad_records(records: Sequence[Mapping[str, Any]]) -> list[int]:
    """Returns the places of the records that are not as written, or do not follow the one before them; none: a chain.

    The rule has neither a count nor a head, so a cut tail is not found.
    """
    hashes = [None, *(record.get("record_hash") for record in records)]
    return [
        place
        for place, (record, (before, own)) in enumerate(zip(records, pairwise(hashes), strict=True))
        if own != record_hash(record) or record.get("prev_hash") != before
    ]
