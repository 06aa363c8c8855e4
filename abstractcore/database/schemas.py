"""`Schema`: the tables of one user of a database, and their version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlalchemy import Column, Connection, Integer, MetaData, Table, func, insert, inspect, select, update

from ..errors import ConfigurationError, InvalidInputError

Migration: TypeAlias = Callable[[Connection], None]
"""Changes the tables of the version before it."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The `tables` that one user of a database declares, of which it knows a `version`.

    Several users share a database, each with a `version_table` of its own. Missing tables and their indexes are made
    whenever a database is opened, so that a version which only adds some needs no migration. `migrations` has, by
    their version, those that change what there is; they run in order, in one transaction.
    """

    version_table: str
    tables: MetaData
    version: int
    migrations: Mapping[int, Migration] = field(default_factory=dict[int, Migration])

    def __post_init__(self) -> None:
        wrong = [version for version in self.migrations if not 2 <= version <= self.version]
        if self.version < 1 or wrong:
            raise InvalidInputError(f"expected versions from 2 to {self.version}, got {wrong}", path="migrations")

    def is_current(self, connection: Connection) -> bool:
        """Whether a database needs no change; raises `ConfigurationError` for one of a newer version."""
        names = {schema: {*inspect(connection).get_table_names(schema)} for schema in self._places()}
        expected = [*self.tables.tables.values(), self._versions()]
        if any(table.name not in names[table.schema] for table in expected):
            return False
        return self._found(connection) == self.version

    def migrate(self, connection: Connection) -> None:
        """Brings a database, which is locked, to this version; raises `ConfigurationError` for one of a newer one."""
        versions = self._versions()
        versions.create(connection, checkfirst=True)
        found = self._found(connection)
        for version in sorted(self.migrations):
            if found is not None and version > found:
                self.migrations[version](connection)
        self.tables.create_all(connection)
        if found is None:
            connection.execute(insert(versions).values(version=self.version))
        elif found < self.version:
            connection.execute(update(versions).values(version=self.version))

    def _found(self, connection: Connection) -> int | None:
        found = connection.execute(select(func.max(self._versions().c.version))).scalar()
        if found is not None and found > self.version:
            raise ConfigurationError(
                f"the database has version {found} of the tables, this AbstractCore knows version {self.version}",
                hint="Install a later AbstractCore, or name another database.",
            )
        return found

    def _places(self) -> set[str | None]:
        return {None, *(table.schema for table in self.tables.tables.values())}

    def _versions(self) -> Table:
        number = Column("version", Integer, primary_key=True, autoincrement=False)
        return Table(self.version_table, MetaData(), number)
