"""What a vendor takes of JSON Schema, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Effect = Literal["same", "narrower", "looser"]
"""What a rewriting does to the values that are accepted."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest schema that is taken; None is no limit.

    `depth` is of objects and arrays below the root, `properties` of all objects, `enum_values` of all enums.
    `name_characters` are those of property names, names of definitions, and texts in enums. An enum of more than
    `long_enum[0]` texts may have `long_enum[1]` characters. `characters` are those of the whole schema as JSON.
    """

    depth: int | None = None
    properties: int | None = None
    enum_values: int | None = None
    name_characters: int | None = None
    long_enum: tuple[int, int] | None = None
    characters: int | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What is taken of a schema in one place of a request; the defaults take every schema as it is.

    * `keywords`: those that are known; the others are left out.
    * `formats`: those that are known. `pattern_without`: what a pattern may not contain. `plain_enums`: no objects or
      arrays in enums. `few_items`: `minItems` is 0 or 1.
    * `root_object`: the root is of type object, and no union or reference. `properties_named`: it has `properties`.
    * `inlined`: references are replaced with what they refer to. `references_anywhere`: they need not go to `$defs`.
      `lone_references`: nothing stands beside `$ref`.
    * `recursion`: whether a schema may refer to itself: always, in properties that are not required, or never.
    * `type_lists`: `type` may be a list. `any_of_only`: `oneOf` becomes `anyOf`, and `allOf` one schema.
    * `closed`: objects have the properties that they name, and no others. `required`: how many of an object's
      properties must be. `typed`: every schema says what type it is of, every array what it holds.
      `items_said`: arrays that hold anything say so.
    """

    keywords: frozenset[str] | None = None
    formats: frozenset[str] | None = None
    pattern_without: tuple[str, ...] = ()
    plain_enums: bool = False
    few_items: bool = False
    root_object: bool = False
    properties_named: bool = False
    inlined: bool = False
    references_anywhere: bool = True
    lone_references: bool = False
    recursion: Literal["kept", "optional", "cut"] = "kept"
    type_lists: bool = True
    any_of_only: bool = False
    closed: bool = False
    required: Literal["any", "some", "all"] = "any"
    typed: bool = False
    items_said: bool = False
    limits: Limits | None = None


AS_IT_IS = Rules()


@dataclass(frozen=True, slots=True)
class SchemaRules:
    """One vendor's rules, for tools and for answers, each for schemas that are enforced and for those that are not.

    `strict_tools` or `strict_outputs` is None where `strict` changes nothing in what is taken.
    """

    tools: Rules = AS_IT_IS
    strict_tools: Rules | None = None
    outputs: Rules = AS_IT_IS
    strict_outputs: Rules | None = None
