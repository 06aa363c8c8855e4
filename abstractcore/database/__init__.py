"""Databases: SQLite files, and PostgreSQL by its URL. Transactions, their retries, tables with versions, locks, and
notifications.

It knows no table: who uses it declares its own. SQLAlchemy and pg8000 come with the extras `server` and `postgresql`.
"""

try:
    import sqlalchemy as _sqlalchemy
except ImportError as error:
    from ..errors import MissingExtraError
    from ..schema.base_error import install_hint

    raise MissingExtraError(
        "Traces, budgets and other data in a database require sqlalchemy, which is not installed.",
        hint=install_hint("sqlalchemy", extra="server"),
    ) from error

from .copying import copy_rows
from .database import Database, lock, reads, writes
from .failures import CommitUnknownError, ConstraintError, DatabaseError, DatabaseReplacedError, Retries
from .notifications import Listener, notify
from .schemas import Schema
from .sqlite_files import file_has_table
from .statements import Statement

__all__ = [
    "CommitUnknownError",
    "ConstraintError",
    "Database",
    "DatabaseError",
    "DatabaseReplacedError",
    "Listener",
    "Retries",
    "Schema",
    "Statement",
    "copy_rows",
    "file_has_table",
    "lock",
    "notify",
    "reads",
    "writes",
]
del _sqlalchemy
