"""Provider options of parts and messages: merged when writing, and read from unknown fields."""

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.schema import NO_OPTIONS, CallWarning, TextPart
from abstractcore_providers.common.call_options import name_options_left_out, read_options, with_options

PATH = "messages[0].parts[0]"
MODELLED = frozenset({"type", "text", "cache"})


def written(options: dict[str, dict[str, object]], warnings: list[CallWarning]) -> dict[str, object]:
    part = TextPart("hi", provider_options=options)
    return with_options({"type": "text", "text": "hi"}, part, PATH, "p", MODELLED, warnings)


def test_item_options_are_written_into_and_read_from_the_block():
    warnings: list[CallWarning] = []
    block = written({"p": {"x": {"y": 1}}}, warnings)
    assert block == {"type": "text", "text": "hi", "x": {"y": 1}}
    assert not warnings
    assert read_options(block, MODELLED, "p") == {"p": {"x": {"y": 1}}}


@pytest.mark.parametrize("name", ["text", "cache"])
def test_item_option_with_a_schema_field_is_refused_with_its_path(name: str):
    with pytest.raises(InvalidInputError) as caught:
        written({"p": {name: "other"}}, [])
    assert caught.value.path == f"{PATH}.provider_options.p.{name}"


def test_options_for_another_provider_are_reported_and_not_written():
    warnings: list[CallWarning] = []
    assert written({"q": {"x": 1}}, warnings) == {"type": "text", "text": "hi"}
    assert [(w.code, w.path) for w in warnings] == [("other_provider_options", f"{PATH}.provider_options.q")]


def test_options_without_a_block_are_reported():
    warnings: list[CallWarning] = []
    part = TextPart("hi", provider_options={"p": {"x": 1}, "q": {"x": 1}})
    name_options_left_out(part, PATH, "p", "there is no place", warnings)
    assert [(w.code, w.path) for w in warnings] == [
        ("other_provider_options", f"{PATH}.provider_options.q"),
        ("options_left_out", f"{PATH}.provider_options.p"),
    ]


@pytest.mark.parametrize("data", [{}, {"text": "a"}, {"text": "a", "x": None}])
def test_formats_that_map_every_field_produce_no_options(data: dict[str, object]):
    assert read_options(data, MODELLED, "p") is NO_OPTIONS
