"""`response_model`: the schema that is sent, and the output or validation error."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NewType, Optional, Union

import pytest
from pydantic import BaseModel, Field, RootModel, TypeAdapter, field_validator
from typing_extensions import TypeAliasType, TypedDict

from abstractcore import (
    InvalidInputError,
    ModelReply,
    OutputSchema,
    OutputValidationError,
    TextPart,
    create_llm,
)
from abstractcore.outputs.output_types import extract_json
from abstractcore_providers.formats.registered import FORMATS
from tests.chaos_server import completion


class Model(BaseModel):
    name: str
    people: int


@dataclass
class Data:
    name: str
    people: int


class Dict(TypedDict):
    name: str
    people: int


class Loose(BaseModel):
    name: str
    people: int = 0
    more: dict[str, int] = {}


ANSWER = '{"name": "Bern", "people": 134000}'


@pytest.mark.parametrize(
    ("type_", "answer", "output"),
    [
        (Model, ANSWER, Model(name="Bern", people=134000)),
        (Data, ANSWER, Data("Bern", 134000)),
        (Dict, ANSWER, {"name": "Bern", "people": 134000}),
        (Loose, '{"name": "Bern"}', Loose(name="Bern")),
        (list[int], "[1, 2]", [1, 2]),
        (list[Data], f"[{ANSWER}]", [Data("Bern", 134000)]),
        (int, " 3\n", 3),
        (bool | None, "null", None),
    ],
)
def test_output_is_an_instance_of_response_model(call_style, type_, answer, output):
    llm = create_llm("scripted", replies=[answer])
    response = call_style.generate(llm, "hi", response_model=type_)
    assert response.output == output
    assert type(response.output) is type(output)
    assert response.content == answer


def test_output_is_none_without_response_model(call_style):
    assert call_style.generate(create_llm("scripted", replies=[ANSWER]), "hi").output is None


@pytest.mark.parametrize("type_", [Model, Data, Dict])
def test_schema_is_closed_and_strict(call_style, server, connect, type_):
    server.script(completion(ANSWER))
    call_style.generate(connect(), "hi", response_model=type_)
    sent = server.requests[0].json["response_format"]["json_schema"]
    assert (sent["name"], sent["strict"]) == (type_.__name__, True)
    assert set(sent["schema"]["required"]) == {"name", "people"}
    assert sent["schema"]["additionalProperties"] is False


def test_schema_with_arbitrary_keys_is_not_strict(call_style, server, connect):
    server.script(completion(ANSWER))
    call_style.generate(connect(), "hi", response_model=Loose)
    sent = server.requests[0].json["response_format"]["json_schema"]
    assert sent["strict"] is False
    assert "additionalProperties" not in sent["schema"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Bern", "the answer: Invalid JSON"),
        ("", "the answer: Invalid JSON"),
        ('{"name": "Bern"}', "people: Field required"),
        ('{"name": "Bern", "people": "many"}', "people: Input should be a valid integer"),
        ("[]", "the answer: Input should be an object"),
    ],
)
def test_invalid_answer_raises_with_the_answer_in_partial(call_style, answer, reason):
    llm = create_llm("scripted", replies=[answer])
    with pytest.raises(OutputValidationError, match="not a valid Model") as caught:
        call_style.generate(llm, "hi", response_model=Model, output_retries=0)
    error = caught.value
    assert reason in str(error)
    assert error.partial.text == answer
    assert error.partial.usage.total is not None
    assert (error.provider, error.model, len(error.attempts)) == ("scripted", "scripted", 1)
    assert len(llm.calls) == 1


def test_truncated_answer_is_reported(call_style):
    cut = ModelReply((TextPart('{"name": "Be'),), "length")
    llm = create_llm("scripted", replies=[cut])
    with pytest.raises(OutputValidationError, match="truncated at max_output_tokens") as caught:
        call_style.generate(llm, "hi", response_model=Model)
    assert caught.value.partial == cut
    assert str(caught.value.hint).startswith("Allow more with max_output_tokens=")


@pytest.mark.parametrize(
    ("type_", "hint"),
    [
        (3, "response_model=int"),
        (len, "Pass the class itself, or"),
        (Data("Bern", 1), "response_model=Data"),
        (Model(name="Bern", people=1), "response_model=Model"),
        ("Model", "response_model=Model"),
        ("a type", "response_model=str"),
        ("x" * 65, "Pass the class itself, or a type such as list[str]."),
        (Callable[[], int], "Use types with a JSON Schema"),
    ],
    ids=["number", "function", "dataclass", "model", "name", "words", "long name", "callable"],
)
def test_type_without_json_schema_is_refused_before_sending_with_a_hint(call_style, type_, hint):
    llm = create_llm("scripted", replies=[ANSWER])
    with pytest.raises(InvalidInputError) as caught:
        call_style.generate(llm, "hi", response_model=type_)
    assert caught.value.path == "response_model"
    assert hint in str(caught.value)
    assert "pydantic.dev" not in str(caught.value)
    assert list(llm.calls) == []


def test_call_as_data_may_have_a_schema_without_a_type():
    llm = create_llm("scripted", replies=[ANSWER])
    schema = Model.model_json_schema()
    reply = llm.run(llm.build("hi").with_(output=OutputSchema("answer", schema)))
    assert json.loads(reply.content) == {"name": "Bern", "people": 134000}
    assert llm.calls[0].output == OutputSchema("answer", schema)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


NO_OBJECTS: list[tuple[Any, Any]] = [
    (list[int], [1, 2]),
    (list[Data], [Data("Bern", 134000)]),
    (list[Tree], [Tree(name="a", children=[Tree(name="b")])]),
    (tuple[int, str], (1, "a")),
    (int, 3),
    (Colour, Colour.BLUE),
    (Literal["yes", "no"], "no"),
    (Model | None, Model(name="Bern", people=1)),
    (Optional[Model], None),  # noqa: UP045
    (Union[Model, list[Model]], [Model(name="Bern", people=1)]),  # noqa: UP007
    (Annotated[int, Field(ge=0)], 3),
    (RootModel[list[int]], RootModel[list[int]]([1])),
    (datetime.date, datetime.date(2026, 1, 2)),
    (NewType("Number", int), 3),
    (TypeAliasType("Numbers", list[int]), [1, 2]),
]
OBJECTS: list[Any] = [Model, Data, Dict, Tree, dict[str, int], RootModel[dict[str, int]]]


@pytest.mark.parametrize(("type_", "value"), NO_OBJECTS, ids=lambda each: str(each)[:40])
def test_non_object_type_is_requested_in_a_wrapper_object(call_style, server, connect, type_, value):
    answer = TypeAdapter(type_).dump_json(value).decode()
    for said in (f'{{"value": {answer}}}', answer, f'```json\n{{"value": {answer}}}\n```'):
        server.script(completion(said))
        response = call_style.generate(connect(), "hi", response_model=type_)
        assert response.output == value
        assert type(response.output) is type(value)
        assert response.content == said
    sent = server.requests[0].json["response_format"]["json_schema"]["schema"]
    assert (sent["type"], list(sent["properties"]), sent["required"]) == ("object", ["value"], ["value"])


@pytest.mark.parametrize("type_", OBJECTS, ids=str)
def test_object_type_is_requested_directly(type_):
    output = create_llm("scripted", replies=[]).build("hi", response_model=type_).output
    assert output is not None
    assert output.schema == TypeAdapter(type_).json_schema()


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        (Model, "Model"),
        (list[Model], "list_Model"),
        (dict[str, list[Data]], "dict_str_list_Data"),
        (Model | None, "Model_None"),
        (Literal["yes", "no"], "Literal_yes_no"),
        (Annotated[int, Field(ge=0)], "int"),
        (type(None), "None"),
        (type("X" * 70, (BaseModel,), {}), "X" * 64),
        (type("Städte", (BaseModel,), {}), "St_dte"),
        (type("Äpfel", (BaseModel,), {}), "pfel"),
        (type("都市", (BaseModel,), {}), "output"),
    ],
    ids=str,
)
def test_schema_name_is_derived_from_the_type(type_, name):
    output = create_llm("scripted", replies=[]).build("hi", response_model=type_).output
    assert output is not None
    assert output.name == name


@pytest.mark.parametrize("type_", [type_ for type_, _ in NO_OBJECTS], ids=lambda each: str(each)[:40])
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_can_request_non_object_types(name, type_):
    call = create_llm("scripted", replies=[]).build("hi", response_model=type_)
    encoded = FORMATS[name]().encode(call)
    assert "value" in json.dumps(json.loads(encoded.request.body))


def test_streamed_answer_is_unwrapped(call_style):
    llm = create_llm("scripted", replies=['{"value": [1, 2]}'])
    with call_style.stream(llm, "hi", response_model=list[int]) as stream:
        assert "".join(stream.text()) == '{"value": [1, 2]}'
    assert stream.response.output == [1, 2]
    assert stream.response.content == '{"value": [1, 2]}'


def test_objects_own_field_named_value_is_kept(call_style):
    class Reading(BaseModel):
        value: list[int]

    response = call_style.generate(create_llm("scripted", replies=['{"value": [1]}']), "hi", response_model=Reading)
    assert response.output == Reading(value=[1])
    with pytest.raises(OutputValidationError, match=r"not a valid Reading: value\.0: Input should be a valid integer"):
        call_style.generate(
            create_llm("scripted", replies=['{"value": ["a"]}']), "hi", response_model=Reading, output_retries=0
        )


@pytest.mark.parametrize(
    ("type_", "answer", "reason"),
    [
        (list[int], '{"value": [1, "b"]}', "list[int]: 1: Input should be a valid integer"),
        (list[int], '[1, "b"]', "list[int]: 1: Input should be a valid integer"),
        (list[Model], '{"value": [{"name": "a"}]}', "list[Model]: 0.people: Field required"),
        (Literal["yes", "no"], '{"value": "maybe"}', "Literal['yes', 'no']: the answer: Input should be 'yes' or 'no'"),
        (int, "three", "int: the answer: Invalid JSON"),
    ],
)
def test_validation_error_does_not_mention_the_wrapper(call_style, type_, answer, reason):
    with pytest.raises(OutputValidationError) as caught:
        call_style.generate(create_llm("scripted", replies=[answer]), "hi", response_model=type_, output_retries=0)
    assert f"not a valid {reason}" in str(caught.value)
    assert caught.value.partial.text == answer


SHORT = '{"name": "Bern", "people": 1}'


@pytest.mark.parametrize(
    "answer",
    [
        f"```json\n{SHORT}\n```",
        f"```\n{SHORT}\n```\n",
        f"Here you are:\n\n```json\n{SHORT}\n```\n\nAnything else?",
        f"   ```JSON\n{SHORT}\n   ```",
        f"```json {SHORT}```",
        f"Sure! {SHORT} That is all.",
        f"```python\nprint(1)\n```\nand\n```json\n{SHORT}\n```",
        f"Here:\r\n```json\r\n{SHORT}\r\n```\r\n",
    ],
)
def test_single_json_value_in_text_is_extracted(call_style, answer):
    response = call_style.generate(create_llm("scripted", replies=[answer]), "hi", response_model=Model)
    assert response.output == Model(name="Bern", people=1)
    assert response.content == answer


@pytest.mark.parametrize(
    "answer",
    [
        f"```json\n{SHORT}\n```\nor\n```json\n{SHORT}\n```",
        f"{SHORT} or {SHORT}",
        f"{{first}} {SHORT}",
        f"{SHORT} {{and more",
        f'{{"cities": [{SHORT}, {{"name": "Be',
        "no JSON at all",
    ],
)
def test_answer_with_several_or_malformed_json_values_is_refused(call_style, answer):
    with pytest.raises(OutputValidationError, match="Invalid JSON"):
        call_style.generate(create_llm("scripted", replies=[answer]), "hi", response_model=Model, output_retries=0)


def test_part_of_a_truncated_answer_is_not_accepted(call_style):
    cut = ModelReply((TextPart(f"First {SHORT} and then"),), "length")
    with pytest.raises(OutputValidationError, match="truncated at max_output_tokens"):
        call_style.generate(create_llm("scripted", replies=[cut]), "hi", response_model=Model)


def test_unclosed_brackets_take_linear_time():
    assert extract_json("[" * 200_000) is None
    assert extract_json("```\n" * 100_001) is None
    assert extract_json("{} " * 50_000) is None
    assert extract_json("```\n" + "[" * 200_000 + "\n```") is None


class Failing(BaseModel):
    name: str

    @field_validator("name")
    @classmethod
    def known(cls, name: str) -> str:
        return {"Bern": "Bern"}[name]


@pytest.mark.parametrize("type_", [Failing, list[Failing]])
@pytest.mark.parametrize("streamed", [False, True])
def test_exception_of_a_validator_is_the_cause_of_our_error(type_: Any, streamed: bool):
    answer = '{"value": [{"name": "Ulm"}]}' if type_ is not Failing else '{"name": "Ulm"}'
    llm = create_llm("scripted", replies=[answer])
    with pytest.raises(OutputValidationError, match="its validator raised KeyError: 'Ulm'") as caught:
        if streamed:
            with llm.stream("Where?", response_model=type_) as stream:
                list(stream)
        else:
            llm.generate("Where?", response_model=type_)
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.partial is not None
    assert caught.value.partial.text == answer
