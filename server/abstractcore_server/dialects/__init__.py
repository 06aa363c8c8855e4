"""The client APIs, one module each, and what they share."""

from .anthropic import AnthropicDialect
from .base import ClientDialect, ClientRequest, ReplyStamp
from .cohere import CohereDialect
from .gemini import GeminiDialect
from .ollama import OllamaDialect, OllamaGenerateDialect
from .openai_chat import OpenAIChatDialect, OpenAICompletionsDialect, OpenAIVectorsDialect
from .openai_responses import OpenAIResponsesDialect

OPENAI_CHAT = OpenAIChatDialect()
OPENAI_COMPLETIONS = OpenAICompletionsDialect()
OPENAI_RESPONSES = OpenAIResponsesDialect()
OPENAI_VECTORS = OpenAIVectorsDialect()
ANTHROPIC = AnthropicDialect()
GEMINI = GeminiDialect()
COHERE = CohereDialect()
OLLAMA = OllamaDialect()
OLLAMA_GENERATE = OllamaGenerateDialect()

__all__ = [
    "ANTHROPIC",
    "COHERE",
    "GEMINI",
    "OLLAMA",
    "OLLAMA_GENERATE",
    "OPENAI_CHAT",
    "OPENAI_COMPLETIONS",
    "OPENAI_RESPONSES",
    "OPENAI_VECTORS",
    "ClientDialect",
    "ClientRequest",
    "ReplyStamp",
]
