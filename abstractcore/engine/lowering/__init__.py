"""Lowering: adapts a call to its model before it is encoded. Pure functions."""

from .lowering import lower

__all__ = ["lower"]
