"""Ollama's native chat format, for clients and servers."""

from .transpiler import OllamaChat

__all__ = ["OllamaChat"]
