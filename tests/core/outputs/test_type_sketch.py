"""Schemas in prompts: a commented type sketch where that is shorter, and the JSON Schema otherwise."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from abstractcore.outputs.type_sketch import schema_instruction, type_sketch
from abstractcore.schema import canonical_json


class Line(BaseModel):
    article: str = Field(description="What was bought")
    count: int = Field(1, ge=1)


class Invoice(BaseModel):
    number: str = Field(pattern="^[A-Z]")
    currency: Literal["EUR", "USD"]
    lines: list[Line] = Field(min_length=1)
    note: str | None = None
    more: dict[str, float] = {}


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


def test_fields_have_their_type_limits_and_description():
    assert type_sketch(Invoice.model_json_schema()) == (
        "{\n"
        '  "number": string, // matches ^[A-Z]\n'
        '  "currency": "EUR" | "USD",\n'
        '  "lines": [{\n'
        '    "article": string, // What was bought\n'
        '    "count"?: integer, // at least 1; default 1\n'
        "  }, ...], // at least 1 items\n"
        '  "note"?: string | null,\n'
        '  "more"?: {"...": number}, // default {}\n'
        "}"
    )


def test_recursive_type_has_a_name():
    assert type_sketch(Tree.model_json_schema()) == (
        'Tree = {\n  "name": string,\n  "children"?: [Tree, ...], // default []\n}\nTree'
    )


@pytest.mark.parametrize("schema", [{"not": {"type": "string"}}, {"$ref": "other.json"}, {"type": "file"}], ids=str)
def test_schema_without_a_short_form_is_sent_as_it_is(schema: Any):
    assert type_sketch(schema) is None
    assert schema_instruction(schema).endswith(canonical_json(schema))


def test_shorter_form_is_sent():
    schema = Invoice.model_json_schema()
    assert len(schema_instruction(schema)) < len(canonical_json(schema))
    assert schema_instruction({"type": "object"}).endswith('{"type":"object"}')
