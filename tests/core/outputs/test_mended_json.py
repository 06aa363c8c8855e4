"""JSON that models write with mistakes reads the same in all places: arguments of tools and typed answers."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from abstractcore import ModelReply, OutputValidationError, ToolCall, create_llm, tool
from abstractcore.schema.json_values import repaired_json
from abstractcore.testing import SyncCalls

CONTROLS = {f"control character {code:#04x}": (f'{{"a":"x{chr(code)}y"}}', f"x{chr(code)}y") for code in range(0x20)}
MENDED: Mapping[str, tuple[str, str]] = {
    **CONTROLS,
    "after an empty object": ('{}{"a":"x"}', "x"),
    "after two empty objects": ('{} {}\n{"a":"x"}', "x"),
    "repeated": ('{"a":"x"}{"a":"x"}', "x"),
    "repeated in lines": ('{"a": "x"}\n{"a":"x"}\n{"a":"x"}\n', "x"),
    "repeated after an empty object": ('{}{"a":"x"}{"a":"x"}', "x"),
    "repeated with raw line breaks": ('{"a":"x\ny"}{"a":"x\\ny"}', "x\ny"),
    "an escaped quote before a raw line break": ('{"a":"\\"\n\\\\"}', '"\n\\'),
}
"""Texts that are not JSON, and the value of `a` that they mean."""
UNCLEAR = {
    "two objects": '{"a":"x"}{"a":"y"}',
    "an object more": '{"a":"x"}{}',
    "two after an empty object": '{}{"a":"x"}{"a":"y"}',
    "a cut object more": '{"a":"x"}{"a":',
    "two types that Python finds equal": '{"a":1}{"a":true}',
    "two lists": '["x"]["x"]',
    "an escaped raw line break": '{"a":"x\\\ny"}',
}


class Answer(BaseModel):
    a: str


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def calling(*given: ToolCall) -> ModelReply:
    return ModelReply(given, "tool_calls")


def of_arguments(text: str) -> Any:
    """What the call and the tool itself get."""
    received: list[str] = []

    @tool
    def note(a: str) -> str:
        """Notes."""
        received.append(a)
        return "noted"

    llm = create_llm("scripted", replies=[calling(ToolCall("c", "note", text)), "done"])
    assert llm.generate("hi", tools=[note], run_tools=True).content == "done"
    call = ToolCall("c", "note", text)
    assert call.arguments_text == text
    if call.arguments is None:
        assert (received, call.arguments_json) == ([], None)
        raise OutputValidationError(call.arguments_error or "")
    assert json.loads(call.arguments_json or "") == call.arguments == {"a": received[0]}
    return received[0]


def answered(text: str, response_model: Any) -> Any:
    llm = create_llm("scripted", replies=[text])
    return llm.generate("hi", response_model=response_model, output_retries=0).output


def of_elements(text: str) -> Any:
    """The item of a list."""
    llm = create_llm("scripted", replies=[f'{{"value": [{text}]}}'])
    with llm.stream("hi", response_model=list[Answer], output_retries=0) as stream:
        (item,) = stream.elements()
    return item.a


def of_partial_output(text: str) -> Any:
    llm = create_llm("scripted", replies=[text])
    with SyncCalls() as style, style.stream(llm, "hi", response_model=Answer) as stream:
        list(stream)
        assert stream.partial_output == {"a": stream.response.output.a}
    return stream.response.output.a


READERS: Mapping[str, Callable[[str], Any]] = {
    "arguments": of_arguments,
    "pydantic": lambda text: answered(text, Answer).a,
    "JSON Schema": lambda text: answered(text, SCHEMA)["a"],
    "a code block": lambda text: answered(f"Here:\n```json\n{text}\n```\n", Answer).a,
    "elements": of_elements,
}


def test_mended_texts_mean_the_same_in_all_places():
    walked = 0
    for case, (text, expected) in MENDED.items():
        with pytest.raises(ValueError, match=r"control character|Extra data"):
            json.loads(text)
        for reader in [name for name in READERS if name != "elements" or text.count("{") == 1]:
            assert READERS[reader](text) == expected, (reader, case)
            walked += 1
    assert walked == 39 * 4 + 33


def test_unclear_texts_stay_errors_in_all_places():
    for case, text in UNCLEAR.items():
        for reader, read in READERS.items():
            with pytest.raises(OutputValidationError):
                pytest.fail(f"{reader}, {case}: {read(text)!r}")
    assert len(UNCLEAR) * len(READERS) == 35


@pytest.mark.parametrize("case", CONTROLS)
def test_partial_output_has_what_the_output_has(case):
    text, expected = CONTROLS[case]
    assert of_partial_output(text) == expected


@pytest.mark.parametrize("text", ['{"a": 1.10}', "[1, 1]", ' {"b":"\\u0001",\n"a":[]}', "0", '"x"'])
def test_valid_json_is_kept_as_written(text):
    assert repaired_json(text) == text.strip()


@pytest.mark.parametrize("text", ["", " ", "null", " null\n"])
def test_arguments_without_content_are_none(text):
    @tool
    def now() -> str:
        """The time."""
        return "noon"

    @tool
    def weather(city: str) -> str:
        """The weather."""
        return city

    assert ToolCall("c", "now", text).arguments == {}
    replies = [calling(ToolCall("c", "now", text), ToolCall("d", "weather", text)), "done"]
    steps = create_llm("scripted", replies=replies).generate("hi", tools=[now, weather], run_tools=True).tool_steps
    assert steps[0].result.as_text == "noon"
    assert "city" in steps[1].result.as_text
    assert steps[1].result.is_error


def test_wide_text_takes_linear_time():
    assert repaired_json("{}" * 100_000) == "{}"
    assert repaired_json("{" * 100_000) is None
