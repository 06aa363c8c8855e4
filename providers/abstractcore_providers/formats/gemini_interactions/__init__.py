"""Google's Interactions format, for clients and servers: the successor of generateContent in the Gemini API."""

from .content import ENCODABLE
from .transpiler import GeminiInteractions

__all__ = ["ENCODABLE", "GeminiInteractions"]
