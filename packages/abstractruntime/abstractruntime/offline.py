"""Verifies an exported run with nothing but Python. In its folder: python -I verify.py"""

import hashlib
import json
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any, cast

PLACES = ("item.payload", "effect.payload", "output", "result.value", "entry", "error")  # of values stored apart


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def verify(read: Callable[[str], IO[bytes]]) -> Iterator[tuple[int, str]]:
    """Yields the number of each record that is wrong, and why. `read` opens a file of the export by its name."""
    try:
        run, seq, head, gone = json.load(read("run.json")), 0, None, set[tuple[int, str]]()
        for seq, (line, stored) in enumerate(zip(read("records.jsonl"), read("bodies.jsonl"), strict=True), 1):
            record, data = json.loads(line), stored.rstrip(b"\n")
            is_written = canonical(record) == line.rstrip(b"\n")  # of a name that comes twice, readers take any
            own = record.pop("record_hash")
            linked = (record["run"], record["seq"], record["prev_hash"], sha256(canonical(record)))
            if not is_written or linked != (run["run"], seq, head, own):
                yield seq, "its hash does not fit what it has, or the record before it"
            if data and sha256(data) != record["body"]:
                yield seq, "its body does not fit its hash"
            head, body = own, json.loads(data or b"{}")
            if not data:
                gone.add((seq, record["body"]))
            elif record["kind"] == "redacted":
                gone.discard((body["seq"], body["sha256"]))
            for place in PLACES:
                value: Any = body
                for name in (*place.split("."), "$artifact"):
                    value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
                if value is not None and sha256(read(f"artifacts/{pathlib.PurePath(value).name}").read()) != value:
                    yield seq, f"the bytes of the value {value} do not fit their hash"
        for number, _ in sorted(gone):
            yield number, "its body is gone, and no record reports that it was redacted"
        if (seq, head) != (run["records"], run["head"]):
            yield seq, f"the run has {run['records']} records and another head"
    except Exception as error:
        yield 0, f"a file of the export cannot be read: {error!r:.200}"


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    found = "".join(f"record {seq}: {problem}\n" for seq, problem in verify(lambda name: (folder / name).open("rb")))
    sys.stdout.write(found or "ok\n")
    sys.exit(bool(found))
