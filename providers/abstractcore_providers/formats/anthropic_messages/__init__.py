"""The Anthropic Messages format, for clients and servers, for Anthropic and other servers that implement it."""

from .content import ENCODABLE
from .dialect import MessagesDialect
from .transpiler import AnthropicMessages

__all__ = ["ENCODABLE", "AnthropicMessages", "MessagesDialect"]
