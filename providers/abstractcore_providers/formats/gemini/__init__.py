"""Google's generateContent format, for clients and servers, for the Gemini API and Vertex AI."""

from .dialect import Dialect
from .transpiler import Gemini

__all__ = ["Dialect", "Gemini"]
