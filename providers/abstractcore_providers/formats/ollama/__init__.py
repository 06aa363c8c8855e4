"""Ollama's own chat format, both sides."""

from .transpiler import OllamaChat

__all__ = ["OllamaChat"]
