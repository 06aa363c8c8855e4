"""The server of databases of the tests of these commands."""

from __future__ import annotations

from tests.postgresql import postgresql

__all__ = ["postgresql"]
