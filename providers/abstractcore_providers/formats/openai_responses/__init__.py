"""The OpenAI Responses format, both sides."""

from .transpiler import OpenAIResponses

__all__ = ["OpenAIResponses"]
