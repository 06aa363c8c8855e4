"""Verifies an exported run with nothing but Python. In its folder: python -I verify.py"""

from __future__ import annotations

import hashlib
import json
import pathlib
import sys
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import IO, Any, cast

PLACES = ("item.payload", "effect.payload", "output", "result.value", "entry", "error")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def member(value: Any, name: str) -> Any:
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None


def problems(read: Callable[[str], IO[bytes]]) -> Iterator[tuple[int, str]]:
    """Yields the number of a record and what is wrong with it. `read` opens a file of the export by its name."""
    run, number, head, deleted, redacted = json.load(read("run.json")), 0, None, dict[int, Any](), dict[int, Any]()
    for number, (line, written) in enumerate(
        zip_longest(read("records.jsonl"), read("bodies.jsonl"), fillvalue=b""), 1
    ):
        record, body = json.loads(line), written.rstrip(b"\n")
        own, links = record.pop("record_hash"), (record["run"], record["seq"], record["prev_hash"])
        hashed = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        if links != (run["run"], number, head) or sha256(hashed) != own:
            yield number, "its hash does not fit what it has, or the record before it"
        head = own
        if not body:
            deleted[number] = record["body"]
            continue
        if sha256(body) != record["body"]:
            yield number, "its body does not fit its hash"
        value = json.loads(body)
        if record["kind"] == "redacted":
            redacted[value["seq"]] = value["sha256"]
        for place in PLACES:  # values that are stored apart
            part: Any = value
            for name in place.split("."):
                part = member(part, name)
            apart = member(part, "$artifact")
            if apart is not None and sha256(read(f"artifacts/{apart}").read()) != apart:
                yield number, f"the bytes of the value {apart} do not fit their hash"
    yield from ((seq, "its body is gone, unreported") for seq, hash in deleted.items() if redacted.get(seq) != hash)
    if (number, head) != (run["records"], run["head"]):
        yield number, f"the run has {run['records']} records and another head"


def verify(read: Callable[[str], IO[bytes]]) -> list[tuple[int, str]]:
    """Returns what is wrong, with the number of the record: 0 for a file that cannot be read."""
    found: list[tuple[int, str]] = []
    try:
        found.extend(problems(read))
    except Exception as error:
        found.append((0, f"a file of the export cannot be read: {error!r:.200}"))
    return found


if __name__ == "__main__":
    found = verify(lambda name: (pathlib.Path(__file__).parent / name).open("rb"))
    sys.stdout.write("".join(f"record {seq}: {message}\n" for seq, message in found) or "ok\n")
    sys.exit(1 if found else 0)
