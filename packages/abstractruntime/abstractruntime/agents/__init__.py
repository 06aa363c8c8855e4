"""Agents: models with tools whose runs survive crashes, and wait for people, events and times."""

from __future__ import annotations

from .agent import Agent
from .journal import LedgerJournal
from .sessions import Session
from .suspending import ask_user, delegate, wait_for_event, wait_until

__all__ = ["Agent", "LedgerJournal", "Session", "ask_user", "delegate", "wait_for_event", "wait_until"]
