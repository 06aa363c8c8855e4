"""JSON Schemas adapted to each vendor's subset: unsupported constructs are rewritten, with a warning that describes
how.

The schema of the call is unchanged: answers and arguments are validated against it. Here are the vendors' rules, which
providers are registered with; `fitting` applies them, and is imported by the first call with tools or a schema.
"""

from .rules import (
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
    Rules,
    SchemaLimits,
    SchemaRules,
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
    "Rules",
    "SchemaLimits",
    "SchemaRules",
]
