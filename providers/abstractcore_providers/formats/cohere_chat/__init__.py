"""Cohere's chat format (version 2 of its API), both sides."""

from .transpiler import CohereChat

__all__ = ["CohereChat"]
