"""The OpenAI chat completions format, both sides, for OpenAI and everyone who speaks it."""

from .content import CARRIED
from .dialect import Dialect
from .transpiler import OpenAIChat

__all__ = ["CARRIED", "Dialect", "OpenAIChat"]
