"""The OpenAI Chat Completions format, for clients and servers, for OpenAI and other servers that implement it."""

from .content import ENCODABLE
from .dialect import ChatDialect
from .transpiler import OpenAIChat

__all__ = ["ENCODABLE", "ChatDialect", "OpenAIChat"]
