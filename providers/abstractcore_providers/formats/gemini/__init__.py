"""Google's generateContent format, both sides, for the Gemini API and Vertex AI."""

from .dialect import Dialect
from .transpiler import Gemini

__all__ = ["Dialect", "Gemini"]
