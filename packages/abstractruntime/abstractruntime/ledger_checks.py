"""`LedgerCheck` follows the records of one ledger, and compares them with the row of its run: it reads no database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, cast

from abstractcore.schema import RichDisplay, SmallPrint, TableList
from abstractcore.schema.amounts import counted

from .errors import LedgerError
from .json_documents import JSON, canonical, canonical_around, digest, member, parsed
from .records import ENDED, Spent, check_used, envelope_hash
from .store.bodies import artifact_hashes
from .store.reading import DAMAGED


@dataclass(frozen=True, slots=True)
class Problem(RichDisplay):
    """What is wrong with a run, and at which record: 0 for the run's row, and for values that no record has."""

    run: str
    seq: int
    message: str

    def __display_row__(self) -> dict[str, object]:
        return {"run": self.run, "record": self.seq, "problem": self.message}

    def __str__(self) -> str:
        return f"run {self.run!r}, record {self.seq}: {self.message}"


@dataclass(frozen=True, slots=True)
class LedgerReport(RichDisplay):
    """The result of a verification: how many records a ledger has, the hash of the last one, and what is wrong."""

    run: str
    records: int
    head: str | None
    """The hash of the last record."""
    problems: tuple[Problem, ...] = ()
    """What is wrong, in the order of the records."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __display__(self) -> Iterator[object]:
        if self.problems:
            yield TableList(self.problems)
        found = f"{counted(self.records, 'record')}, {counted(len(self.problems), 'problem')}"
        yield SmallPrint([f"run {self.run}: {found}"])

    def check(self) -> LedgerReport:
        """Returns itself; raises `LedgerError` with the first problem, if there is one."""
        if self.problems:
            first, others = self.problems[0], len(self.problems) - 1
            more = f" (and {others} more)" if others else ""
            hint = f"See all of them: abstractcore runs verify {self.run}"
            raise LedgerError(f"{first}{more}", run=self.run, seq=first.seq, hint=hint)
        return self


@dataclass
class LedgerCheck:
    """Follows the records of one ledger. `artifact` returns a value that is stored apart, None without it."""

    run: str
    artifact: Callable[[str], Any]
    _count: int = 0
    _head: str | None = None
    _is_linked: bool = True
    """Whether the hash of the record before is known."""
    _problems: list[Problem] = field(default_factory=list[Problem])
    _deleted: dict[int, str] = field(default_factory=dict[int, str])
    """The hashes of bodies that are not there, by the number of their record."""
    _redacted: dict[int, str] = field(default_factory=dict[int, str])
    """Those that records report as redacted."""
    _checked: set[str] = field(default_factory=set[str])
    """The hashes of values that were looked up."""
    _tokens: int = 0
    _dollars: Decimal = Decimal(0)
    """What records say that was used."""
    _created: JSON = None
    _last_step: JSON = None
    _ended: JSON = None

    def problem(self, seq: int, message: str) -> None:
        """Adds a problem."""
        self._problems.append(Problem(self.run, seq, message))

    def result(self) -> LedgerReport:
        """Returns what was found."""
        return LedgerReport(self.run, self._count, self._head, tuple(self._problems))

    def add(self, seq: Any, kind: Any, microseconds: int | None, body: Any, redacted: Any, hash: Any) -> bool:
        """Checks the next record; False if those after it cannot be read either."""
        expected = self._count + 1
        if type(seq) is not int or seq < expected:
            self.problem(expected, f"expected record {expected}, got one with the number {seq!r:.80}")
            return False
        if seq > expected:
            what = f"record {expected} is" if seq == expected + 1 else f"records {expected} to {seq - 1} are"
            self.problem(expected, f"{what} missing")
            self._is_linked = False
        self._count = seq
        wrong = [
            name
            for name, is_right in (
                ("kind", isinstance(kind, str)),
                ("at", microseconds is not None),
                ("body", body is None or isinstance(body, bytes)),
                ("redacted", redacted is None or isinstance(redacted, str)),
                ("hash", isinstance(hash, str)),
            )
            if not is_right
        ]
        if wrong:
            self.problem(seq, f"values of another type than they were written with: {', '.join(wrong)}")
            self._head, self._is_linked = (hash, True) if isinstance(hash, str) else (None, False)
            return True
        if body is None:
            self._deleted[seq] = redacted or ""
        body_sha256 = redacted or "" if body is None else digest(body)
        hashed = {
            "at": microseconds, "body": body_sha256, "kind": kind, "prev_hash": self._head, "run": self.run, "seq": seq
        }  # fmt: skip
        if self._is_linked and _hash(hashed) != hash:
            self.problem(seq, "its hash does not fit what it has, or the record before it")
        self._head, self._is_linked = hash, True
        if body is not None and redacted is not None:
            self.problem(seq, "it has a body, and the hash of one that was deleted")
        if body is not None:
            self._body(seq, kind, body)
        return True

    def _body(self, seq: int, kind: str, data: bytes) -> None:
        """Checks what a body has, and the values of it that are stored apart."""
        body = _object(data)
        if body is None:
            self.problem(seq, "its body is not a JSON object as it is written")
            return
        for sha256 in artifact_hashes(body):
            self._artifact(seq, sha256)
        if kind == "created":
            self._created = body
        elif kind == "step":
            self._last_step = body
        elif kind == "redacted" and type(body.get("seq")) is int and "sha256" in body:
            self._redacted[body["seq"]] = str(body["sha256"])
        if kind in ("step", "ended"):
            self._used(seq, body.get("used"))
            if "ended" in body:
                self._ended = body

    def _used(self, seq: int, used: Any) -> None:
        """Adds what a record says that was used."""
        if used is None:
            return
        try:
            tokens, dollars = used["tokens"], Decimal(used["dollars"])
            check_used(tokens, dollars)
        except DAMAGED:
            self.problem(seq, "what it says was used cannot be counted")
            return
        self._tokens += tokens
        self._dollars += dollars

    def _artifact(self, seq: int, sha256: Any) -> None:
        if not isinstance(sha256, str):
            self.problem(seq, "the hash of a value that is stored apart is no text")
            return
        self._checked.add(sha256)
        data = self.artifact(sha256)
        if data is None:
            self.problem(seq, f"the value {sha256} of it is missing")
        elif not isinstance(data, bytes) or digest(data) != sha256:
            self.problem(seq, f"the bytes of the value {sha256} do not fit their hash")

    def end(self, count: Any, head: Any) -> None:
        """Compares the ledger with the number of records and the head that its run has."""
        for seq, sha256 in self._deleted.items():
            if not sha256 or self._redacted.get(seq) != sha256:
                self.problem(seq, "its body is gone, and no record reports that it was redacted")
        if type(count) is not int or not isinstance(head, str):
            self.problem(0, "the run has no number of records or no head")
        elif count > self._count:
            first, what = self._count + 1, "record is" if count == self._count + 1 else "records are"
            self.problem(first, f"{count - self._count} {what} missing at the end: the run has {count}")
        elif count < self._count:
            self.problem(count + 1, f"the run has {count} records, and its ledger {self._count}")
        elif head != self._head:
            self.problem(count, "its hash is not the head of the run")

    def row(self, row: Any) -> None:
        """Compares the ledger with the columns of its run."""
        created, step, last = self._created, self._last_step, self._ended
        if created is not None:
            for name in ("program", "parent", "session"):
                if created.get(name) != getattr(row, name):
                    self.problem(0, f"the run has another {name} than it was created with")
            if _value(row.limits) != created.get("limits"):
                self.problem(0, "the run has other limits than it was created with")
        if self._redacted:
            return  # with the body, what came of it was deleted
        self._account(_value(row.spent))
        if step is not None and (not isinstance(row.state, bytes) or digest(row.state) != step.get("state")):
            self.problem(0, "the run has another state than its last step")
        ended = member(last, "ended")
        if (row.status if row.status in ENDED else None) != ended:
            self.problem(0, f"the run is {row.status!r:.40}, and its last record has {ended or 'no end'}")
        elif ended is not None:
            for name in ("output", "error"):
                if not _same_value(getattr(row, name), last.get(name)):
                    self.problem(0, f"the run has another {name} than its last record")

    def _account(self, spent: JSON) -> None:
        """Compares what the run has spent with what its records say that was used."""
        try:
            found = Spent.from_data(spent)
        except DAMAGED:
            self.problem(0, "what the run has spent cannot be counted")
            return
        if (found.tokens, found.dollars) != (self._tokens, self._dollars):
            used = f"{self._tokens:,} tokens and {self._dollars} dollars"
            self.problem(0, f"the run has spent another amount than its records say: {used}")

    def others(self, hashes: list[Any]) -> None:
        """Checks the values that no record has."""
        for sha256 in hashes:
            if sha256 not in self._checked:
                self._artifact(0, sha256)


def _object(data: bytes) -> dict[str, JSON] | None:
    """Returns the body of these bytes; None if they are not what is written for a body."""
    try:
        body: JSON = parsed(data)
        is_written = isinstance(body, dict) and canonical_around(body, "body") == data
        return cast("dict[str, JSON]", body) if is_written else None
    except (ValueError, RecursionError):  # and InvalidInputError, which is a ValueError
        return None


def _value(stored: Any) -> JSON:
    """Returns the value of a column; None for one that has no JSON."""
    try:
        return parsed(stored)
    except (ValueError, TypeError, RecursionError):
        return None


def _hash(hashed: dict[str, JSON]) -> str | None:
    try:
        return envelope_hash(hashed)
    except UnicodeEncodeError:
        return None


def _same_value(stored: Any, value: JSON) -> bool:
    """Whether a column has the value of a record, which may be stored apart."""
    if value is None:
        return stored is None or stored == b"null"
    if not isinstance(stored, bytes):
        return False
    apart = artifact_hashes({"output": value})
    if apart:
        return digest(stored) == apart[0]
    return stored == canonical(value, "value")
