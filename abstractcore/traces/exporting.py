"""Records written to files: JSON lines, or Parquet for tables."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Final

from sqlalchemy import Connection, select

from ..database import Database
from ..errors import MissingExtraError
from ..private_files import private
from ..schema import SchemaError, TraceRecord, to_json
from ..schema.base_error import install_hint
from .column_values import dollars, in_calendar
from .filters import Filter
from .queries import records_of, scores_of
from .tables import records

_log = logging.getLogger("abstractcore.traces")
_CHUNK: Final = 500
_COLUMNS: Final = (
    *("kind", "trace_id", "parent_id", "provider", "model", "operation", "outcome", "tags"),
    *("started_at", "seconds", "seconds_to_first", "input_tokens", "output_tokens", "cached_tokens"),
    *("cost", "estimated_cost"),
)


def export(database: Database, path: Path, wanted: Filter) -> int:
    """Writes records to a file that must not exist, oldest first; returns how many. If it fails, it leaves no file."""
    write = _write_table if path.suffix == ".parquet" else _write_lines
    with open(path, "xb", opener=private) as file:
        try:
            return write(file, database, wanted)
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _write_lines(file: BinaryIO, database: Database, wanted: Filter) -> int:
    count = 0
    for rows in _chunks(database, wanted):
        lines = database.read(lambda connection, rows=rows: _lines(connection, rows))
        count += len(lines)
        file.writelines(line.encode() for line in lines)
    return count


def _lines(connection: Connection, rows: list[Any]) -> list[str]:
    scores = scores_of(connection, [row.trace_id for row in rows])
    return [
        f'{{"record":{to_json(record)},"scores":{_scores(scores.get(record.trace_id, ()))}}}\n'
        for record in _readable(connection, rows)
    ]


def _readable(connection: Connection, rows: list[Any]) -> list[TraceRecord]:
    """Returns the records of rows; a damaged one is left out, with a warning."""
    try:
        return records_of(connection, rows)
    except SchemaError as error:
        if len(rows) == 1:
            _log.warning("%s: it is left out", error)
            return []
    return [record for row in rows for record in _readable(connection, [row])]


def _scores(scores: tuple[Any, ...]) -> str:
    return json.dumps([asdict(score) for score in scores], ensure_ascii=False)


def _write_table(file: BinaryIO, database: Database, wanted: Filter) -> int:
    try:
        import pyarrow  # type: ignore[import-not-found]
        import pyarrow.parquet  # type: ignore[import-not-found]
    except ImportError:
        message = "Parquet files require pyarrow, which is not installed."
        raise MissingExtraError(message, hint=install_hint("pyarrow")) from None
    arrow: Any = pyarrow
    types = {"started_at": arrow.timestamp("us", tz="UTC"), "seconds": arrow.float64()}
    types |= {"seconds_to_first": arrow.float64()}
    types |= {name: arrow.int64() for name in ("input_tokens", "output_tokens", "cached_tokens")}
    types |= {name: arrow.decimal128(38, 12) for name in ("cost", "estimated_cost")}
    schema = arrow.schema([(name, types.get(name, arrow.string())) for name in _COLUMNS])
    count = 0
    with arrow.parquet.ParquetWriter(file, schema) as writer:
        for rows in _chunks(database, wanted):
            count += len(rows)
            writer.write_table(arrow.Table.from_pylist([*map(_of_table, rows)], schema=schema))
    return count


def _of_table(row: Any) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in _COLUMNS}
    costs = {name: None if values[name] is None else dollars(values[name]) for name in ("cost", "estimated_cost")}
    return {**values, **costs, "started_at": round(in_calendar(row.started_at) * 1e6)}


def _chunks(database: Database, wanted: Filter) -> Iterator[list[Any]]:
    """Yields the rows, each chunk in a transaction of its own."""
    last = 0
    while True:
        statement = (
            select(records)
            .where(records.c.id > last, *wanted.conditions(database.dialect))
            .order_by(records.c.id)
            .limit(_CHUNK)
        )
        rows = database.read(lambda connection, statement=statement: [*connection.execute(statement)])
        if not rows:
            return
        yield rows
        last = rows[-1].id
