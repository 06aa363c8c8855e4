"""Ollama's native chat format, for clients and servers."""

from .transpiler import OllamaChat
from .vocabulary import ENCODABLE

__all__ = ["ENCODABLE", "OllamaChat"]
