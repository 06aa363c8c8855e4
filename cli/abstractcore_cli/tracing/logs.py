"""`abstractcore logs`: what was asked and answered, from the traces that `abstractcore traces` lists call by call: here
all calls between a question and its answer, as of a tool loop, are one entry.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from abstractcore import CallRecord
from abstractcore.schema import visible
from abstractcore.schema.amounts import cost_of, moment

from ..reporting import json_line, reported
from ..screen import note, show_lines, show_table, write
from .conversations import NOT_KEPT, REDACTED, Line, shortened
from .lists import call_facts
from .stores import CallChoice, opened

if TYPE_CHECKING:
    from abstractcore.traces import CallSummary, TraceStore

_LONGEST: Final = 500
_READ_AT_ONCE: Final = 50
_ALL: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A question with its answer; `problem` says why they are not there, or what became of the call instead."""

    call: CallSummary
    question: str
    answer: str
    problem: str = ""


def show_logs(choice: CallChoice, place: str | None, *, as_json: bool) -> None:
    """Prints questions and answers, the newest first."""
    with reported(as_json=as_json), opened(place) as store:
        entries = [*islice(_entries(store, choice), choice.limit)]
        if as_json:
            write(json_line({"logs": [_facts(each) for each in entries], "exit_code": 0}))
            return
        if not entries:
            note(choice.why_none(store))
        elif sys.stdout.isatty():
            for entry in entries:
                show_lines(_lines(entry))
        else:
            show_table((), map(_cells, entries))
        if os.environ.get("ABSTRACTCORE_TRACES", "").strip() in ("", "off"):
            note("Nothing new is kept now; to keep it: export ABSTRACTCORE_TRACES=full")


def _entries(store: TraceStore, choice: CallChoice) -> Iterator[LogEntry]:
    """Yields entries, the newest first; of the calls of a question, the last one has the answer."""
    seen: set[tuple[str, str]] = set()
    for call in _calls(store, replace(choice, limit=_READ_AT_ONCE)):
        entry = _entry(store, call)
        key = (call.parent_id or call.trace_id, entry.question)
        if key not in seen:
            seen.add(key)
            yield entry


def _calls(store: TraceStore, choice: CallChoice) -> Iterator[CallSummary]:
    for skip in range(0, _ALL, choice.limit):
        found = store.calls(**choice.arguments(), operation="chat", skip=skip)
        yield from found
        if len(found) < choice.limit:
            return


def _entry(store: TraceStore, call: CallSummary) -> LogEntry:
    nodes = store.trace(call.trace_id)
    record = next(node.record for node in nodes if node.record.trace_id == call.trace_id)
    if not isinstance(record, CallRecord) or record.call is None:
        return LogEntry(call, "", "", NOT_KEPT)
    asked = next((each.text for each in reversed(record.call.messages) if each.role == "user"), "")
    answer = "" if record.reply is None else record.reply.text
    if record.error is not None:
        return LogEntry(call, asked, answer, f"{record.error.type}: {record.error.message}")
    return LogEntry(call, asked, answer, REDACTED if record.capture == "redacted" else "")


def _facts(entry: LogEntry) -> dict[str, Any]:
    texts = {"question": entry.question, "answer": entry.answer, "problem": entry.problem or None}
    return {**call_facts(entry.call), **texts}


def _cells(entry: LogEntry) -> tuple[str, ...]:
    call = entry.call
    cost = cost_of(call.cost, call.estimated_cost, call.saved_cost)
    model = f"{call.provider}/{call.model}"
    return call.trace_id, moment(call.started_at), model, cost, entry.question, entry.answer, entry.problem


def _lines(entry: LogEntry) -> Iterator[Line]:
    id, time, model, cost, question, answer, problem = _cells(entry)
    yield [(id, "bold"), (f"  {time}  {model}  {cost}", "dim")]
    for text, mark, style in ((question, "> ", ""), (answer, "  ", ""), (problem, "  ", "yellow")):
        if text:
            yield [(f"{mark}{shortened(visible(text), _LONGEST)}", style)]
    yield [("", "")]
