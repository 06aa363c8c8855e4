"""JSON documents of responses with `output` of any type."""

import datetime
import decimal
import enum
import json
import subprocess
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import BaseModel, Field, GetCoreSchemaHandler, PlainSerializer, TypeAdapter
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from abstractcore import (
    GenerateResponse,
    SchemaError,
    ToolContext,
    ToolEnded,
    ToolOutput,
    canonical_json,
    create_llm,
    digest,
    from_json,
    schema,
    to_json,
    tool,
)
from abstractcore.testing import ScriptedReply


@dataclass
class Price:
    amount: float = 12.0
    currency: str = "EUR"
    tags: list[str] = field(default_factory=list)
    type: str = "price"


@dataclass
class Typed:
    value: int = 1
    type = "class variable"


class City(BaseModel):
    name: str = "Ulm"
    founded: datetime.date = datetime.date(850, 7, 22)
    price: Price = Price()
    area: Annotated[float, PlainSerializer(str, return_type=str)] = 118.7
    aliased: int = Field(default=1, alias="Aliased")


@pydantic_dataclass
class Checked:
    name: str = "a"


class Pair(NamedTuple):
    left: int
    right: str


class Entry(TypedDict):
    city: City


class Colour(enum.Enum):
    RED = "red"


class Odd:
    """A type that only its own hooks describe."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd) and other.text == self.text

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        write = core_schema.plain_serializer_function_ser_schema(lambda value: value.text)
        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema(), serialization=write)


VALUES: list[tuple[Any, Any, Any]] = [
    (Price, Price(), {"amount": 12.0, "currency": "EUR", "tags": [], "type": "price"}),
    (Typed, Typed(), {"value": 1}),
    (list[Price], [Price(1.0)], [{"amount": 1.0, "currency": "EUR", "tags": [], "type": "price"}]),
    (Checked, Checked(), {"name": "a"}),
    (Entry, {"city": City(name="Bern")}, None),
    (City, City(), None),
    (dict[int, City], {1: City()}, None),
    (set[int], {1}, [1]),
    (frozenset[str], frozenset({"a"}), ["a"]),
    (tuple[int, Price], (1, Price()), None),
    (Pair, Pair(1, "a"), [1, "a"]),
    (Colour, Colour.RED, "red"),
    (datetime.datetime, datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), None),
    (datetime.timedelta, datetime.timedelta(seconds=5), None),
    (decimal.Decimal, decimal.Decimal("1.10"), "1.10"),
    (uuid.UUID, uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (Path, Path("a/b"), "a/b"),
    (Odd, Odd("x"), "x"),
    (list[int], [1], [1]),
    (dict[str, Any], {"a": [None, 1.5]}, {"a": [None, 1.5]}),
    (type(None), None, None),
]


def answered(type_: Any, value: Any) -> GenerateResponse[Any]:
    answer = TypeAdapter(type_).dump_json(value, by_alias=True).decode()
    return create_llm("scripted", replies=[answer]).generate("hi", response_model=type_)


@pytest.mark.parametrize(("type_", "value", "data"), VALUES, ids=lambda each: str(each)[:30])
def test_output_of_any_type_is_serialised_completely_and_read_back_as_data(type_: Any, value: Any, data: Any):
    response = answered(type_, value)
    assert type(response.output) is type(value)
    again: Any = from_json(to_json(response))
    if data is not None:
        assert again.output == data
    assert TypeAdapter(type_).validate_python(again.output) == response.output == value
    assert (again.reply, again.usage, again.trace_id) == (response.reply, response.usage, response.trace_id)
    assert to_json(again) == to_json(response)


@pytest.mark.parametrize(("type_", "value", "data"), VALUES, ids=lambda each: str(each)[:30])
def test_every_serialiser_accepts_a_response_with_output_of_any_type(type_: Any, value: Any, data: Any):
    response = answered(type_, value)
    assert json.loads(canonical_json(response))
    assert digest(response) == digest(from_json(to_json(response)))


def test_serialising_does_not_change_the_output():
    response = answered(Price, Price())
    to_json(response)
    assert response.output == Price()


@pytest.mark.parametrize(
    ("output", "path"), [(object(), "output"), (float("nan"), "output"), ([Price(float("inf"))], "output[0].amount")]
)
def test_output_that_is_not_json_is_named(output: Any, path: str):
    response = GenerateResponse(**{**fields_of(answered(int, 1)), "output": output})
    with pytest.raises(SchemaError) as caught:
        to_json(response)
    assert caught.value.path == path


@pytest.mark.parametrize("output", [Price(), City(), {1}, [Price()]], ids=str)
def test_schema_codec_refuses_custom_objects_instead_of_losing_fields(output: Any):
    response = GenerateResponse(**{**fields_of(answered(int, 1)), "output": output})
    for write in (schema.to_json, schema.to_data, schema.canonical_json, schema.digest):
        with pytest.raises(SchemaError, match="output"):
            write(response)


def fields_of(response: GenerateResponse[Any]) -> dict[str, Any]:
    return {name: getattr(response, name) for name in response.__dataclass_fields__}


@pytest.mark.process
def test_response_of_plain_data_is_serialised_without_pydantic():
    code = """
import sys
import abstractcore
from abstractcore import GenerateResponse, ModelReply, Usage, to_json
to_json(GenerateResponse(ModelReply(), {"a": [1]}, (), (), Usage(), (), (), "p", "m", None, "t", 0.5))
print("pydantic" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.strip() == "False"


def test_every_event_of_a_stream_is_a_document():
    @tool
    def look(context: ToolContext[Any]) -> ToolOutput:
        """Looks."""
        context.progress(1, 2, "half")
        return ToolOutput("seen", data=object() if context.deps else datetime.date(2026, 1, 2))

    llm = create_llm("scripted", replies=[ScriptedReply.tool_call("look", {}), "Done."] * 2)
    for deps, data, warned in ((None, "2026-01-02", []), (True, None, ["data_left_out"])):
        events = list(llm.stream("Look.", tools=[look], run_tools=True, deps=deps))
        assert {event.type for event in events} > {"text_delta", "tool_started", "tool_progress", "tool_ended"}
        read = [from_json(to_json(event)) for event in events]
        assert [type(event) for event in read] == [type(event) for event in events]
        (ended,) = [event for event in read if isinstance(event, ToolEnded)]
        assert (ended.step.data, [warning.code for warning in ended.step.warnings]) == (data, warned)
