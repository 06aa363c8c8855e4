"""`abstractcore traces list`, `search`, `tail`, `export` and `prune`."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.cells import cell_len, set_cell_size

from abstractcore import InvalidInputError
from abstractcore.schema import visible
from abstractcore.schema.amounts import cost_of, counted, moment, seconds, tokens

from ..reporting import json_line, reported
from ..screen import note, screen_width, show_table, write
from .stores import CallChoice, opened, record_id

if TYPE_CHECKING:
    from abstractcore.traces import CallSummary, TraceStore

_COLUMNS: Final = ("trace", "began", "model", "outcome", "took", "in", "out", "cost", "tags")
_CROPPED: Final = {"tags": 0, "trace": 10, "model": 12, "took": 0, "in": 0, "out": 0}
_POLL_SECONDS: Final = 0.5
_WIDE: Final = 120
_INDENT: Final = "    "
_OVERLAPS: Final = {"sqlite": 0, "postgresql": 20_000}
"""How many numbers before the last one are looked at again: programs that write to one server may end in another order
than they got numbers for their records and contents, up to some thousands for each transaction.
"""
_MOST_NEW: Final = 20_000


def list_calls(choice: CallChoice, place: str | None, *, as_json: bool) -> None:
    """Prints calls, the newest first."""
    with reported(as_json=as_json), opened(place) as store:
        found = store.calls(**choice.arguments())
        excerpts = {} if choice.text is None else store.excerpts(choice.text, [call.trace_id for call in found])
        if as_json:
            write(json_line({"calls": [_found_facts(call, excerpts) for call in found], "exit_code": 0}))
            return
        if not found:
            note(choice.why_none(store))
            return
        columns, rows = _COLUMNS, [_cells(call) for call in found]
        of_calls = [excerpts.get(call.trace_id, ()) for call in found]
        if choice.text is not None and not screen_width():
            columns = (*columns, "found")
            rows = [(*row, "".join(each)) for row, each in zip(rows, of_calls, strict=True)]
        show_table(columns, rows, _CROPPED, [_excerpt_line(each) if each else [] for each in of_calls])
        if len(found) == choice.limit:
            note(f"The newest {choice.limit:,}; for more: --limit NUMBER.")


def tail_calls(choice: CallChoice, place: str | None, *, follow: bool, as_json: bool) -> None:
    """Prints calls as they are stored, the oldest first."""
    with reported(as_json=as_json), opened(place) as store:
        latest = store.calls(limit=max(1, _OVERLAPS[store.database.dialect])) if follow else []
        newest = store.calls(**choice.arguments())[::-1]
        if not newest:
            note(choice.why_none(store))
        later = _later(store, choice, [*latest, *newest]) if follow else ()
        for call in chain(newest, later):
            write(json_line(call_facts(call)) if as_json else _line(call))


def _later(store: TraceStore, choice: CallChoice, calls: Sequence[CallSummary]) -> Iterator[CallSummary]:
    """Yields calls that are stored after others."""
    arguments: dict[str, Any] = {**choice.arguments(), "limit": _MOST_NEW}
    last = max((call.number for call in calls), default=0)
    overlap = _OVERLAPS[store.database.dialect]
    seen = deque((call.number for call in calls), maxlen=_MOST_NEW)
    while True:
        time.sleep(_POLL_SECONDS)
        known = frozenset(seen)
        new = [call for call in store.calls(**arguments, after=last - overlap) if call.number not in known]
        for call in sorted(new, key=lambda each: each.number):
            seen.append(call.number)
            last = max(last, call.number)
            yield call


def export_records(path: str, choice: CallChoice, place: str | None, *, as_json: bool) -> None:
    """Writes records to a file."""
    with reported(as_json=as_json):
        file = Path(path)
        if file.exists():
            raise InvalidInputError(f"{path} exists already", path="PATH", hint="Name another file.")
        with opened(place) as store:
            try:
                count = store.export(file, **choice.filters())
            except OSError as error:
                raise InvalidInputError(f"{path} cannot be written: {error.strerror or error}", path="PATH") from None
            if not count:
                note(choice.why_none(store))
        if as_json:
            write(json_line({"file": os.fspath(file), "records": count, "exit_code": 0}))
            return
        write(f"{path}\n")
        note(counted(count, "record"))


def score_record(id: str, name: str, value: float, comment: str | None, place: str | None, *, as_json: bool) -> None:
    """Adds a score to a record."""
    with reported(as_json=as_json), opened(place) as store:
        trace_id = record_id(store, id)
        store.score(trace_id, name, value, comment)
        if as_json:
            write(json_line({"trace_id": trace_id, "name": name, "value": value, "exit_code": 0}))
            return
        note(f"{trace_id}: {name} {value:g}")


def prune_records(keep_days: float | None, keep_bytes: int | None, place: str | None, *, as_json: bool) -> None:
    """Removes records that are out of bounds."""
    with reported(as_json=as_json):
        if keep_days is None and keep_bytes is None:
            hint = "Write --keep-days DAYS or --keep-bytes BYTES, or set ABSTRACTCORE_TRACES_KEEP_DAYS or _BYTES."
            raise InvalidInputError("nothing says what to remove", hint=hint)
        with opened(place, keep_days=keep_days, keep_bytes=keep_bytes) as store:
            removed = store.prune()
        if as_json:
            write(json_line({"records": removed.records, "contents": removed.contents, "exit_code": 0}))
            return
        note(f"removed {counted(removed.records, 'record')} and {counted(removed.contents, 'content')}")


def call_facts(call: CallSummary) -> dict[str, Any]:
    """Returns a call for JSON."""
    return {
        "trace_id": call.trace_id,
        "parent_id": call.parent_id,
        "provider": call.provider,
        "model": call.model,
        "operation": call.operation,
        "outcome": call.outcome,
        "started_at": call.started_at,
        "seconds": call.seconds,
        "seconds_to_first": call.seconds_to_first,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "cost": None if call.cost is None else f"{call.cost:f}",
        "estimated_cost": None if call.estimated_cost is None else f"{call.estimated_cost:f}",
        "saved_cost": None if call.saved_cost is None else f"{call.saved_cost:f}",
        "tags": dict(call.tags),
    }


def _cells(call: CallSummary) -> tuple[str, ...]:
    operation = "" if call.operation == "chat" else f" ({call.operation})"
    is_kept = call.saved_cost is not None  # the answer of a cache, for which nothing was sent
    return (
        call.trace_id,
        moment(call.started_at, without_year=0 < screen_width() < _WIDE),
        f"{call.provider}/{call.model}{operation}",
        call.outcome,
        seconds(call.seconds),
        *("-" if each is None and is_kept else tokens(each) for each in (call.input_tokens, call.output_tokens)),
        cost_of(call.cost, call.estimated_cost, call.saved_cost),
        " ".join(f"{name}={value}" for name, value in call.tags.items()),
    )


def _found_facts(call: CallSummary, excerpts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Returns a call for JSON: that of a search has its excerpt."""
    return call_facts(call) | ({"excerpt": "".join(excerpts[call.trace_id])} if call.trace_id in excerpts else {})


def _excerpt_line(excerpt: Sequence[str]) -> list[tuple[str, str]]:
    """Returns an excerpt, in one line of the terminal, with its words marked."""
    room = screen_width() - len(_INDENT)
    line: list[tuple[str, str]] = [(_INDENT, "")]
    for index, piece in enumerate(excerpt):
        text = visible(piece)
        text = text if cell_len(text) <= room else set_cell_size(text, max(0, room))
        room -= cell_len(text)
        line.append((text, "bold reverse" if index % 2 else "dim"))
    return line


def _line(call: CallSummary) -> str:
    return "\t".join(" ".join(visible(cell).split()) for cell in _cells(call)) + "\n"
