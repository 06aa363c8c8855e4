"""The vendors' rules, from the pages named in docs/decisions/0017-schema-rewriting.md."""

from __future__ import annotations

from dataclasses import replace

from ..name_rules import ANTHROPIC_PROPERTIES
from .rules import Rules, SchemaLimits, SchemaRules

_SAID = frozenset({"title", "description", "default", "$defs", "$ref", "type", "enum", "const", "anyOf"})
_OBJECTS = frozenset({"properties", "required", "additionalProperties"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_TEXTS = frozenset({"minLength", "maxLength", "pattern", "format"})
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})

TOLERANT = SchemaRules()
"""Servers that enforce the keywords that they support, without documenting which."""

_STRICT = Rules(
    keywords=_SAID | _OBJECTS | _NUMBERS | _TEXTS | {"items", "minItems", "maxItems"},
    formats=_FORMATS,
    root_object=True,
    explicit_properties=True,
    references_anywhere=False,
    lone_references=True,
    any_of_only=True,
    closed=True,
    required="all",
    typed=True,
)
_OPENAI = replace(
    _STRICT,
    limits=SchemaLimits(
        depth=10, properties=5_000, enum_values=1_000, name_characters=120_000, long_enum=(250, 15_000)
    ),
)
_ROOT = Rules(root_object=True, explicit_items=True)
OPENAI = SchemaRules(replace(_ROOT, explicit_properties=True), _OPENAI, _ROOT, _OPENAI)

COMPATIBLE = SchemaRules(strict_tools=_STRICT, strict_outputs=_STRICT)
"""Unknown servers: a schema that OpenAI enforces is assumed to work everywhere."""

GROQ = SchemaRules(strict_outputs=_STRICT)

_CEREBRAS = replace(
    _STRICT,
    type_lists=False,
    recursion="cut",
    limits=SchemaLimits(depth=10, properties=500, enum_values=500, long_enum=(250, 7_500), characters=5_000),
)
CEREBRAS = SchemaRules(strict_tools=_CEREBRAS, strict_outputs=_CEREBRAS)

DEEPSEEK = SchemaRules(strict_tools=replace(_STRICT, keywords=_SAID | _OBJECTS | {"items"}))

_MISTRAL = Rules(closed=True)
MISTRAL = SchemaRules(strict_tools=_MISTRAL, strict_outputs=_MISTRAL)

PERPLEXITY = SchemaRules(outputs=Rules(references_anywhere=False, recursion="cut", any_object=False))

_XAI = Rules(references_anywhere=False, recursion="cut", any_of_only=True)
XAI = SchemaRules(_XAI, outputs=_XAI)

_ANTHROPIC = Rules(
    keywords=_SAID | _OBJECTS | {"items", "minItems", "pattern", "format"},
    formats=_FORMATS | {"uri"},
    pattern_without=(r"\(\?[=!<]", r"\\[1-9bB]"),
    plain_enums=True,
    few_items=True,
    root_object=True,
    references_anywhere=False,
    recursion="cut",
    any_of_only=True,
    closed=True,
    limits=SchemaLimits(optional=24, unions=16),
    property_names=ANTHROPIC_PROPERTIES,
)
ANTHROPIC = SchemaRules(Rules(root_object=True, property_names=ANTHROPIC_PROPERTIES), _ANTHROPIC, _ANTHROPIC)
BEDROCK = ANTHROPIC
"""As Anthropic's: Bedrock enforces schemas for Anthropic's models, with the same limitations."""

_GEMINI = Rules(references_anywhere=False, lone_references=True, recursion="optional", explicit_items=True)
GEMINI = SchemaRules(
    _GEMINI,
    outputs=replace(
        _GEMINI,
        keywords=(_SAID - {"default", "const"})
        | _OBJECTS
        | {"$id", "$anchor", "format", "minimum", "maximum", "propertyOrdering"}
        | {"items", "prefixItems", "minItems", "maxItems"},
        any_of_only=True,
    ),
)

_COHERE = Rules(
    keywords=_SAID | _OBJECTS | {"items", "pattern", "format"},
    formats=frozenset({"date-time", "uuid", "date", "time"}),
    pattern_without=("[$^]", r"\(\?[=!]"),
    root_object=True,
    references_anywhere=False,
    any_of_only=True,
    required="some",
)
COHERE = SchemaRules(Rules(root_object=True), _COHERE, _COHERE)

OLLAMA = SchemaRules(Rules(root_object=True, inlined=True, any_of_only=True))
