"""Inputs of operations: their fields, invalid values, JSON and digests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from abstractcore.schema import (
    CallInput,
    Message,
    ModelCall,
    ModelListInput,
    OperationInput,
    SchemaError,
    StoredReplyInput,
    digest,
    from_data,
    to_data,
)


@dataclass(frozen=True, slots=True)
class Texts(OperationInput):
    """Texts to embed."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Titled(CallInput):
    """A call with a title."""

    title: str = ""


CALL = ModelCall("m", (Message.user("hi"),), "p", strict=True, tags={"a": "b"}, parent_id="x")


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"model": 5}, "model"),
        ({"provider": None}, "provider"),
        ({"strict": 1}, "strict"),
        ({"tags": {"a": 1}}, "tags.a"),
        ({"parent_id": 5}, "parent_id"),
        ({"trace_context": []}, "trace_context"),
    ],
)
def test_invalid_value_of_any_input_has_its_path(fields: dict[str, Any], path: str):
    with pytest.raises(SchemaError) as caught:
        Texts(("hi",), **{"model": "m", **fields})
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("cls", "fields", "path"),
    [
        (ModelListInput, {"after": 5}, "after"),
        (StoredReplyInput, {"id": ""}, "id"),
        (StoredReplyInput, {"id": "r", "messages": ["hi"]}, "messages[0]"),
    ],
)
def test_invalid_value_of_an_argument_has_its_path(cls: Any, fields: dict[str, Any], path: str):
    with pytest.raises(SchemaError) as caught:
        cls(**fields, model="m")
    assert caught.value.path == path


def test_own_fields_come_first_and_json_reads_back():
    given = Texts(("a", "b"), model="m", tags={"team": "x"})
    assert to_data(given) == {"model": "m", "tags": {"team": "x"}, "texts": ["a", "b"]}
    assert from_data(Texts, to_data(given)) == given
    assert digest(given) == digest(Texts(("a", "b"), model="m", tags={"team": "x"})) != digest(given.with_(model="n"))


def test_changed_copy_is_validated():
    given = Texts(("a",), model="m")
    assert given.with_(texts=("b",)) == Texts(("b",), model="m")
    with pytest.raises(SchemaError):
        given.with_(strict="yes")
    with pytest.raises(TypeError):
        given.with_(unknown=1)


def test_call_with_arguments_has_the_fields_of_its_call():
    given = Titled(CALL, "t")
    assert (given.model, given.provider, given.strict, given.parent_id) == ("m", "p", True, "x")
    assert given.tags == {"a": "b"}
    other = given.with_(call=CALL.with_(model="n"))
    assert (other.model, other.title) == ("n", "t")
    assert from_data(Titled, to_data(given)) == given
    with pytest.raises(SchemaError, match="expected a ModelCall"):
        given.with_(call="hi")
