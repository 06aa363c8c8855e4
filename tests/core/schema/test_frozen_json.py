"""Immutable JSON: a dict or list for every reader, which refuses changes."""

import contextlib
import copy
import json
import pickle
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from pydantic import BaseModel, TypeAdapter

from abstractcore import Message, ModelCall, OutputSchema, ToolCall, ToolSpec
from abstractcore.schema import EMPTY, CallWarning, FrozenDict, FrozenList, OpaquePart, SchemaError, freeze
from abstractcore.testing import strategies
from tests.properties import examples

PLAIN: dict[str, Any] = {"tags": ["b", "a"], "deep": [[1, 2], [{"x": [None, True]}]], "n": 1.5}


def frozen() -> Any:
    """`PLAIN`, as the arguments of a tool call."""
    return ToolCall("c", "t", json.dumps(PLAIN)).arguments


def places(value: Any) -> list[Any]:
    """All mappings and lists in a value."""
    items = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [value, *(place for item in items for place in places(item))] if isinstance(value, dict | list) else []


def is_plain(value: Any) -> bool:
    """Whether a value is of plain dicts and lists only."""
    return all(type(place) in (dict, list) for place in places(value))


def test_frozen_json_equals_plain_json_both_ways():
    assert frozen() == PLAIN
    assert frozen() == PLAIN
    assert frozen()["tags"] == ["b", "a"]
    assert frozen()["tags"] == ["b", "a"]
    assert frozen() != {**PLAIN, "tags": ["a", "b"]}
    assert frozen()["tags"] != ["a", "b"]


@examples(60)
@given(strategies.json_values())
def test_any_json_value_is_unchanged(value: Any):
    kept = OpaquePart("p", "k", value).data
    assert kept == value
    assert value == kept
    assert json.dumps(kept) == json.dumps(value)
    assert hash(kept) == hash(freeze(value))


def test_frozen_json_is_dict_and_list_at_every_level():
    assert len(places(frozen())) == len(places(PLAIN)) == 7
    assert isinstance(CallWarning("c", "p", "m", [1]).requested, list)
    assert isinstance(ToolSpec("t", parameters={"required": ["a"]}).parameters["required"], list)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 2}}},
        {"properties": {"tags": {"enum": [["b", "a"]]}, "deep": {"prefixItems": [{"const": [1, 2]}]}}},
        {"properties": {"deep": {"contains": {"items": {"type": "object", "required": ["x"]}}}}},
        {"const": PLAIN},
    ],
)
def test_json_schema_validator_accepts_frozen_json(schema: dict[str, Any]):
    validator = jsonschema.Draft202012Validator({"type": "object", **schema})
    assert list(validator.iter_errors(frozen())) == []
    assert list(validator.iter_errors({**frozen(), "tags": [1, 1], "deep": []})) != []


def test_schema_of_a_call_is_accepted_by_a_validator():
    schema = {"type": ["object"], "required": ["a"], "properties": {"a": {"enum": [1, [2]]}}, "allOf": [{}]}
    for kept in (ToolSpec("t", parameters=schema).parameters, OutputSchema("o", schema).schema):
        jsonschema.Draft202012Validator.check_schema(kept)
        assert jsonschema.Draft202012Validator(kept).is_valid({"a": [2]})
        assert not jsonschema.Draft202012Validator(kept).is_valid({"a": 3})


def test_pydantic_strict_mode_accepts_frozen_json():
    class Inner(BaseModel, strict=True):
        x: list[bool | None]

    class Arguments(BaseModel, strict=True):
        tags: list[str]
        deep: tuple[Any, ...] | list[list[int | Inner]]
        n: float

    read = Arguments.model_validate(frozen())
    assert read.tags == ["b", "a"]
    read.tags.append("mine")
    assert TypeAdapter(dict[str, Any]).validate_python(frozen(), strict=True) == PLAIN
    assert TypeAdapter(Any).dump_json(frozen()) == TypeAdapter(Any).dump_json(PLAIN)


def test_pattern_matching_works():
    match frozen():
        case {"tags": [first, *others], "deep": [[1, *_], [{"x": [None, True]}]]}:
            assert (first, others) == ("b", ["a"])
        case other:
            pytest.fail(f"{other} did not match")


def test_derived_values_are_plain():
    tags = frozen()["tags"]
    more = ["c"]
    made_of_it: list[Any] = [tags + more, more + tags, tags * 2, tags[:], tags.copy(), list(tags), sorted(tags)]
    made_of_it += [frozen() | {"a": 1}, {"a": 1} | frozen(), frozen().copy(), dict(frozen()), {**frozen()}]
    assert {type(value) for value in made_of_it} == {dict, list}
    assert sorted(tags) == ["a", "b"]
    assert sorted(frozen()) == ["deep", "n", "tags"]
    assert json.dumps(frozen(), sort_keys=True) == json.dumps(PLAIN, sort_keys=True)


def test_deep_copy_is_plain_and_mutable():
    value = frozen()
    changed = copy.deepcopy(value)
    assert is_plain(changed)
    changed["tags"].append("c")
    changed["deep"][1][0]["x"] = 1
    assert value == PLAIN
    assert is_plain(copy.deepcopy(value["deep"]))


def test_shallow_copy_is_plain_at_the_top_level():
    value = frozen()
    assert type(copy.copy(value)) is dict
    assert type(copy.copy(value["tags"])) is list
    assert copy.copy(value)["tags"] is value["tags"]


def test_unpickled_value_is_frozen():
    again = pickle.loads(pickle.dumps(frozen()))
    assert again == PLAIN
    assert {type(place) for place in places(again)} == {FrozenDict, FrozenList}


_CHANGES_OF_MAPPINGS = {
    "set": lambda value: value.__setitem__("tags", 2),
    "delete": lambda value: value.__delitem__("tags"),
    "update": lambda value: value.update(a=2),
    "setdefault": lambda value: value.setdefault("b", 2),
    "pop": lambda value: value.pop("tags"),
    "popitem": lambda value: value.popitem(),
    "clear": lambda value: value.clear(),
    "ior": lambda value: value.__ior__({"a": 2}),
}
_CHANGES_OF_LISTS = {
    "set": lambda value: value.__setitem__(0, 2),
    "set_slice": lambda value: value.__setitem__(slice(0, 1), []),
    "delete": lambda value: value.__delitem__(0),
    "delete_slice": lambda value: value.__delitem__(slice(None)),
    "append": lambda value: value.append(1),
    "extend": lambda value: value.extend([1]),
    "insert": lambda value: value.insert(0, 1),
    "pop": lambda value: value.pop(),
    "remove": lambda value: value.remove("a"),
    "clear": lambda value: value.clear(),
    "sort": lambda value: value.sort(),
    "reverse": lambda value: value.reverse(),
    "iadd": lambda value: value.__iadd__([1]),
    "imul": lambda value: value.__imul__(2),
}


@pytest.mark.parametrize("name", _CHANGES_OF_MAPPINGS)
def test_frozen_object_refuses_changes_with_a_hint(name: str):
    value = frozen()
    with pytest.raises(TypeError, match=r"immutable.*copy\.deepcopy"):
        _CHANGES_OF_MAPPINGS[name](value)
    assert value == PLAIN


@pytest.mark.parametrize("name", _CHANGES_OF_LISTS)
def test_frozen_array_refuses_changes_with_a_hint(name: str):
    value = frozen()
    with pytest.raises(TypeError, match=r"immutable.*copy\.deepcopy"):
        _CHANGES_OF_LISTS[name](value["tags"])
    assert value == PLAIN


@pytest.mark.parametrize("sample", [FrozenDict({"a": [1], "b": 2}), FrozenList([[2], [1]])], ids=["dict", "list"])
def test_no_mutating_method_changes_frozen_json(sample: Any):
    before = copy.deepcopy(sample)
    for name in set(dir(sample)) - set(dir(object)):
        for arguments in ((), (0,), ("a",), ([3],), ({"c": 3},), (0, 1), ("a", 1), (slice(1), [])):
            with contextlib.suppress(TypeError, ValueError, KeyError, IndexError):
                getattr(sample, name)(*arguments)
            assert sample == before, name


def test_augmented_assignment_does_not_change_the_original():
    kept = ToolSpec("t", parameters={"required": ["a"]})
    with pytest.raises(TypeError, match="immutable"):
        kept.parameters["required"] += ["b"]  # type: ignore[index, operator]
    assert kept.parameters == {"required": ["a"]}


def test_calling_init_again_does_not_change_frozen_json():
    value = frozen()
    value.__init__({"a": 2})
    value["tags"].__init__([1, 2, 3])
    assert value == PLAIN
    assert EMPTY == {}


def test_constructors_accept_what_dict_and_list_accept():
    assert FrozenDict((key, value) for key, value in PLAIN.items()) == FrozenDict(PLAIN) == PLAIN
    assert FrozenList(iter([[1], {"a": (2,)}])) == [[1], {"a": [2]}]
    assert {type(place) for place in places(FrozenDict(PLAIN))} == {FrozenDict, FrozenList}
    assert hash(FrozenDict(PLAIN)) == hash(frozen())
    assert FrozenDict() == {}
    assert FrozenList() == []


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: FrozenDict({"a": [{"b": float("nan")}]}), "a[0].b"),
        (lambda: FrozenList([0, {"b": float("nan")}]), "[1].b"),
        (lambda: FrozenList(7), ""),
        (lambda: FrozenList("text"), ""),
        (lambda: FrozenDict([1]), ""),
        (lambda: FrozenDict({"a": {1: 2}}), "a"),
    ],
)
def test_non_json_value_is_refused_with_its_path(make: Any, path: str):
    with pytest.raises(SchemaError) as caught:
        make()
    assert caught.value.path == path


def test_call_with_arrays_is_hashable():
    call = ModelCall("m", (Message.user("hi"),), tools=(ToolSpec("t", parameters={"required": ["a"]}),))
    assert hash(call) == hash(call.with_())
