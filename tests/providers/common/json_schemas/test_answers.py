"""Providers get an adapted schema; answers are validated against the requested one."""

import json
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from abstractcore import InvalidInputError, OutputValidationError, ToolSpec, UnsupportedOptionError, create_llm
from tests.chaos_server import PATIENCE_SECONDS, answer, completion
from tests.providers.common.json_schemas import schemas


class Guess(BaseModel):
    number: Annotated[int, Field(ge=1, le=10)]
    why: str | None = None


def message(content: str | dict[str, Any]) -> bytes:
    """A complete answer in Anthropic's format: a text, or a block."""
    block = content if isinstance(content, dict) else {"type": "text", "text": content}
    return answer(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [block],
            "stop_reason": "end_turn" if block["type"] == "text" else "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )


@pytest.fixture
def anthropic(server, services):
    return create_llm(
        "anthropic", model="m", services=services, api_key="k", base_url=f"{server.url}/v1", timeout=PATIENCE_SECONDS
    )


@pytest.fixture
def openai(server, services):
    return create_llm(
        "openai", model="m", services=services, api_key="k", base_url=f"{server.url}/v1", timeout=PATIENCE_SECONDS
    )


def test_answer_allowed_by_the_looser_schema_is_validated_against_the_type(call_style, server, anthropic):
    server.script(message('{"number": 11}'))
    with pytest.raises(OutputValidationError, match="number: Input should be less than or equal to 10"):
        call_style.generate(anthropic, "hi", response_model=Guess, output_retries=0)
    sent = server.requests[0].json["output_config"]["format"]["schema"]
    assert sent["properties"]["number"] == {"title": "Number", "type": "integer"}
    assert sent["additionalProperties"] is False


def test_warning_has_both_schemas_and_names_unenforced_constraints(call_style, server, anthropic):
    server.script(message('{"number": 7}'))
    response = call_style.generate(anthropic, "hi", response_model=Guess)
    assert response.output == Guess(number=7)
    [warning] = [each for each in response.warnings if each.path == "output.schema"]
    assert warning.code == "schema_rewritten"
    assert "$.properties.number.maximum is left out (10)" in warning.message
    assert json.dumps(warning.requested) == json.dumps(Guess.model_json_schema())
    assert json.dumps(warning.sent) == json.dumps(server.requests[0].json["output_config"]["format"]["schema"])


def test_strict_mode_refuses_a_looser_schema_before_sending(call_style, server, anthropic):
    with pytest.raises(UnsupportedOptionError, match="maximum is left out"):
        call_style.generate(anthropic, "hi", response_model=Guess, strict=True, max_output_tokens=9)
    assert server.requests == []


def test_strict_mode_accepts_a_narrower_schema(call_style, server, openai):
    server.script(completion('{"number": 7, "why": null}'))
    response = call_style.generate(openai, "hi", response_model=Guess, strict=True)
    assert response.output == Guess(number=7)
    sent = server.requests[0].json["response_format"]["json_schema"]
    assert (sent["strict"], sent["schema"]["required"]) == (True, ["number", "why"])
    assert [w.code for w in response.warnings if w.path == "output.schema"] == ["schema_narrowed"]


def test_schema_that_strict_mode_cannot_express_is_sent_unchanged_and_not_strict(call_style, server, openai):
    server.script(completion('{"counts": {"a": 1}}'))
    response = call_style.generate(openai, "hi", response_model=schemas.Maps)
    assert response.output == schemas.Maps(counts={"a": 1})
    sent = server.requests[0].json["response_format"]["json_schema"]
    assert (sent["strict"], sent["schema"]) == (False, schemas.Maps.model_json_schema())
    assert ("strict_left_out", "output.strict") in [(w.code, w.path) for w in response.warnings]


def test_type_that_structured_output_cannot_express_is_the_arguments_of_a_forced_tool(call_style, server, anthropic):
    called = {"type": "tool_use", "id": "t1", "name": "final_answer", "input": {"counts": {"a": 1}}}
    server.script(message(called))
    response = call_style.generate(anthropic, "hi", response_model=schemas.Maps)
    assert response.output == schemas.Maps(counts={"a": 1})
    sent = server.requests[0].json
    assert sent["tool_choice"] == {"type": "tool", "name": "final_answer"}
    assert sent["tools"][0]["input_schema"] == schemas.Maps.model_json_schema()
    assert "output_config" not in sent
    [warning] = [each for each in response.warnings if each.code == "schema_as_tool"]
    assert "$.properties.counts" in warning.message or "output.schema.properties.counts" in warning.message


def test_mode_that_cannot_express_the_type_is_refused_before_sending(call_style, server, anthropic):
    with pytest.raises(UnsupportedOptionError, match="output_mode='native': m cannot be sent all of the schema"):
        call_style.generate(anthropic, "hi", response_model=schemas.Maps, output_mode="native")
    assert server.requests == []


def test_tool_arguments_are_returned_unvalidated(call_style, server, openai):
    call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": '{"q": "a", "page": 0}'}}
    body: Any = {"id": "1", "object": "chat.completion", "model": "m"}
    body["choices"] = [
        {"index": 0, "message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}
    ]
    server.script(answer(body))
    tool = ToolSpec("search", parameters=schemas.SEARCH_ISSUES, strict=True)
    response = call_style.generate(openai, "hi", tools=[tool])
    assert [call.arguments for call in response.tool_calls] == [{"q": "a", "page": 0}]
    sent = server.requests[0].json["tools"][0]["function"]
    assert sent["parameters"]["required"] == ["q", "order", "page", "per_page"]
    assert tool.parameters["required"] == ["q"]


def test_schema_that_no_vendor_accepts_is_an_error_with_its_path_before_sending(call_style, server, openai):
    broken = ToolSpec("f", parameters={"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}})
    with pytest.raises(InvalidInputError) as caught:
        call_style.generate(openai, "hi", tools=[broken])
    assert caught.value.path == "tools[0].parameters.properties.a.$ref"
    assert server.requests == []
