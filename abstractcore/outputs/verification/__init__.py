"""Figures, names and dates of a text answer, searched in the texts that it was made of. Pure."""

from __future__ import annotations

from .verifying import verify

__all__ = ["verify"]
