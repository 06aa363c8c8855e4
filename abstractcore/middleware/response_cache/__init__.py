"""Answers kept and given again: opt-in middleware. A program without it imports nothing of this."""

from .cache import ResponseCache

__all__ = ["ResponseCache"]
