"""The Anthropic Messages format, both sides, for Anthropic and everyone who speaks it."""

from .dialect import Dialect
from .transpiler import AnthropicMessages

__all__ = ["AnthropicMessages", "Dialect"]
