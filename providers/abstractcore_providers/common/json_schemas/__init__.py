"""JSON Schemas adapted to each vendor's subset: unsupported constructs are rewritten, with a warning that describes
how.

The schema of the call is unchanged: answers and arguments are validated against it.
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
