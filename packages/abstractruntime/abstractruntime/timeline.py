"""A ledger as lines that people read: what happened, how long it took, what it cost. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, cast

from abstractcore.schema import shown_json
from abstractcore.schema.amounts import seconds

from .json_documents import JSON, member
from .records import Record

_LONGEST: Final = 100


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One record. `seconds` is how long the effect took that it ends, `after` the time since the run was created."""

    seq: int
    after: float
    what: str
    seconds: float | None = None
    tokens: int = 0
    dollars: str = ""

    def cells(self) -> dict[str, object]:
        """Returns the cells of its row in a notebook."""
        return {
            "record": self.seq,
            "after": seconds(self.after),
            "what": self.what,
            "took": None if self.seconds is None else seconds(self.seconds),
            "tokens": self.tokens or None,
            "cost": Decimal(self.dollars) if self.dollars else None,
        }


def timeline(records: Iterable[Record], created: float | None = None) -> list[TimelineRow]:
    """Returns a row for each record of a run, from its first one on, or if that was `created` before, a later one."""
    rows: list[TimelineRow] = []
    begun: float | None = None
    for record in records:
        created = record.at if created is None else created
        body = record.body
        ends = member(member(body, "item"), "kind") == "result" or record.kind in ("retry", "interrupted")
        seconds = record.at - begun if ends and begun is not None and record.kind != "interrupted" else None
        if ends:
            begun = None
        if member(body, "effect") is not None or record.kind == "started":
            begun = record.at
        used = member(body, "used")
        rows.append(
            TimelineRow(
                record.seq, record.at - created, described(record), seconds, member(used, "tokens") or 0,
                _dollars(member(used, "dollars")),
            )
        )  # fmt: skip
    return rows


def described(record: Record) -> str:
    """Returns a record in one line."""
    if record.body is None:
        return f"{record.kind} (redacted)"
    describe = _KINDS.get(record.kind)
    return record.kind if describe is None else describe(record.body)


def shortened(value: JSON, longest: int = _LONGEST) -> str:
    """Returns JSON in one line of at most so many characters."""
    text = value if isinstance(value, str) else shown_json(value)
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _step(body: JSON) -> str:
    done = [_item(member(body, "item"))]
    if effect := member(body, "effect"):
        done.append(f"begin {_named(effect['kind'], effect['key'], 'effect')}")
    if waits := member(body, "waits"):
        done.append(f"wait for {', '.join(_named(wait['key'], wait['reason'], 'input') for wait in waits)}")
    if sends := member(body, "sends"):
        done.append(f"send {', '.join(send['key'] for send in sends)}")
    if children := member(body, "children"):
        done.append(f"start {', '.join(child['id'] for child in children)}")
    if ended := member(body, "ended"):
        done.append(_end(ended, member(body, "error")))
    return " → ".join(done)


def _item(item: JSON) -> str:
    text = str(member(item, "kind"))
    if (key := member(item, "key")) not in (None, "effect"):
        text += f" {key}"
    if sender := member(item, "sender"):
        text += f" by {sender}"
    if error := member(item, "error"):
        text += f": {_error(error)}"
    return text


def _end(status: str, error: JSON) -> str:
    return status if error is None else f"{status}: {_error(error)}"


def _error(error: JSON) -> str:
    return shortened(f"{member(error, 'type')}: {member(error, 'message')}")


def _named(name: str, detail: str, usual: str) -> str:
    return name if detail == usual else f"{name} ({detail})"


def _dollars(text: JSON) -> str:
    return "" if text in (None, "0") else str(text)


def _created(body: JSON) -> str:
    return f"created: {member(body, 'program')}"


def _started(body: JSON) -> str:
    return f"begin attempt {member(body, 'attempt')} ({member(body, 'why')})"


def _retry(body: JSON) -> str:
    return f"attempt {member(body, 'attempt')} failed: {_error(member(body, 'error'))}"


def _interrupted(body: JSON) -> str:
    return f"attempt {member(body, 'attempt')} was interrupted: nobody knows whether it was done"


def _decided(body: JSON) -> str:
    item = member(body, "item")
    return f"decided{_by(item)}: {member(member(item, 'payload'), 'decision')}"


def _journal(body: JSON) -> str:
    """Describes an event of an agent's loop."""
    entry = member(body, "entry")
    describe = _EVENTS.get(str(member(entry, "kind")))
    return f"loop: {member(entry, 'kind')}" if describe is None else describe(entry)


def _replied(entry: JSON) -> str:
    calls = [part for part in member(member(entry, "reply"), "parts") or () if member(part, "type") == "tool_call"]
    return f"reply: calls {', '.join(map(shown_call, calls))}" if calls else "reply: an answer"


def _decision(entry: JSON) -> str:
    allowed = [member(member(each, "call"), "name") for each in member(entry, "allowed") or ()]
    waiting = [member(member(each, "call"), "name") for each in member(entry, "pending") or ()]
    parts = [f"{', '.join(names)} {verb}" for names, verb in ((allowed, "may run"), (waiting, "waits")) if names]
    return f"decision: {'; '.join(parts) or 'nothing to run'}"


def _called(entry: JSON) -> str:
    step = member(entry, "step")
    return f"{member(member(step, 'call'), 'name')} ended: {member(step, 'outcome') or 'done'}"


def shown_call(call: JSON) -> str:
    """Returns a tool call in one line, as in `pay(to="Ann", euros=80)`."""
    try:
        arguments: JSON = json.loads(shown_json(json.loads(member(call, "arguments_text") or "{}")))
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return shortened(f"{member(call, 'name')}({member(call, 'arguments_text')})")
    given = cast("dict[str, JSON]", arguments).items()
    return shortened(f"{member(call, 'name')}({', '.join(f'{name}={shortened_json(value)}' for name, value in given)})")


def shown_question(asked: JSON) -> str:
    """Returns what a wait asks, in one line."""
    pending = member(asked, "pending")
    if pending is not None:
        return shown_call(member(pending, "call"))
    return "" if asked is None else shortened(asked)


def shortened_json(value: JSON) -> str:
    """Returns JSON in one short line."""
    return shortened(json.dumps(value, ensure_ascii=False), 40)


def _paused(body: JSON) -> str:
    return f"paused{_by(member(body, 'item'))}"


def _resumed(body: JSON) -> str:
    return f"resumed{_by(member(body, 'item'))}"


def _warning(body: JSON) -> str:
    return f"80 % of the limit of {member(body, 'limit')} is used"


def _ended(body: JSON) -> str:
    return _end(str(member(body, "ended")), member(body, "error"))


def _redacted(body: JSON) -> str:
    return f"record {member(body, 'seq')} was redacted"


def _by(item: JSON) -> str:
    return f" by {sender}" if (sender := member(item, "sender")) else ""


_EVENTS: Final[Mapping[str, Callable[[JSON], str]]] = {
    "start": lambda entry: "loop: begin",
    "request": lambda entry: f"request {member(entry, 'number')} of round {(member(entry, 'round') or 0) + 1}",
    "reply": _replied,
    "decision": _decision,
    "intent": lambda entry: f"begin {shown_call(member(entry, 'call'))}",
    "step": _called,
    "end": lambda entry: f"loop: {member(entry, 'status')}",
}
"""By the kind of an event of an agent's journal."""
_KINDS: Final[Mapping[str, Callable[[JSON], str]]] = {
    "created": _created,
    "step": _step,
    "started": _started,
    "retry": _retry,
    "interrupted": _interrupted,
    "decided": _decided,
    "journal": _journal,
    "paused": _paused,
    "resumed": _resumed,
    "warning": _warning,
    "ended": _ended,
    "redacted": _redacted,
}
