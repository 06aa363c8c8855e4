"""`Statement`: a statement that is made and compiled once, for those that every call executes."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeAlias

from sqlalchemy import Connection, Delete, Insert, Select, Update

from ..errors import InvalidInputError
from .failures import lost_connection

_Source: TypeAlias = "Select[*tuple[Any, ...]] | Insert | Update | Delete"
_Processor: TypeAlias = Callable[[Any], Any]


class Statement:
    """A `select`, `insert`, `update` or `delete` of SQLAlchemy whose values are `bindparam`s, and are given by name.

    The driver gets it without SQLAlchemy's work for each execution, which costs more than SQLite itself. A list for
    `IN` is not possible, and columns have no defaults that Python computes.
    """

    def __init__(self, statement: _Source) -> None:
        self._statement = statement
        self._compiled: dict[tuple[str, str], _Compiled] = {}
        """By the name of the database and of the driver."""

    def all(self, connection: Connection, /, **values: Any) -> list[Any]:
        """Returns the rows, as named tuples."""
        compiled = self._for(connection.dialect)
        with closing(compiled.executed(connection, values)) as cursor:
            rows = cursor.fetchall()
            return [*map(compiled.reader(cursor), rows)]

    def first(self, connection: Connection, /, **values: Any) -> Any:
        """Returns the first row, as a named tuple; None without one."""
        compiled = self._for(connection.dialect)
        with closing(compiled.executed(connection, values)) as cursor:
            row = cursor.fetchone()
            return None if row is None else compiled.reader(cursor)(row)

    def run(self, connection: Connection, /, **values: Any) -> int:
        """Executes a statement without rows; returns how many rows it changed."""
        with closing(self._for(connection.dialect).executed(connection, values)) as cursor:
            return cursor.rowcount

    def many(self, connection: Connection, /, rows: Iterable[Mapping[str, Any]]) -> None:
        """Executes a statement without rows once for each mapping of values."""
        self._for(connection.dialect).execute_many(connection, rows)

    def _for(self, dialect: Any) -> _Compiled:
        compiled = self._compiled.get((dialect.name, dialect.driver))
        if compiled is None:
            compiled = self._compiled[dialect.name, dialect.driver] = _compile(self._statement, dialect)
        return compiled


@dataclass(slots=True)
class _Compiled:
    """A statement in the SQL of a driver. `in_order` returns the values of its parameters, by name, as the driver takes
    them.
    """

    text: str
    in_order: _Processor
    defaults: Mapping[str, Any]
    processors: Mapping[str, _Processor]
    columns: Sequence[Any]
    dialect: Any
    _reader: Callable[[Sequence[Any]], Any] | None = None

    def executed(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """Returns the driver's cursor after an execution."""
        cursor = connection.connection.cursor()
        try:
            cursor.execute(self.text, self._arguments(values))
        except OSError as error:
            raise lost_connection(self.dialect) from error
        return cursor

    def execute_many(self, connection: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Executes the statement once for each mapping."""
        with closing(connection.connection.cursor()) as cursor:
            try:
                cursor.executemany(self.text, [*map(self._arguments, rows)])
            except OSError as error:
                raise lost_connection(self.dialect) from error

    def _arguments(self, values: Mapping[str, Any]) -> Any:
        given: Any = {**self.defaults, **values} if self.defaults or self.processors else values
        for name, process in self.processors.items():
            given[name] = process(given[name])
        return self.in_order(given)

    def reader(self, cursor: Any) -> Callable[[Sequence[Any]], Any]:
        """Returns the function from a row to a named tuple. The cursor knows what types the driver returns."""
        if self._reader is None:
            processors = [
                column.type.dialect_impl(self.dialect).result_processor(self.dialect, described[1])
                for column, described in zip(self.columns, cursor.description, strict=True)
            ]
            self._reader = _reader([column.name for column in self.columns], processors)
        return self._reader


def _compile(statement: _Source, dialect: Any) -> _Compiled:
    compiled: Any = statement.compile(dialect=dialect)
    if compiled.post_compile_params:
        raise InvalidInputError("a list of values for IN cannot be compiled once")
    binds: dict[str, Any] = {name: bind for bind, name in compiled.bind_names.items()}
    processors = {name: bind.type.dialect_impl(dialect).bind_processor(dialect) for name, bind in binds.items()}
    return _Compiled(
        text=str(compiled),
        in_order=_in_order(compiled.positiontup) if compiled.positional else dict,
        defaults={name: bind.effective_value for name, bind in binds.items() if not bind.required},
        processors={name: process for name, process in processors.items() if process is not None},
        columns=[*statement.exported_columns],
        dialect=dialect,
    )


def _in_order(names: Sequence[str]) -> _Processor:
    """Returns the function from values by name to a sequence of them; a getter of one name returns no sequence."""
    return itemgetter(*names) if len(names) > 1 else lambda values: [values[name] for name in names]


def _reader(names: Sequence[str], processors: Sequence[_Processor | None]) -> Callable[[Sequence[Any]], Any]:
    row = namedtuple("Row", names, rename=True)  # pyright: ignore[reportUntypedNamedTuple]
    processed = [(index, process) for index, process in enumerate(processors) if process is not None]

    def read(raw: Sequence[Any]) -> Any:
        values = [*raw]
        for index, process in processed:
            values[index] = process(values[index])
        return row._make(values)

    return read if processed else row._make
