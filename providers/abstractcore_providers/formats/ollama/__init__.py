"""Ollama's native chat format, for clients and servers."""

from .images import ENCODABLE
from .transpiler import OllamaChat

__all__ = ["ENCODABLE", "OllamaChat"]
