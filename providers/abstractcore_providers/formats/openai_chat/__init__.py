"""The OpenAI Chat Completions format, for clients and servers, for OpenAI and other servers that implement it."""

from .content import ENCODABLE
from .dialect import Dialect
from .transpiler import OpenAIChat

__all__ = ["ENCODABLE", "Dialect", "OpenAIChat"]
