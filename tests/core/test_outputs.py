"""`response_model`: the schema that goes out, and the value that comes back or the error that says why not."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from abstractcore import InvalidInputError, ModelReply, OutputValidationError, TextPart, create_llm
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
def test_the_output_is_the_answer_as_the_type(colour, type_, answer, output):
    llm = create_llm("scripted", replies=[answer])
    response = colour.generate(llm, "hi", response_model=type_)
    assert response.output == output
    assert type(response.output) is type(output)
    assert response.content == answer


def test_without_a_type_there_is_no_output(colour):
    assert colour.generate(create_llm("scripted", replies=[ANSWER]), "hi").output is None


@pytest.mark.parametrize("type_", [Model, Data, Dict])
def test_the_schema_goes_out_closed_and_strict(colour, server, connect, type_):
    server.script(completion(ANSWER))
    colour.generate(connect(), "hi", response_model=type_)
    sent = server.requests[0].json["response_format"]["json_schema"]
    assert (sent["name"], sent["strict"]) == (type_.__name__, True)
    assert set(sent["schema"]["required"]) == {"name", "people"}
    assert sent["schema"]["additionalProperties"] is False


def test_the_schema_of_a_type_with_keys_of_any_name_is_not_strict(colour, server, connect):
    server.script(completion(ANSWER))
    colour.generate(connect(), "hi", response_model=Loose)
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
def test_an_invalid_answer_is_an_error_that_holds_it(colour, answer, reason):
    llm = create_llm("scripted", replies=[answer])
    with pytest.raises(OutputValidationError, match="not a valid Model") as caught:
        colour.generate(llm, "hi", response_model=Model)
    error = caught.value
    assert reason in str(error)
    assert error.partial.text == answer
    assert error.partial.usage.total is not None
    assert (error.provider, error.model, len(error.attempts)) == ("scripted", "scripted", 1)
    assert len(llm.calls) == 1


def test_an_answer_cut_off_says_so(colour):
    cut = ModelReply((TextPart('{"name": "Be'),), "length")
    llm = create_llm("scripted", replies=[cut])
    with pytest.raises(OutputValidationError, match="cut off at max_output_tokens") as caught:
        colour.generate(llm, "hi", response_model=Model)
    assert caught.value.partial == cut


@pytest.mark.parametrize("type_", [3, len])
def test_a_type_without_a_schema_is_refused_before_anything_is_sent(colour, type_):
    llm = create_llm("scripted", replies=[ANSWER])
    with pytest.raises(InvalidInputError) as caught:
        colour.generate(llm, "hi", response_model=type_)
    assert caught.value.path == "response_model"
    assert list(llm.calls) == []
