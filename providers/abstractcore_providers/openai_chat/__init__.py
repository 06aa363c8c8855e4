"""The OpenAI chat completions format, both sides, for OpenAI and everyone who speaks it."""

from .dialect import Dialect
from .transpiler import OpenAIChat

__all__ = ["Dialect", "OpenAIChat"]
