"""The cost of a response is computed when it is first read, once, and is part of all that is made of the response."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from decimal import Decimal

import pytest

from abstractcore import GenerateResponse, ModelReply, SchemaError, Usage, from_json, to_json
from abstractcore.schema.costs import Cost, defer_cost

COST = Cost(Decimal("0.50"), "computed", None, ("3f2ab1c09d8e7f60",))


def response(find_cost: Callable[[], Cost]) -> GenerateResponse[None]:
    made = GenerateResponse(ModelReply(), None, (), (), Usage(), (), (), "p", "m", None, "t", 0.5)
    defer_cost(made, find_cost)
    return made


@pytest.fixture
def counted() -> tuple[GenerateResponse[None], list[int]]:
    times: list[int] = []

    def find_cost() -> Cost:
        times.append(1)
        return COST

    return response(find_cost), times


def cost_of(read: GenerateResponse[None]) -> Cost:
    return Cost(read.cost, read.cost_source, read.cost_reason, read.price_rows)


@pytest.mark.parametrize("first", Cost._fields)
def test_cost_is_computed_once_whichever_field_is_read_first(counted, first):
    made, times = counted
    assert (made.content, made.usage, times) == ("", Usage(), [])
    assert getattr(made, first) == getattr(COST, first)
    assert (cost_of(made), len(times)) == (COST, 1)


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        dataclasses.replace,
        lambda made: pickle.loads(pickle.dumps(made)),
        lambda made: GenerateResponse(
            **{field.name: getattr(made, field.name) for field in dataclasses.fields(GenerateResponse)}
        ),
    ],
)
def test_copies_have_the_cost(counted, copied):
    made, times = counted
    again = copied(made)
    assert cost_of(again) == COST
    assert (again, hash(again), repr(again)) == (made, hash(made), repr(made))
    assert len(times) == 1


def test_json_and_repr_have_the_cost(counted):
    made, _ = counted
    assert from_json(to_json(made)) == made
    assert cost_of(from_json(to_json(made))) == COST
    assert "cost=Decimal('0.5')" in repr(response(lambda: COST))


def test_trailing_zeros_are_removed_and_an_inexact_cost_is_an_error():
    assert str(response(lambda: COST).cost) == "0.5"
    with pytest.raises(SchemaError, match="expected a Decimal, got float"):
        _ = response(lambda: Cost(0.1)).cost  # type: ignore[arg-type]


def test_unknown_attribute_is_an_error_with_its_name(counted):
    made, times = counted
    with pytest.raises(AttributeError, match="'GenerateResponse' object has no attribute 'contnet'"):
        _ = made.contnet
    assert times == []
