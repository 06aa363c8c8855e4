"""Google's generateContent format, for clients and servers, for the Gemini API and Vertex AI."""

from .content import ENCODABLE
from .transpiler import Gemini
from .vocabulary import GenerateContentDialect

__all__ = ["ENCODABLE", "Gemini", "GenerateContentDialect"]
