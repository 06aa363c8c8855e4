"""The PostgreSQL of the tests of this folder."""

from __future__ import annotations

from tests.postgresql import postgresql

__all__ = ["postgresql"]
