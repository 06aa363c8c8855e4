"""Google's generateContent format, for clients and servers, for the Gemini API and Vertex AI."""

from .content import ENCODABLE
from .dialect import Dialect
from .transpiler import Gemini

__all__ = ["ENCODABLE", "Dialect", "Gemini"]
