"""The databases of all tests of the room."""

from __future__ import annotations

from tests.core.traces.stores import recorder, store, url
from tests.postgresql import postgresql

__all__ = ["postgresql", "recorder", "store", "url"]
