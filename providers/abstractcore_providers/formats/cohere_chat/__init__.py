"""Cohere's chat format (version 2 of its API), for clients and servers."""

from .transpiler import CohereChat

__all__ = ["CohereChat"]
