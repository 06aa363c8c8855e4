"""The subset of JSON Schema that each vendor supports, as data.

The vendors' rules are from the pages named in docs/decisions/0017-schema-rewriting.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ..name_rules import ANTHROPIC_PROPERTIES, NameRule

Effect = Literal["same", "narrower", "looser"]
"""The effect of a change on the accepted values."""


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """The size limits of schemas; None means unlimited.

    `depth` is that of nested objects and arrays below the root, `properties` counts those of all objects, `enum_values`
    those of all enums. `name_characters` counts those of property names, definition names and texts in enums. An enum
    of more than `long_enum[0]` texts may have `long_enum[1]` characters. `characters` counts the schema as JSON.
    `optional` counts the properties that are not required, `unions` the schemas with `anyOf` or several types.
    """

    depth: int | None = None
    properties: int | None = None
    enum_values: int | None = None
    name_characters: int | None = None
    long_enum: tuple[int, int] | None = None
    characters: int | None = None
    optional: int | None = None
    unions: int | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """The supported subset for one use of schemas; the defaults leave every schema unchanged.

    * `keywords`: the supported ones; others are removed.
    * `formats`: the supported ones. `pattern_without`: what a pattern must not contain. `plain_enums`: no objects or
      arrays in enums. `few_items`: `minItems` is 0 or 1.
    * `root_object`: the root has the type object, and no reference or union. `explicit_properties`: it has
      `properties`.
    * `inlined`: references are replaced with their targets. `references_anywhere`: they may point outside `$defs`.
      `lone_references`: no keywords next to `$ref`.
    * `recursion`: whether a schema may refer to itself: always, in properties that are not required, or never.
    * `type_lists`: `type` may be a list. `any_of_only`: `oneOf` becomes `anyOf`, and `allOf` one schema.
    * `closed`: no additional properties, so that `allOf` becomes one schema. `any_object`: an object may have any keys
      with any values. `required`: how many of an object's properties must be required.
      `typed`: every schema has a type, and every array a schema for its items. `explicit_items`: arrays of anything
      state it in `items`.
    * `property_names`: the accepted ones; others are replaced.
    """

    keywords: frozenset[str] | None = None
    formats: frozenset[str] | None = None
    pattern_without: tuple[str, ...] = ()
    plain_enums: bool = False
    few_items: bool = False
    root_object: bool = False
    explicit_properties: bool = False
    inlined: bool = False
    references_anywhere: bool = True
    lone_references: bool = False
    recursion: Literal["kept", "optional", "cut"] = "kept"
    type_lists: bool = True
    any_of_only: bool = False
    closed: bool = False
    any_object: bool = True
    required: Literal["any", "some", "all"] = "any"
    typed: bool = False
    explicit_items: bool = False
    limits: SchemaLimits | None = None
    property_names: NameRule | None = None


AS_IT_IS = Rules()


@dataclass(frozen=True, slots=True)
class SchemaRules:
    """One vendor's rules for tools and for answers, each for enforced and for unenforced schemas.

    `strict_tools` or `strict_outputs` is None where `strict` makes no difference.
    """

    tools: Rules = AS_IT_IS
    strict_tools: Rules | None = None
    outputs: Rules = AS_IT_IS
    strict_outputs: Rules | None = None


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
