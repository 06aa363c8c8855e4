"""Calls found by their columns and words, and the tree that a record is in."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import reduce
from operator import add
from typing import Any, Final, Literal, TypeAlias, cast

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from ..database import Statement
from ..errors import InvalidInputError
from ..schema import CallRecord, CostSums, Outcome, ToolRecord, TraceRecord
from ..schema.amounts import cost_of, counted, moment, seconds, sums
from ..schema.base_error import shown
from ..schema.displays import DisplayTable, IndentedCell, SmallPrint
from ..schema.reprs import RichDisplay
from .column_values import dollars, outcome_of, searched, tags_of
from .contents import unpacked
from .filters import Filter, check_integer, with_words
from .rows import decoded
from .tables import contents, messages, records, scores

CallOrder: TypeAlias = Literal["newest", "stored", "dearest", "slowest"]
_MOST_NODES: Final = 10_000
_MOST_SHOWN: Final = 200
"""How many nodes of a tree a notebook shows."""
_CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class CallSummary(RichDisplay):
    """One call, without its content: `TraceStore.trace` returns all of it. Costs are in US dollars; `saved_cost` is
    what the answer of a cache cost when it was asked for. `number` is higher for calls that were stored later; calls of
    several programs may become visible in another order.
    """

    trace_id: str
    parent_id: str | None
    provider: str
    model: str
    operation: str
    outcome: Outcome
    started_at: float
    seconds: float
    seconds_to_first: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost: Decimal | None
    estimated_cost: Decimal | None
    tags: Mapping[str, str]
    number: int = 0
    saved_cost: Decimal | None = None

    @property
    def time(self) -> datetime:
        """When it began, in UTC."""
        return datetime.fromtimestamp(self.started_at, UTC)

    def __display_row__(self) -> dict[str, object]:
        return {
            "began": moment(self.started_at),
            "model": f"{self.provider}/{self.model}",
            "operation": self.operation,
            "outcome": self.outcome,
            "time": seconds(self.seconds),
            "tokens in": self.input_tokens,
            "tokens out": self.output_tokens,
            "cost": cost_of(self.cost, self.estimated_cost, self.saved_cost),
            "tags": ", ".join(f"{name}: {value}" for name, value in self.tags.items()),
            "trace": self.trace_id,
        }


@dataclass(frozen=True, slots=True)
class TraceScore:
    """A score of a record."""

    name: str
    value: float
    """The score: a number of your own scale."""
    comment: str | None
    """Why it has the score."""
    at: float


@dataclass(slots=True)
class TraceNode(RichDisplay):
    """A record in its tree. `name` is the tool's, the model's or the kind of interaction."""

    record: TraceRecord
    depth: int = 0
    """How many records are above it."""
    scores: tuple[TraceScore, ...] = ()
    """Scores that people or programs gave it."""
    children: list[TraceNode] = field(default_factory=list["TraceNode"])
    """The records that name it as their parent, by time."""

    @property
    def name(self) -> str:
        """What was called."""
        record = self.record
        if isinstance(record, ToolRecord):
            return record.tool
        return record.model if isinstance(record, CallRecord) else record.kind

    def __display__(self) -> Iterator[object]:
        """Yields a table of this node and those below it: when each began, in seconds after the first, its time and its
        cost.
        """
        nodes = [*self]
        rows = [each._tree_row(self) for each in nodes[:_MOST_SHOWN]]
        yield DisplayTable(rows, len(nodes), _MOST_SHOWN)
        costs = reduce(add, (CostSums.of(each.record) for each in nodes), CostSums())
        yield SmallPrint([f"{counted(len(nodes), 'record')}, {sums(costs)}"])

    def _tree_row(self, top: TraceNode) -> dict[str, object]:
        row = {**self.record.__display_row__(), "name": IndentedCell(self.name, self.depth - top.depth)}
        row["began"] = f"+{self.record.started_at - top.record.started_at:.2f} s"
        return row | {"scores": ", ".join(f"{each.name}: {each.value:g}" for each in self.scores)}

    def __iter__(self) -> Iterator[TraceNode]:
        """Yields this node and those below it, depth first."""
        waiting: list[TraceNode] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


@dataclass(frozen=True, slots=True)
class Trace(RichDisplay):
    """The tree of records that belong together, such as the calls and tool runs of one loop. Iteration yields its nodes
    depth first. `is_cut` says that it has more than 10,000 records, of which these are the first.
    """

    root: TraceNode
    """The record that has no parent."""
    is_cut: bool = False

    def __iter__(self) -> Iterator[TraceNode]:
        return iter(self.root)

    def __display__(self) -> Iterable[object]:
        return self.root.__display__()

    @property
    def costs(self) -> CostSums:
        """The sums over all its records."""
        sums = CostSums()
        for node in self:
            sums += CostSums.of(node.record)
        return sums


def calls(
    connection: Connection, wanted: Filter, words: str | None, order: CallOrder, skip: int, limit: int
) -> list[CallSummary]:
    """Returns the first calls that are wanted."""
    if not isinstance(order, str) or order not in _ORDERS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(
            f"expected 'newest', 'stored', 'dearest' or 'slowest', got {shown(order)}", path="order"
        )
    check_integer(skip, 0, "skip")
    check_integer(limit, 1, "limit")
    dialect = connection.dialect.name
    statement = select(*_SUMMARY).where(records.c.kind == "call", *wanted.checked().conditions(dialect))
    if words is not None:
        of_text = select(messages.c.record).where(messages.c.content.in_(with_words(dialect, words)))
        statement = statement.where(records.c.id.in_(of_text))
    ordered = statement.order_by(*_ORDERS[order], records.c.id.desc()).offset(skip).limit(limit)
    return [_summary(row) for row in connection.execute(ordered)]


def trace(connection: Connection, trace_id: str) -> Trace:
    """Returns the tree that a record is in."""
    first = _row_of(connection, trace_id)
    if first is None:
        raise _unknown(trace_id)
    seen = {first.trace_id}
    while first.parent_id is not None and first.parent_id not in seen:
        above = _row_of(connection, first.parent_id)
        if above is None:
            break
        first = above
        seen.add(first.trace_id)
    rows, is_cut = _below(connection, first)
    found = dict(zip([row.trace_id for row in rows], records_of(connection, rows), strict=True))
    of_ids = scores_of(connection, list(found))
    nodes = {id: TraceNode(record, scores=of_ids.get(id, ())) for id, record in found.items()}
    for id, node in nodes.items():
        parent = nodes.get(node.record.parent_id or "")
        if parent is not None and id != first.trace_id:
            node.depth = parent.depth + 1
            parent.children.append(node)
    for node in nodes.values():
        node.children.sort(key=lambda each: each.record.started_at)
    return Trace(nodes[first.trace_id], is_cut)


def ids(connection: Connection, beginning: str, limit: int) -> list[str]:
    """Returns the first ids of records that begin with a text."""
    check_integer(limit, 1, "limit")
    beginning = searched(beginning, "beginning")
    column: Any = records.c.trace_id
    if connection.dialect.name == "postgresql":
        column = column.collate("C")
    found: list[str] = []
    after = column >= beginning
    while len(found) < limit:  # step by step along the index: a record that replaces another one has its id too
        row = connection.execute(select(records.c.trace_id).where(after).order_by(column).limit(1)).first()
        if row is None or not row.trace_id.startswith(beginning):
            break
        found.append(row.trace_id)
        after = column > row.trace_id
    return found


def records_of(connection: Connection, rows: Sequence[Any]) -> list[TraceRecord]:
    """Returns the records of rows, with their contents."""
    bodies: dict[int, dict[int, bytes]] = {row.id: {} for row in rows}
    ids = list(bodies)
    for start in range(0, len(ids), _CHUNK):
        statement = (
            select(messages.c.record, messages.c.position, contents.c.packed, contents.c.body)
            .join(contents, contents.c.id == messages.c.content)
            .where(messages.c.record.in_(ids[start : start + _CHUNK]))
        )
        for row in connection.execute(statement):
            bodies[row.record][row.position] = unpacked(row.packed, row.body)
    return [decoded(row, bodies[row.id]) for row in rows]


def scores_of(connection: Connection, ids: Sequence[str]) -> dict[str, tuple[TraceScore, ...]]:
    """Returns the scores of records, by trace id."""
    found: dict[str, tuple[TraceScore, ...]] = {}
    for start in range(0, len(ids), _CHUNK):
        statement = select(scores).where(scores.c.trace_id.in_(ids[start : start + _CHUNK])).order_by(scores.c.at)
        for row in connection.execute(statement):
            score = TraceScore(row.name, row.value, row.comment, row.at)
            found[row.trace_id] = (*found.get(row.trace_id, ()), score)
    return found


def score(connection: Connection, trace_id: str, name: str, value: float, comment: str | None, now: float) -> None:
    """Adds a score, or replaces that of the same name."""
    name = searched(name, "name")
    comment = None if comment is None else searched(comment, "comment")
    if not name:
        raise InvalidInputError("a score needs a name", path="name")
    if not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a finite number, got {shown(value)}", path="value")
    if _row_of(connection, trace_id) is None:
        raise _unknown(trace_id)
    connection.execute(delete(scores).where(scores.c.trace_id == trace_id, scores.c.name == name))
    row = {"trace_id": trace_id, "name": name, "value": float(value), "comment": comment, "at": now}
    connection.execute(insert(scores).values(row))


def _below(connection: Connection, root: Any) -> tuple[list[Any], bool]:
    """Returns a row and those below it, each after its parent; and whether there are more."""
    rows = {root.trace_id: root}
    level = [root.trace_id]
    while level:
        below: list[str] = []
        for start in range(0, len(level), _CHUNK):
            statement = (
                select(records)
                .where(records.c.parent_id.in_(level[start : start + _CHUNK]))
                .order_by(records.c.started_at, records.c.id)
                .limit(_MOST_NODES + 1)
            )
            for row in connection.execute(statement):
                if row.trace_id not in rows:
                    if len(rows) >= _MOST_NODES:
                        return [*rows.values()], True
                    rows[row.trace_id] = row
                    below.append(row.trace_id)
        level = below
    return [*rows.values()], False


def _row_of(connection: Connection, trace_id: str) -> Any:
    return _FIND_RECORD.first(connection, trace_id=searched(trace_id, "trace_id"))


def _summary(row: Any) -> CallSummary:
    return CallSummary(
        row.trace_id,
        row.parent_id,
        row.provider,
        row.model,
        row.operation,
        cast(Outcome, outcome_of(row)),
        row.started_at,
        row.seconds,
        row.seconds_to_first,
        row.input_tokens,
        row.output_tokens,
        None if row.cost is None else dollars(row.cost),
        None if row.estimated_cost is None else dollars(row.estimated_cost),
        tags_of(row),
        row.id,
        None if row.saved_cost is None else dollars(row.saved_cost),
    )


def _unknown(trace_id: str) -> InvalidInputError:
    return InvalidInputError(f"no record {shown(trace_id)} is stored", path="trace_id")


_SUMMARY_NAMES: Final = (
    *("trace_id", "parent_id", "provider", "model", "operation", "outcome", "started_at", "seconds"),
    *("seconds_to_first", "input_tokens", "output_tokens", "cost", "estimated_cost", "saved_cost", "tags", "id"),
)
_SPENT: Final = func.coalesce(records.c.cost, 0) + func.coalesce(records.c.estimated_cost, 0)
_ORDERS: Final = {
    "newest": [records.c.started_at.desc()],
    "stored": [],
    "dearest": [_SPENT.desc(), records.c.started_at.desc()],
    "slowest": [records.c.seconds.desc(), records.c.started_at.desc()],
}
_SUMMARY: Final = [records.c[name] for name in _SUMMARY_NAMES]
_FIND_RECORD: Final = Statement(
    select(records).where(records.c.trace_id == bindparam("trace_id")).order_by(records.c.id.desc()).limit(1)
)
