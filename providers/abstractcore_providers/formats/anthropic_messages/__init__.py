"""The Anthropic Messages format, for clients and servers, for Anthropic and other servers that implement it."""

from .dialect import Dialect
from .transpiler import AnthropicMessages

__all__ = ["AnthropicMessages", "Dialect"]
