"""The databases of all tests of the store."""

from __future__ import annotations

from tests.server.store.databases import clock, store, url

__all__ = ["clock", "store", "url"]
