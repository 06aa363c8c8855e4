"""`abstractcore runs list`, `show` and `tail`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, cast, get_args

from abstractcore.errors import InvalidInputError
from abstractcore_cli.toolkit import json_line, reported, show_table, write

from ..handles import RunWait
from ..json_documents import JSON
from ..records import Record, RunInfo, Status
from ..runtime import Runtime
from ..timeline import described, shortened, shown_question, timeline
from .stores import open_store

_FOLLOW_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class RunFilter:
    """The options of `list`."""

    status: str | None
    program: str | None
    session: str | None
    parent: str | None
    limit: int


def list_all(wanted: RunFilter, store: str, *, as_json: bool) -> None:
    """Prints runs, the newest first."""
    with reported(as_json=as_json):
        if wanted.status is not None and wanted.status not in get_args(Status):
            choices = ", ".join(get_args(Status))
            raise InvalidInputError(f"expected one of {choices}, got {wanted.status!r:.40}", path="--status")
        with open_store(store) as runtime:
            found = [(info, _waits(runtime, info)) for info in runtime.runs(**asdict(wanted))]
        if as_json:
            rows = [{**_facts(info), "waits": [_wait_data(wait) for wait in waits]} for info, waits in found]
            write(json_line({"runs": rows, "exit_code": 0}))
            return
        show_table(
            ("run", "program", "status", "updated", "steps", "dollars", "waits for"),
            [
                (
                    info.id, info.program, _status(info), _moment(info.updated), str(info.spent.steps),
                    str(info.spent.dollars), ", ".join(f"{wait.key} ({wait.reason})" for wait in waits),
                )
                for info, waits in found
            ],
            {"waits for": 12, "program": 10, "updated": 0},
        )  # fmt: skip


def _waits(runtime: Runtime, info: RunInfo) -> list[RunWait]:
    return runtime.run(info.id).waits if info.status == "waiting" else []


def show_run(id: str, store: str, *, as_json: bool) -> None:
    """Prints all about a run."""
    with reported(as_json=as_json), open_store(store) as runtime:
        run = runtime.run(id)
        info, waits, records = run.info, run.waits, [*run.ledger()]
        children = [child.info for child in run.children]
        if as_json:
            data: dict[str, JSON] = {"run": {**_facts(info), "state": info.state, "inflight": info.inflight}}
            data["waits"] = [_wait_data(wait) for wait in waits]
            data["records"] = [_record_data(record) for record in records]
            data["children"] = [_facts(child) for child in children]
            write(json_line({**data, "exit_code": 0}))
            return
        show_table(("run", id), _summary(info))
        write("\n")
        headers = ("", "after", "what", "took", "tokens", "dollars")
        show_table(headers, _timeline_cells(records), {"what": 20})
        if waits:
            write("\n")
            show_table(("waits for", "reason", "until", "asked"), [_wait_cells(wait) for wait in waits])
        if children:
            write("\n")
            show_table(("child", "program", "status"), [(each.id, each.program, _status(each)) for each in children])


def _summary(info: RunInfo) -> Iterator[tuple[str, str]]:
    yield "program", info.program
    yield "status", _status(info)
    yield "created", _moment(info.created)
    yield "updated", _moment(info.updated)
    yield "used", f"{info.spent.steps} steps, {info.spent.tokens:,} tokens, {info.spent.dollars} dollars"
    given = {name: value for name, value in info.limits.to_data().items() if value is not None}
    yield "limits", ", ".join(f"{value} {name}" for name, value in given.items())
    for name in ("parent", "session", "owner"):
        if (value := getattr(info, name)) is not None:
            yield name, value
    if info.due_at is not None:
        yield "due", _moment(info.due_at)
    if info.inflight is not None:
        effect = info.inflight["effect"]
        yield (
            "effect",
            f"{effect['kind']} ({effect['key']}), attempt {info.inflight['attempt']}: " + str(info.inflight["state"]),
        )
    if info.status == "completed":
        yield "output", shortened(info.output)
    if info.error is not None:
        yield "error", shortened(f"{info.error['type']}: {info.error['message']}", 400)


def _timeline_cells(records: list[Record]) -> Iterator[tuple[str, ...]]:
    for row in timeline(records):
        took = "" if row.seconds is None else _seconds(row.seconds)
        tokens = f"{row.tokens:,}" if row.tokens else ""
        yield str(row.seq), _seconds(row.after), row.what, took, tokens, row.dollars


def _wait_cells(wait: RunWait) -> tuple[str, ...]:
    until = "" if wait.deadline is None else _moment(wait.deadline)
    return wait.key, wait.reason, until, shown_question(wait.asked)


def tail_run(id: str, after: int, store: str, *, follow: bool, as_json: bool) -> None:
    """Prints the records of a run as they are written."""
    with reported(as_json=as_json), open_store(store) as runtime:
        run = runtime.run(id)
        while True:
            ended = run.info.ended  # before its records: none comes later
            for record in run.ledger(after):
                after = record.seq
                write(_tail_line(record, as_json=as_json))
            if ended or not follow:
                return
            time.sleep(_FOLLOW_SECONDS)


def _tail_line(record: Record, *, as_json: bool) -> str:
    if as_json:
        return json_line(_record_data(record))
    return f"{record.seq}\t{_moment(record.at)}\t{described(record)}\n"


def _facts(info: RunInfo) -> dict[str, JSON]:
    data = cast("dict[str, Any]", json.loads(json.dumps(asdict(info), default=str)))
    data["limits"], data["spent"] = info.limits.to_data(), info.spent.to_data()
    return {name: value for name, value in data.items() if name not in ("state", "inflight")}


def _wait_data(wait: RunWait) -> dict[str, JSON]:
    return {name: getattr(wait, name) for name in ("key", "reason", "deadline", "asked", "opened")}


def _record_data(record: Record) -> dict[str, JSON]:
    return {name: getattr(record, name) for name in ("seq", "kind", "at", "body", "body_sha256", "hash")}


def _status(info: RunInfo) -> str:
    return info.status if info.paused_at is None or info.ended else f"{info.status}, paused"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).isoformat(sep=" ", timespec="seconds")


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f} s" if seconds < 100 else f"{seconds:,.0f} s"
