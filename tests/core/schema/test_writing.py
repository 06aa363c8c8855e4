"""The JSON writer, compared with the standard library's."""

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import (
    Blob,
    FrozenDict,
    ModelReply,
    OpaquePart,
    SchemaError,
    TextPart,
    Usage,
    canonical_json,
    from_json,
    to_data,
    to_json,
)
from abstractcore.testing import strategies
from tests.properties import examples


def plain(value: object) -> Any:
    """A value as `json.dumps` takes it: a blob by its identity, fields at their default left out."""
    if isinstance(value, Blob):
        return value.identity()
    if is_dataclass(value):
        tag = getattr(value, "type", None)
        pairs = [(field, getattr(value, field.name)) for field in fields(value) if field.init]
        given = {field.name: plain(item) for field, item in pairs if field.default is MISSING or item != field.default}
        return {"type": tag, **given} if isinstance(tag, str) else given
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value


def reference(value: object) -> str:
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


ESCAPED = st.text('"\\\b\f\n\r\t\x00\x1f\x7f/ a\u2028é😀', max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | ESCAPED,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | ESCAPED, inner, max_size=4),
    max_leaves=12,
)


@examples(300)
@given(VALUES)
def test_json_values_are_written_as_by_the_standard_library_or_refused(value: Any):
    try:
        expected = reference(value)
        expected.encode()
    except ValueError:
        with pytest.raises(SchemaError, match=r"not a JSON number|surrogate|too large"):
            canonical_json(value)
    else:
        assert canonical_json(value) == expected


@pytest.mark.parametrize("kind", ["calls", "replies", "responses", "messages", "tool_specs", "parts"])
def test_objects_are_written_as_by_the_standard_library(kind: str):
    @examples(60)
    @given(getattr(strategies, kind)())
    def check(value: object):
        assert canonical_json(value) == reference(value)

    check()


@pytest.mark.parametrize("code", range(0x80))
def test_ascii_characters_are_escaped_as_by_the_standard_library(code: int):
    text = f"a{chr(code)}b"
    assert canonical_json({text: text}) == reference({text: text})
    assert json.loads(to_json(TextPart(text)))["text"] == text


@pytest.mark.parametrize("number", [0.1, -0.0, 1e16, 1e-7, 5e-324, 1.7976931348623157e308, math.pi, 2**1023, -1, 0])
def test_numbers_are_written_as_by_the_standard_library(number: float):
    assert canonical_json([number]) == reference([number])
    assert to_data([number]) == [number]


def test_subclasses_of_str_and_numbers_are_written_as_plain_ones():
    class Colour(StrEnum):
        RED = "red"

    class Size(IntEnum):
        SMALL = 1

    class Ratio(float):
        def __repr__(self) -> str:
            return "a ratio"

    assert canonical_json([Colour.RED, Size.SMALL, Ratio(0.5)]) == '["red",1,0.5]'
    kept = OpaquePart("p", "k", [Colour.RED, Size.SMALL, Ratio(0.5)]).data
    assert [type(item) for item in kept] == [str, int, float]


def test_object_with_defaults_only_is_empty():
    assert canonical_json(Usage()) == "{}"
    assert canonical_json([{}, [], FrozenDict(), ()]) == "[{},[],{},[]]"
    assert to_json(ModelReply()) == '{"schema_version":1,"type":"model_reply"}'


def test_document_keeps_mapping_order_and_canonical_json_sorts():
    part = OpaquePart("p", "k", {"b": 1, "a": {"d": 1, "c": 2}})
    again = from_json(to_json(part))
    assert json.dumps(again.data) == '{"b": 1, "a": {"d": 1, "c": 2}}'
    assert list(to_data({"b": 1, "a": 2})) == ["b", "a"]
    assert canonical_json(part) == '{"data":{"a":{"c":2,"d":1},"b":1},"kind":"k","provider":"p","type":"opaque"}'


def test_document_starts_with_version_and_type():
    assert to_json(ModelReply(id="1")) == '{"schema_version":1,"type":"model_reply","id":"1"}'
    assert to_json(TextPart("x")) == '{"schema_version":1,"text":"x","type":"text"}'
