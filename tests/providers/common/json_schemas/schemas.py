"""Schemas as users and tool servers write them."""

import enum
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, RootModel


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = Field(9, ge=1, le=9)


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str


class Address(BaseModel):
    street: str
    town: Annotated[str, Field(min_length=1)]


class Person(BaseModel):
    """Someone."""

    name: str
    born: date
    favourite: Colour = Field(description="What they like.")
    home: Address = Field(description="Where they live.")
    work: Address | None = None
    nickname: str | None = None
    tags: list[str] = []


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    others: list[Cat | Dog]
    where: tuple[float, float]


class Entry(BaseModel):
    pair: tuple[str, float]


class Tree(BaseModel):
    value: int
    branches: list["Tree"] = []


class Chain(BaseModel):
    value: Literal[1, 2, None]
    rest: "Chain | None"


class Maps(BaseModel):
    counts: dict[str, int]


class Anything(BaseModel):
    value: Any


class Either(RootModel[Cat | Dog]):
    pass


MODELS: list[type[BaseModel]] = [Address, Person, Owner, Entry, Tree, Chain, Maps, Anything, Either]

EDIT_FILE = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "oldText": {"type": "string", "description": "Text to search for - must match exactly"},
                    "newText": {"type": "string", "description": "Text to replace with"},
                },
                "required": ["oldText", "newText"],
                "additionalProperties": False,
            },
        },
        "dryRun": {"type": "boolean", "default": False},
    },
    "required": ["path", "edits"],
    "additionalProperties": False,
    "$schema": "http://json-schema.org/draft-07/schema#",
}
SEARCH_ISSUES = {
    "type": "object",
    "properties": {
        "q": {"type": "string"},
        "order": {"type": "string", "enum": ["asc", "desc"]},
        "page": {"type": "number", "minimum": 1},
        "per_page": {"type": "number", "minimum": 1, "maximum": 100},
    },
    "required": ["q"],
    "additionalProperties": False,
    "$schema": "http://json-schema.org/draft-07/schema#",
}
CREATE_ENTITIES = {
    "type": "object",
    "properties": {
        "entities": {"type": "array", "items": {"$ref": "#/definitions/entity"}},
        "first": {"$ref": "#/properties/entities/items"},
    },
    "definitions": {
        "entity": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "observations": {"type": "array", "items": {"type": "string"}}},
            "required": ["name", "observations"],
        }
    },
    "required": ["entities"],
}
QUERY = {
    "type": "object",
    "properties": {
        "filter": {"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": True}]},
        "limit": {"type": ["integer", "null"], "exclusiveMinimum": 0},
        "sort": {"allOf": [{"type": "object", "properties": {"by": {"type": "string"}}}, {"required": ["by"]}]},
    },
    "anyOf": [{"required": ["filter"]}, {"required": ["sort"]}],
}
FETCH = {
    "type": "object",
    "properties": {
        "url": {"type": "string", "format": "uri"},
        "headers": {"type": "object"},
        "rows": {"type": "array"},
    },
    "required": ["url"],
}
TOOLS: dict[str, dict[str, Any]] = {
    "edit_file": EDIT_FILE,
    "search_issues": SEARCH_ISSUES,
    "create_entities": CREATE_ENTITIES,
    "query": QUERY,
    "fetch": FETCH,
}
"""After those of the reference servers for files, GitHub and memory, and of others that trip vendors."""
