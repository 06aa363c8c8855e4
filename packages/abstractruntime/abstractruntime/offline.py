"""Verifies an exported run with nothing but Python. In its folder: python -I verify.py"""

from __future__ import annotations

import hashlib
import json
import pathlib
import sys
from collections.abc import Callable
from typing import IO, Any, cast

PLACES = ("item.payload", "effect.payload", "output", "result.value", "entry", "error")  # of values stored apart


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def member(value: Any, name: str) -> Any:
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None


def find(read: Callable[[str], IO[bytes]], found: list[tuple[int, str]]) -> None:
    """Adds the number of each record that is wrong, and why. `read` opens a file of the export by its name."""
    run, seq, head, deleted = json.load(read("run.json")), 0, None, dict[int, str]()
    for seq, (line, written) in enumerate(zip(read("records.jsonl"), read("bodies.jsonl"), strict=True), 1):
        record, data = json.loads(line), written.rstrip(b"\n")
        own = record.pop("record_hash")
        hashed = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        if (record["run"], record["seq"], record["prev_hash"], sha256(hashed)) != (run["run"], seq, head, own):
            found.append((seq, "its hash does not fit what it has, or the record before it"))
        if data and sha256(data) != record["body"]:
            found.append((seq, "its body does not fit its hash"))
        head, body = own, json.loads(data or b"{}")
        if not data:
            deleted[seq] = record["body"]
        if record["kind"] == "redacted" and deleted.get(member(body, "seq")) == member(body, "sha256"):
            deleted.pop(member(body, "seq"), None)
        for holder, _, name in (place.rpartition(".") for place in PLACES):
            apart = member(member(member(body, holder) if holder else body, name), "$artifact")
            if apart and sha256(read(f"artifacts/{apart}").read()) != apart:
                found.append((seq, f"the bytes of the value {apart} do not fit their hash"))
    found.extend((seq, "its body is gone, and no record reports that it was redacted") for seq in deleted)
    if (seq, head) != (run["records"], run["head"]):
        found.append((seq, f"the run has {run['records']} records and another head"))


def verify(read: Callable[[str], IO[bytes]]) -> list[tuple[int, str]]:
    """Returns what `find` finds, and at 0 what cannot be read."""
    found: list[tuple[int, str]] = []
    try:
        find(read, found)
    except Exception as error:
        found.append((0, f"a file of the export cannot be read: {error!r:.200}"))
    return found


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    problems = verify(lambda name: (folder / name).open("rb"))
    sys.stdout.write("".join(f"record {seq}: {message}\n" for seq, message in problems) or "ok\n")
    sys.exit(1 if problems else 0)
