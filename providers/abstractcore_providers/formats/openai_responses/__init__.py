"""The OpenAI Responses format, for clients and servers."""

from .transpiler import OpenAIResponses

__all__ = ["OpenAIResponses"]
