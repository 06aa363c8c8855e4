"""Agents: models with tools whose runs survive crashes, and wait for people, events and times."""

from __future__ import annotations

from .agent import Agent
from .journal import LedgerJournal

__all__ = ["Agent", "LedgerJournal"]
