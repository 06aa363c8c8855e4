"""The subset of JSON Schema that a vendor supports, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..name_rules import NameRule

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
