"""`TraceStore`: the traces of calls in a database, kept and read."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import inspect
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from ..copying import NotCopied
from ..database import Database, DatabaseError, DatabaseReplacedError, file_has_table
from ..errors import ConfigurationError, InvalidInputError
from ..registry.suggestions import similar_path
from ..schema import Capture
from ..schema.displays import TableList
from ..telemetry import Recorder, default_recorder
from ..user_folders import data_folder
from . import costs, excerpts, exporting, queries
from .batches import BatchWriter
from .costs import CostRow
from .filters import Filter
from .keeping import Keeping, OpenKeepings, Redactor
from .process_locks import ProcessLock
from .pruning import Pruned, Pruner
from .queries import CallOrder, CallSummary, Trace
from .rows import EncodedRecord
from .tables import POSTGRESQL, SQLITE, records
from .times import When, seconds_of

STORE_VARIABLE = "ABSTRACTCORE_TRACES_STORE"
_log = logging.getLogger("abstractcore.traces")
_HOW_TO_KEEP = (
    "Keep traces of every program: export ABSTRACTCORE_TRACES=full. "
    f"If they are in another place: export {STORE_VARIABLE}=PLACE."
)
_OTHER_PLACE = "Name the file or URL that traces are kept in; without one, it is {file}."


class TraceStore(NotCopied):
    """Traces in a SQLite file, by default `traces.db` in the user's data folder, or in PostgreSQL by its URL.

    The database is opened when it is first used. `keep_days` and `keep_bytes` bound what is kept: older records are
    removed from time to time while traces are written, and by `prune`. Sums of costs stay. Threads share a store.

    Raises `ConfigurationError` for an invalid place and `MissingExtraError` without the driver of the database. Each
    method that reads raises `DatabaseError` if the database fails, and `ConfigurationError` for a later version's.
    """

    _holds = "connections"
    _instead = "Make another one in the other process."

    def __init__(
        self, place: str | Path | None = None, *, keep_days: float | None = None, keep_bytes: int | None = None
    ) -> None:
        for name, value in (("keep_days", keep_days), ("keep_bytes", keep_bytes)):
            if value is not None and not value > 0:
                raise InvalidInputError(f"expected a number above 0, got {value!r}", path=name)
        file = _file_of(place)
        self._place = str(place) if file is None or _is_url(place) else file
        self._opening = ProcessLock()
        self._open(Database(self._place))
        self._pruner = Pruner(self._database, keep_days, keep_bytes)
        self._keepings = OpenKeepings()

    @property
    def database(self) -> Database:
        """The database with its tables; raises `DatabaseError` if it cannot be used."""
        if not self._is_open:
            with self._opening:
                if not self._is_open:
                    with _other_place_named():
                        self._database.migrate(self._schema)
                    self._is_open = True
        return self._database

    @classmethod
    def existing(
        cls, place: str | Path | None = None, *, keep_days: float | None = None, keep_bytes: int | None = None
    ) -> TraceStore:
        """Returns the store of a place that has traces, or had some; makes neither a file nor tables.

        Raises `ConfigurationError` for a place without traces, and what the constructor and methods that read raise.
        """
        file = _file_of(place)
        hint = _HOW_TO_KEEP if place is None else _OTHER_PLACE.format(file=_file_of(None))
        if file is not None:
            if not file.exists():
                problem = f"no traces are kept in {file}: there is no such file"
                raise ConfigurationError(problem, hint=similar_path(str(file)) or hint)
            if file_has_table(file, records.name) is False:
                raise ConfigurationError(f"{file} has no traces", hint=hint)
        store = cls(place, keep_days=keep_days, keep_bytes=keep_bytes)
        if file is None:
            try:
                has_traces = store._database.read(lambda connection: inspect(connection).has_table(records.name))
                if not has_traces:
                    raise ConfigurationError("the database has no traces", hint=hint)
            except BaseException:
                store.close()
                raise
        return store

    @property
    def losses(self) -> int:
        """How many records were lost: the sum of `lost` of all its `keep`."""
        return self._keepings.losses

    def keep(self, capture: Capture = "redacted", *, redact: Redactor | None = None) -> Keeping:
        """Keeps the records of calls, interactions and tool runs from now on: until `close`, or the end of `with`.

        `capture` is how much content is kept: "off", "redacted" (sizes instead of texts and files) or "full". `redact`
        is a function that returns what is kept of a record, or None; if it raises, nothing is. A database that fails
        neither fails nor blocks a call: records wait for it, up to 10,000 of them; then they are lost, and counted.

        Applies to LLMs created without `services`, as `subscribe`; for others use `keep_for(services.records)`.
        """
        return self.keep_for(default_recorder(), capture, redact=redact)

    def keep_for(self, recorder: Recorder, capture: Capture = "redacted", *, redact: Redactor | None = None) -> Keeping:
        """Keeps the records of a recorder, such as `services.records`, as `keep` does."""
        return Keeping(self._write, recorder, capture, redact, self._keepings)

    def calls(
        self,
        *,
        since: When = None,
        until: When = None,
        model: str | None = None,
        operation: str | None = None,
        tags: Mapping[str, str] | None = None,
        failed: bool | None = None,
        text: str | None = None,
        after: int | None = None,
        order: CallOrder = "newest",
        skip: int = 0,
        limit: int = 100,
    ) -> list[CallSummary]:
        """Returns calls, those that began last first; "stored" are those first that were stored last, "dearest" and
        "slowest" are other orders. `skip` leaves the first ones out.

        `text` are words that all occur in one message of a call, or in its input; words in quotes follow each other.
        `failed` chooses calls that ended without a result, or those with one. `after` is the `number` of a call: those
        that were stored later.

        `since` and `until` are datetimes, seconds since the epoch, or texts such as "7d" or "2026-11-01". Raises
        `InvalidInputError` for another time or order, and for a value of another type.
        """
        wanted = Filter(self._time(since, "since"), self._time(until, "until"), model, operation, tags, failed, after)
        found = self.database.read(lambda connection: queries.calls(connection, wanted, text, order, skip, limit))
        return TableList(found)

    def trace(self, trace_id: str) -> Trace:
        """Returns the whole tree that a record is in; raises `InvalidInputError` if it is not stored."""
        return self.database.read(lambda connection: queries.trace(connection, trace_id))

    def ids(self, beginning: str, *, limit: int = 10) -> list[str]:
        """Returns the ids of records that begin with a text, at most `limit`, in their order.

        `beginning` is how they begin.
        """
        return self.database.read(lambda connection: queries.ids(connection, beginning, limit))

    def excerpts(self, text: str, trace_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Returns, by their ids, the parts of calls' texts around the words of a search. Each is a tuple whose texts at
        odd indexes are the words. Raises `InvalidInputError` if there are no words. `trace_ids` are the records that
        are looked through.
        """
        return self.database.read(lambda connection: excerpts.excerpts(connection, text, trace_ids))

    def costs(
        self,
        *,
        by: Sequence[str] = ("model",),
        since: When = "7d",
        until: When = None,
        model: str | None = None,
        tags: Mapping[str, str] | None = None,
        failed: bool | None = None,
    ) -> list[CostRow]:
        """Returns sums of costs, the dearest first, by "model", "provider", "operation", "outcome", "hour", "day" (in
        UTC), "tool", or a tag such as "tag:team".

        The outcome of an answer that was thrown away and asked for again is "discarded", that of attempts which others
        followed "retried". A group is None for calls without the tag. The hours of `since` and `until` count whole.
        `model`, `tags` and `failed` choose calls as in `calls`.

        Sums with at most one tag and any outcome do not read the calls, and stay when these are removed. Raises
        `InvalidInputError` for another name.
        """
        wanted = Filter(self._time(since, "since"), self._time(until, "until"), model, None, tags, failed)
        return TableList(self.database.read(lambda connection: costs.costs(connection, by, wanted)))

    def names(self, of: str) -> list[str]:
        """Returns the names of "model", "provider", "operation", "tool" or "tag", or the values of a tag such as
        "tag:team", that calls have or had, in their order.

        They are those of the sums of costs, which stay. Raises `InvalidInputError` for another text.
        """
        return self.database.read(lambda connection: costs.names(connection, of))

    def score(self, trace_id: str, name: str, value: float, comment: str | None = None) -> None:
        """Adds a score to a record, or replaces that of the same name.

        Raises `InvalidInputError` if the record is not stored, or the value is not a finite number. `comment` says why.
        """
        self.database.write(lambda connection: queries.score(connection, trace_id, name, value, comment, time.time()))

    def export(
        self,
        path: str | Path,
        *,
        since: When = None,
        until: When = None,
        model: str | None = None,
        tags: Mapping[str, str] | None = None,
        failed: bool | None = None,
    ) -> int:
        """Writes records, oldest first, to a file that must not exist; returns how many. They are calls, interactions
        and tool runs.

        A path that ends with ".parquet" gets a table of the columns, others JSON lines: a record with its scores in
        each. `failed` is as for `calls`. A record that is damaged is left out, with a warning in the log. Raises
        `MissingExtraError` for a table without pyarrow, and `OSError`.
        """
        since, until = self._time(since, "since"), self._time(until, "until")
        return exporting.export(self.database, Path(path), Filter(since, until, model, None, tags, failed).checked())

    def prune(self) -> Pruned:
        """Removes what is older than `keep_days`, and the oldest records above `keep_bytes`."""
        return self._pruner.prune(self.database, time.time())

    def flush(self, timeout: float | None = None) -> bool:
        """Waits up to `timeout` seconds until all records so far are written; returns whether they are."""
        end = None if timeout is None else time.monotonic() + timeout
        flushed = True
        for keeping in self._keepings:
            flushed &= keeping.flush(None if end is None else max(0.0, end - time.monotonic()))
        return flushed

    def close(self) -> None:
        """Ends keeping traces, and closes the database."""
        for keeping in self._keepings:
            keeping.close()
        self._database.close()

    def _open(self, database: Database) -> None:
        """Uses a database, whose tables are made when it is first used."""
        self._database = database
        self._schema = (POSTGRESQL if database.dialect == "postgresql" else SQLITE).schema
        self._writer = BatchWriter(database)
        self._is_open = False

    def _write(self, batch: Sequence[EncodedRecord]) -> None:
        try:
            folded = self._written(batch)
        except DatabaseReplacedError as error:  # someone removed the file, to be rid of what was in it
            _log.warning("traces are written to a new file: %s", error.message)
            self._database.close()
            self._open(Database(self._place))
            folded = self._written(batch)
        costs.warn_of_folded(folded)
        self._pruner.after(self._database, len(batch))

    def _written(self, batch: Sequence[EncodedRecord]) -> set[str]:
        _ = self.database
        return self._writer.write(batch)

    @staticmethod
    def _time(when: When, path: str) -> float | None:
        return seconds_of(when, path, time.time())


def _is_url(place: str | Path | None) -> bool:
    return isinstance(place, str) and "://" in place


@contextmanager
def _other_place_named() -> Generator[None]:
    """In its body, the hint for a file that cannot be written says how to keep traces elsewhere: on a file system that
    is read-only, nothing makes it writable.
    """
    try:
        yield
    except DatabaseError as error:
        if error.hint and (error.code or "").startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")):
            here = error.hint[0].lower() + error.hint[1:]
            error.hint = f"Keep traces elsewhere: export {STORE_VARIABLE}=PLACE. Or {here}"
        raise


def _file_of(place: str | Path | None) -> Path | None:
    """Returns the file of a place; None for a server, and for a URL that is not valid."""
    if place is None:
        return data_folder() / "traces.db"
    if not _is_url(place):
        return Path(place).expanduser()
    try:
        url = make_url(str(place))
    except (ArgumentError, ValueError):
        return None
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
