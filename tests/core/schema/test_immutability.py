"""Messages, calls and replies are immutable."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given

from abstractcore.schema import (
    CallWarning,
    Citation,
    Delta,
    Encoded,
    FrozenDict,
    FrozenList,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    Parsed,
    Rendered,
    TextPart,
    ToolResult,
    ToolSpec,
    Usage,
    WireRequest,
)
from abstractcore.schema.reprs import with_valid
from abstractcore.testing import strategies
from tests.properties import examples

ATOMS = (str, int, float, bool, bytes, Decimal, type(None))


def mutable_places(value: object, path: str) -> list[str]:
    """The paths in `value` of everything that could be changed."""
    if isinstance(value, ATOMS):
        return []
    if type(value) is tuple:
        return [place for i, item in enumerate(value) for place in mutable_places(item, f"{path}[{i}]")]
    if type(value) is FrozenList:
        return [place for i, item in enumerate(value) for place in mutable_places(item, f"{path}[{i}]")]
    if type(value) is FrozenDict:
        return [place for key, item in value.items() for place in mutable_places(item, f"{path}.{key}")]
    if is_dataclass(value) and type(value).__dataclass_params__.frozen and not hasattr(value, "__dict__"):
        pairs = [(field.name, getattr(value, field.name)) for field in fields(value)]
        return [place for name, item in pairs for place in mutable_places(item, f"{path}.{name}")]
    return [path]


@examples(60)
@given(strategies.calls(options=strategies.item_options("scripted")))
def test_call_is_deeply_immutable(call: ModelCall):
    assert mutable_places(call, "call") == []


@examples(60)
@given(strategies.replies(options=strategies.item_options("scripted")))
def test_reply_is_deeply_immutable(reply: ModelReply):
    assert mutable_places(reply, "reply") == []


def test_arguments_of_the_caller_are_not_shared():
    inner: list[Any] = [1]
    options, citations, texts, stops = (
        {"a": inner},
        [Citation("s", provider_metadata={"a": inner})],
        [],
        [TextPart("x")],
    )
    made_of_these = [
        OpaquePart("p", "k", options),
        CallWarning("c", "p", "m", inner),
        ToolSpec("t", parameters=options),
        TextPart("text", citations),  # type: ignore[arg-type]
        ToolResult("c", stops),  # type: ignore[arg-type]
        Message("user", stops),  # type: ignore[arg-type]
        ModelReply(stops, warnings=texts, provider_metadata=options),  # type: ignore[arg-type]
        ModelCall("m", [Message.user("hi")], provider_options={"p": options}),  # type: ignore[arg-type]
        WireRequest("/", {"a": "b"}, b""),
        FrozenDict(options),
        FrozenList(inner),
    ]
    assert [mutable_places(value, type(value).__name__) for value in made_of_these] == [[]] * len(made_of_these)
    before = [repr(value) for value in made_of_these]
    inner.append(2)
    options["b"] = [3]
    stops.append(TextPart("y"))
    assert [repr(value) for value in made_of_these] == before


@examples(30)
@given(strategies.calls(options=strategies.item_options("scripted")))
def test_pickled_and_copied_call_stays_immutable(call: ModelCall):
    for again in (pickle.loads(pickle.dumps(call)), copy.copy(call), copy.deepcopy(call), replace(call)):
        assert again == call
        assert mutable_places(again, "call") == []


@examples(30)
@given(strategies.calls(options=strategies.item_options("scripted")))
def test_copy_with_valid_changes_equals_one_that_is_checked_again(call: ModelCall):
    copied = with_valid(call, stream=not call.stream, parent_id="loop")
    assert copied == call.with_(stream=not call.stream, parent_id="loop")
    assert mutable_places(copied, "call") == []


def test_fields_cannot_be_assigned():
    for value in (TextPart("x"), Usage(1), Message.user("hi"), ModelReply(), Encoded(WireRequest("/", {}, b""))):
        name = fields(value)[0].name
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, None)
        with pytest.raises(FrozenInstanceError):
            delattr(value, name)


def test_schema_objects_refuse_new_attributes():
    values = [
        TextPart("x"),
        Message.user("hi"),
        ModelReply(),
        Parsed(ModelCall("m", (Message.user("hi"),))),
        Rendered(b""),
    ]
    for value in values:
        assert not hasattr(value, "__dict__")
    for delta in get_args(Delta):
        assert "__slots__" in vars(delta)
