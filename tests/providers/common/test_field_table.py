"""A record's fields under a vendor's names: every one of them is mentioned, and errors speak the vendor's words."""

import re
from dataclasses import fields

import pytest
from hypothesis import given

from abstractcore.schema import Sampling, SchemaError
from abstractcore.testing import strategies
from abstractcore_providers.common.call_options import FieldTable
from tests.properties import examples

NAMES = {
    "maxTokens": "max_output_tokens",
    "temp": "temperature",
    "p": "top_p",
    "k": "top_k",
    "stopSequences": "stop",
    "presence": "presence_penalty",
    "frequency": "frequency_penalty",
}
TABLE = FieldTable(Sampling, NAMES, path="config.", elsewhere={"top_logprobs": "logprobs"}, unsupported=("seed",))


def test_fields_are_written_in_table_order():
    sampling = Sampling(stop=("END",), top_k=0, temperature=0.0, seed=7, top_logprobs=3)
    written = TABLE.write(sampling)
    assert list(written.items()) == [("temp", 0.0), ("k", 0), ("stopSequences", ["END"])]
    assert TABLE.write(Sampling()) == {}
    assert TABLE.names == tuple(NAMES)


def test_values_without_a_vendor_field_are_reported():
    table = FieldTable(Sampling, {}, unsupported=[field.name for field in fields(Sampling)])
    assert list(table.unsupported(Sampling(seed=0, stop=("END",)))) == [("seed", 0), ("stop", ["END"])]
    assert list(TABLE.unsupported(Sampling(temperature=0.5))) == []


@examples(50)
@given(strategies.samplings())
def test_written_fields_are_read_back(sampling: Sampling):
    read = TABLE.read(TABLE.write(sampling), top_logprobs=sampling.top_logprobs, seed=sampling.seed)
    assert read == sampling


def test_null_counts_as_absent():
    assert TABLE.read({"temp": None, "another": 1}) == Sampling()


@pytest.mark.parametrize(
    ("data", "path"),
    [({"temp": "x"}, "config.temp"), ({"stopSequences": ["a", 1]}, "config.stopSequences[1]"), ({"k": -1}, "config.k")],
)
def test_error_path_uses_the_vendors_field_names(data: dict[str, object], path: str):
    with pytest.raises(SchemaError) as caught:
        TABLE.read(data)
    assert caught.value.path == path


def test_error_of_a_field_read_elsewhere_names_that_path():
    with pytest.raises(SchemaError) as caught:
        TABLE.read({}, top_logprobs=-1)
    assert caught.value.path == "logprobs"
    with pytest.raises(SchemaError) as caught:
        TABLE.read({}, {"top_logprobs": "top_logprobs"}, top_logprobs=-1)
    assert caught.value.path == "top_logprobs"


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ({**NAMES, "x": "temp"}, "not mentioned: [], no field: ['temp']"),
        (dict(list(NAMES.items())[1:]), "not mentioned: ['max_output_tokens'], no field: []"),
    ],
)
def test_unmentioned_field_is_an_error_when_the_table_is_built(names: dict[str, str], problem: str):
    with pytest.raises(TypeError, match=re.escape(problem)):
        FieldTable(Sampling, names, elsewhere={"top_logprobs": "logprobs"}, unsupported=("seed",))
