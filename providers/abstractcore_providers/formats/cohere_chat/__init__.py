"""Cohere's chat format (version 2 of its API), for clients and servers."""

from .answers import ENCODABLE
from .transpiler import CohereChat

__all__ = ["ENCODABLE", "CohereChat"]
