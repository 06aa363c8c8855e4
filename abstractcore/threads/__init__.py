"""Daemon threads for what blocks: workers with a bound, threads for one function each, alarms; safe to fork."""

from .abandoned import Abandoned, in_thread, name_of
from .alarms import AlarmClock
from .workers import Job, Workers

__all__ = ["Abandoned", "AlarmClock", "Job", "Workers", "in_thread", "name_of"]
