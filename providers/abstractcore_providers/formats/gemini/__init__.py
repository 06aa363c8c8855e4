"""Google's generateContent format, for clients and servers, for the Gemini API and Vertex AI."""

from .content import ENCODABLE
from .dialect import GenerateContentDialect
from .transpiler import Gemini

__all__ = ["ENCODABLE", "Gemini", "GenerateContentDialect"]
