"""The databases of all tests of the room."""

from __future__ import annotations

from tests.core.database.notes import database, server, url
from tests.postgresql import postgresql

__all__ = ["database", "postgresql", "server", "url"]
