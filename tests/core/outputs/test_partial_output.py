"""`Stream.partial_output` and `Stream.elements`: data that grows, and items of a list as each is complete."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from abstractcore import InvalidInputError, OutputValidationError, Price, Usage, create_llm
from abstractcore.outputs.partial_output import ItemScanner
from abstractcore.testing import AsyncCalls, CallStyle, ScriptedReply
from tests.core.tools.loops import scripted

validated: list[str] = []


class City(BaseModel):
    name: str
    people: int = 0

    @field_validator("name")
    @classmethod
    def whole(cls, name: str) -> str:
        validated.append(name)
        if name == "Ulm":
            raise ValueError("not Ulm")
        return name


BERN = '{"name": "Bern", "people": 134000}'
LIST = f'{{"value": [{BERN}, {{"name": "Basel"}}, {{"name": "a, ]}}\\"b"}}]}}'


def pieces(text: str, size: int = 1) -> Any:
    """A reply in chunks of `size` characters."""
    return ScriptedReply.chunks([text[at : at + size] for at in range(0, len(text), size)])


def partial_outputs(style: CallStyle, *replies: Any, **request: Any) -> tuple[list[Any], Any]:
    """All partial outputs in order, without repetitions, and the output."""
    llm = create_llm("scripted", replies=list(replies))
    seen: list[Any] = []
    with style.stream(llm, "hi", **request) as stream:
        seen.append(stream.partial_output)
        for _ in stream:
            if stream.partial_output != seen[-1]:
                seen.append(stream.partial_output)
    return seen, stream.response.output


def test_partial_output_grows(call_style: CallStyle):
    seen, output = partial_outputs(call_style, pieces(BERN), response_model=City)
    assert seen[:4] == [None, {}, {"name": ""}, {"name": "B"}]
    assert seen[-1] == {"name": "Bern", "people": 134000}
    assert output == City(name="Bern", people=134000)


def test_validators_never_run_on_an_incomplete_value(call_style: CallStyle):
    validated.clear()
    partial_outputs(call_style, pieces(BERN), response_model=City)
    assert validated == ["Bern"]


def test_wrapper_is_removed(call_style: CallStyle):
    seen, output = partial_outputs(call_style, pieces('{"value": ["ab", "c"]}'), response_model=list[str])
    assert seen == [None, [], [""], ["a"], ["ab"], ["ab", ""], ["ab", "c"]]
    assert output == ["ab", "c"]


@pytest.mark.parametrize("before", ["Sure!\n```json\n", "\n", "```\n"])
def test_text_before_the_value_is_skipped(call_style: CallStyle, before: str):
    seen, _ = partial_outputs(call_style, pieces(f"{before}{BERN}"), response_model=City)
    assert seen[0] is None
    assert seen[-1] == {"name": "Bern", "people": 134000}


def test_partial_output_begins_anew_with_a_further_attempt(call_style: CallStyle):
    seen, _ = partial_outputs(call_style, pieces('{"name": 1}'), pieces(BERN), response_model=City)
    assert seen.index({"name": 1}) < seen.index({"name": "B"})
    assert seen[-1] == {"name": "Bern", "people": 134000}


def test_partial_output_is_that_of_the_deltas_seen(call_style: CallStyle):
    llm = create_llm("scripted", replies=[pieces(BERN)])
    with call_style.stream(llm, "hi", response_model=City) as stream:
        text = ""
        for delta in stream:
            text += getattr(delta, "text", "")
            if text == '{"name": "Be':
                assert stream.partial_output == {"name": "Be"}


def test_without_response_model_there_is_no_partial_output(call_style: CallStyle):
    assert partial_outputs(call_style, pieces(BERN)) == ([None], None)


def test_arguments_of_an_output_tool_grow_too(call_style: CallStyle):
    reply = ScriptedReply.tool_call("final_answer", {"name": "Bern"})
    llm = create_llm("scripted", replies=[reply], facts={"structured_output": "none"})
    with call_style.stream(llm, "hi", response_model=City) as stream:
        list(stream)
    assert stream.partial_output == {"name": "Bern"}


def elements(style: CallStyle, llm: Any, type_: Any, **request: Any) -> list[Any]:
    """The elements of a stream."""
    if not isinstance(style, AsyncCalls):
        with llm.stream("hi", response_model=type_, **request) as stream:
            return list(stream.elements())

    async def read() -> list[Any]:
        async with llm.astream("hi", response_model=type_, **request) as stream:
            return [each async for each in stream.elements()]

    return style.run(read())


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("text", [LIST, LIST[10:-1], f"```json\n{LIST}\n```", f"Here you are:\n{LIST}"])
def test_each_element_is_yielded_once_and_validated(call_style: CallStyle, text: str, size: int):
    found = elements(call_style, create_llm("scripted", replies=[pieces(text, size)]), list[City])
    assert found == [City(name="Bern", people=134000), City(name="Basel"), City(name='a, ]}"b')]


def test_element_is_yielded_as_soon_as_it_is_complete():
    with create_llm("scripted", replies=[pieces(LIST)]).stream("hi", response_model=list[City]) as stream:
        each = stream.elements()
        assert next(each) == City(name="Bern", people=134000)
        assert stream.partial.text == LIST[: LIST.index(", {") + 1]


@pytest.mark.parametrize(
    ("type_", "text", "found"),
    [
        (list[int], '{"value": []}', []),
        (list[int], "[1, 2,3 ]", [1, 2, 3]),
        (list[str], '{"value": ["a\\\\", "b\\"]"]}', ["a\\", 'b"]']),
        (list[list[int]], "[[1, 2], []]", [[1, 2], []]),
        (list[int], "The answer: [1, 2]", [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
    ],
    ids=str,
)
def test_elements_of_other_lists(call_style: CallStyle, type_: Any, text: str, found: list[Any]):
    assert elements(call_style, create_llm("scripted", replies=[pieces(text)]), type_) == found


def test_invalid_element_is_an_error_with_its_index_after_those_before(call_style: CallStyle):
    llm = create_llm("scripted", replies=[f'[{BERN}, {{"name": "Ulm"}}, {BERN}]', "[]"])
    found: list[Any] = []

    async def read() -> None:
        async with llm.astream("hi", response_model=list[City]) as stream:
            async for each in stream.elements():
                found.append(each)  # noqa: PERF401

    with pytest.raises(OutputValidationError, match=r"1\.name: Value error, not Ulm") as caught:
        if isinstance(call_style, AsyncCalls):
            call_style.run(read())
        else:
            with llm.stream("hi", response_model=list[City]) as stream:
                for each in stream.elements():
                    found.append(each)  # noqa: PERF402
    assert found == [City(name="Bern", people=134000)]
    assert caught.value.provider == "scripted"
    assert len(llm.calls) == 1


def test_error_of_an_element_has_the_earlier_attempts_and_their_usage_and_an_unknown_cost(call_style: CallStyle):
    """The stream is left before its provider has reported what it used."""
    refused = ScriptedReply.text("no list", usage=Usage(100, 10))
    llm = create_llm("scripted", replies=[refused, "[1, []]"], price=Price(input=1, output=10))
    with pytest.raises(OutputValidationError, match="1: Input should be a valid integer") as caught:
        elements(call_style, llm, list[int])
    error = caught.value
    assert [each.text for each in error.output_attempts] == ["no list"]
    assert error.loop is not None
    assert (error.loop.usage, error.loop.cost) == (Usage(100, 10), None)
    assert error.loop.cost_reason == "input tokens were not reported"


def test_answer_is_not_asked_for_again_once_elements_are_in_use(call_style: CallStyle):
    llm = scripted("[1, 2, ", "[1]")
    with pytest.raises(OutputValidationError, match="Invalid JSON"):
        elements(call_style, llm, list[int])
    assert len(llm.calls) == 1
    assert elements(call_style, scripted("no list", "[1]"), list[int]) == [1]


@pytest.mark.parametrize("type_", [City, None, tuple[int, str], {"type": "object"}], ids=str)
def test_elements_need_a_list(type_: Any):
    llm = scripted("{}")
    with (
        pytest.raises(InvalidInputError, match="elements") as caught,
        llm.stream("hi", response_model=type_) as stream,
    ):
        list(stream.elements())
    assert caught.value.path == "response_model"
    assert list(llm.calls) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=4), st.integers(1, 7))
def test_items_are_found_in_any_json_at_any_split(items: list[Any], size: int):
    text = json.dumps({"value": items})
    scanner = ItemScanner()
    found = [item for at in range(0, len(text), size) for item in scanner.feed(text[at : at + size])]
    assert [json.loads(item) for item in found] == items
