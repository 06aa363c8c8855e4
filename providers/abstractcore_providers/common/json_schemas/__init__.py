"""JSON Schemas as each vendor takes them: what it cannot say is rewritten, and a warning says how.

The schema of a call stays as it is: answers and arguments are checked against that one.
"""

from .fitting import fit_output, fit_tool
from .rules import Limits, Rules, SchemaRules
from .vendors import (
    ANTHROPIC,
    BEDROCK,
    CEREBRAS,
    COHERE,
    COMPATIBLE,
    DEEPSEEK,
    GEMINI,
    GROQ,
    MISTRAL,
    OLLAMA,
    OPENAI,
    PERPLEXITY,
    TOLERANT,
    XAI,
)

__all__ = [
    "ANTHROPIC",
    "BEDROCK",
    "CEREBRAS",
    "COHERE",
    "COMPATIBLE",
    "DEEPSEEK",
    "GEMINI",
    "GROQ",
    "MISTRAL",
    "OLLAMA",
    "OPENAI",
    "PERPLEXITY",
    "TOLERANT",
    "XAI",
    "Limits",
    "Rules",
    "SchemaRules",
    "fit_output",
    "fit_tool",
]
