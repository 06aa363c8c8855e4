"""Tool names and parameters: invalid names are refused with a suggestion, or replaced in the history."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import create_llm
from abstractcore.errors import InvalidInputError
from abstractcore.ports import Transpiler
from abstractcore.schema import CallWarning, Message, ModelCall, ToolCall, ToolChoice, ToolResult, ToolSpec
from abstractcore.testing import check_call_losses, check_encode_again
from abstractcore.tools.names import LONGEST_NAME, nearest_name
from abstractcore.tools.prompted import TOOL_FORMATS, ParsedCall, tool_format
from abstractcore_providers.common import tool_names
from abstractcore_providers.common.tool_names import ToolNames, with_valid_names
from abstractcore_providers.formats.anthropic_messages import AnthropicMessages
from abstractcore_providers.formats.bedrock_converse import BedrockConverse
from abstractcore_providers.formats.cohere_chat import CohereChat
from abstractcore_providers.formats.gemini import Gemini
from abstractcore_providers.formats.gemini_interactions import GeminiInteractions
from abstractcore_providers.formats.ollama import OllamaChat
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.formats.openai_responses import OpenAIResponses
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.properties import examples
from tests.providers.formats.bedrock_converse.wire import MODEL, faults

CHATS = {preset.name: OpenAIChat(preset.dialect) for preset in VENDORS}
OWN_SERVERS = ("lmstudio", "vllm", "llama-cpp", "openai-compatible")
STRICT: dict[str, Callable[[], Transpiler]] = {
    "anthropic": AnthropicMessages,
    "bedrock": BedrockConverse,
    "google": Gemini,
    "google-interactions": GeminiInteractions,
    "openai-responses": OpenAIResponses,
    **{name: (lambda chat=chat: chat) for name, chat in CHATS.items() if name not in OWN_SERVERS},
}
TOLERANT: dict[str, Callable[[], Transpiler]] = {
    "cohere": CohereChat,
    "ollama": OllamaChat,
    **{name: (lambda chat=chat: chat) for name, chat in CHATS.items() if name in OWN_SERVERS},
}
RULES = [tool_names.OPENAI, tool_names.ANTHROPIC, tool_names.BEDROCK, tool_names.GEMINI]
LEGAL = {
    "openai": r"[a-zA-Z0-9_-]{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "bedrock": r"[a-zA-Z0-9_-]{1,64}",
    "google": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
}
"""The vendors' rules as their pages write them."""
HI = Message.user("hi")


def call(provider: str, *messages: Message, **fields: Any) -> ModelCall:
    return ModelCall(MODEL if provider == "bedrock" else "m", messages or (HI,), provider, **fields)


def used(*names: str) -> tuple[Message, ...]:
    """A conversation in which tools of these names were called."""
    calls = [ToolCall(f"c{i}", name) for i, name in enumerate(names)]
    return HI, Message.assistant(*calls), Message.tool(*(ToolResult.text(each.id, "done") for each in calls))


@pytest.mark.parametrize("provider", STRICT)
def test_invalid_tool_name_is_an_error_with_a_valid_suggestion(provider: str):
    for fields, path in (
        ({"tools": (ToolSpec("now"), ToolSpec("get weather!"))}, "tools[1].name"),
        ({"tools": (ToolSpec("now"),), "tool_choice": ToolChoice("tool", "get weather!")}, "tool_choice.tool"),
    ):
        with pytest.raises(InvalidInputError, match="'get weather!' is not a tool name") as caught:
            STRICT[provider]().encode(call(provider, **fields))
        assert (caught.value.path, caught.value.hint) == (path, "Use 'get_weather_'.")
    assert STRICT[provider]().encode(call(provider, tools=(ToolSpec("get_weather_"),)))


@pytest.mark.parametrize("provider", TOLERANT)
def test_vendors_without_a_documented_rule_accept_any_tool_name(provider: str):
    tools = (ToolSpec("get weather!"),)
    found = TOLERANT[provider]().encode(call(provider, *used("get weather!"), tools=tools))
    assert found.request.body.count(b'"get weather!"') >= 2
    assert "tool_name_changed" not in [warning.code for warning in found.warnings]


@pytest.mark.parametrize("provider", STRICT)
def test_conversation_with_invalid_tool_names_is_renamed(provider: str):
    asked = call(provider, *used("get weather!", "get_weather", "get weather?", "get weather!", ""))
    found = STRICT[provider]().encode(asked)
    changed = [w for w in found.warnings if w.code == "tool_name_changed"]
    assert [(w.path, w.requested, w.sent) for w in changed] == [
        ("messages[1].parts[0].name", "get weather!", "get_weather_"),
        ("messages[1].parts[2].name", "get weather?", "get_weather__2"),
        ("messages[1].parts[3].name", "get weather!", "get_weather_"),
        ("messages[1].parts[4].name", "", "tool"),
    ]
    assert b"get weather" not in found.request.body
    if provider == "bedrock":
        assert not faults(found.request)
    check_call_losses(STRICT[provider](), asked)
    check_encode_again(STRICT[provider](), asked)


def test_suggested_tool_name_matches_renamed_calls():
    asked = call("openai", *used("get weather!"), tools=(ToolSpec("get_weather_"),))
    body = json.loads(CHATS["openai"].encode(asked).request.body)
    (said,) = body["messages"][1]["tool_calls"]
    assert said["function"]["name"] == body["tools"][0]["function"]["name"] == "get_weather_"


def test_valid_names_are_unchanged():
    asked = call("openai", *used("a", "b"), tools=(ToolSpec("a"),))
    warnings: list[CallWarning] = []
    assert with_valid_names(asked, tool_names.OPENAI, warnings) is asked
    assert warnings == []


@pytest.mark.parametrize("names", RULES, ids=["openai", "anthropic", "bedrock", "google"])
@examples(200)
@given(name=st.text(max_size=150) | st.text("ab.:-_!0", max_size=150))
def test_closest_name_is_valid_and_idempotent(names: ToolNames, name: str):
    assert names.allow(names.nearest(name))
    assert names.nearest(name) == name or not names.allow(name)


@pytest.mark.parametrize("names", RULES, ids=["openai", "anthropic", "bedrock", "google"])
def test_closest_name_keeps_all_valid_characters(names: ToolNames):
    assert names.nearest("a" * 200) == "a" * names.longest
    assert names.nearest("!" + "a" * 200) == "_" + "a" * (names.longest - 1)
    assert names.nearest("") == "tool"


def test_truncated_names_are_distinguished_by_a_number():
    long = "a" * 70
    asked = call("openai", *used(*(f"{long}{i}" for i in range(11))))
    warnings: list[CallWarning] = []
    with_valid_names(asked, tool_names.OPENAI, warnings)
    cut = ["a" * 64, *(f"{'a' * 62}_{i}" for i in range(2, 10)), f"{'a' * 61}_10", f"{'a' * 61}_11"]
    assert [w.sent for w in warnings] == cut


@pytest.mark.parametrize(("names", "rule"), list(zip(RULES, LEGAL.values(), strict=True)), ids=LEGAL)
@examples(200)
@given(name=st.text("aZ09_-.:! ä\n", max_size=6) | st.integers(60, 130).map("a".__mul__))
def test_rules_match_the_vendors_documentation(names: ToolNames, rule: str, name: str):
    assert names.allow(name) == (re.fullmatch(rule, name) is not None)


@pytest.mark.parametrize("provider", STRICT)
def test_invalid_name_does_not_become_the_name_of_another_called_tool(provider: str):
    asked = call(provider, *used("get weather", "get_weather", "get_weather_2"), tools=(ToolSpec("get_weather"),))
    found = STRICT[provider]().encode(asked)
    changed = [(w.requested, w.sent) for w in found.warnings if w.code == "tool_name_changed"]
    assert changed == [("get weather", "get_weather_3")]


@examples(60)
@given(st.lists(st.text("ab_!? .", max_size=70) | st.sampled_from(["a" * 70, "a" * 71, "a!" * 40]), max_size=8))
def test_distinct_names_stay_distinct(names: list[str]):
    warnings: list[CallWarning] = []
    sent = with_valid_names(call("openai", *used(*names)), tool_names.OPENAI, warnings) if names else None
    if sent is None:
        return
    assert len({part.name for part in sent.messages[1].tool_calls}) == len(set(names))
    assert all(tool_names.OPENAI.allow(part.name) for part in sent.messages[1].tool_calls)


@pytest.mark.parametrize("provider", [*STRICT, *TOLERANT])
@pytest.mark.parametrize("strict", [None, False])
def test_tool_without_parameters_gets_an_empty_object_schema_where_required(provider: str, strict: Any):
    format_ = {**STRICT, **TOLERANT}[provider]()
    asked = call(provider, tools=(ToolSpec("now", strict=strict),))
    found = format_.encode(asked)
    body = json.loads(found.request.body)
    if (
        provider == "google"
    ):  # `FunctionDeclaration.parameters`: "For function with no parameters, this can be left unset"
        assert body["tools"] == [{"functionDeclarations": [{"name": "now"}]}]
    elif provider == "google-interactions":  # `Function.parameters`: optional
        assert body["tools"] == [{"type": "function", "name": "now"}]
    elif provider == "openai-responses":  # `FunctionToolParam.parameters`: required, and may be null
        assert body["tools"][0]["parameters"] is None
    else:
        empty = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        empty |= {"description": "No parameters."}
        (tool,) = body["toolConfig"]["tools"] if provider == "bedrock" else body["tools"]
        said = tool.get("function") or tool.get("toolSpec") or tool
        assert empty in (said.get("parameters"), said.get("input_schema"), said.get("inputSchema", {}).get("json"))
    assert "tools[0].parameters" not in [warning.path for warning in found.warnings]
    assert format_.parse(found.request).call.tools[0].parameters == {}


@pytest.mark.parametrize(("provider", "described"), [("perplexity", True), ("openai", False)])
def test_tool_gets_a_description_where_required(provider: str, described: bool):
    """`ToolFunction` in Perplexity's client has no optional description."""
    found = CHATS[provider].encode(call(provider, tools=(ToolSpec("now"),)))
    (tool,) = json.loads(found.request.body)["tools"]
    assert ("description" in tool["function"]) is described
    assert (found.warnings, CHATS[provider].parse(found.request).call.tools[0].description) == ((), "")


def test_invalid_name_is_refused_before_sending():
    llm = create_llm("mistral/mistral-large-latest", api_key="k", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(InvalidInputError, match=r"tools\[0\]\.name"):
        llm.generate("hi", tools=[ToolSpec("get weather!")])


FUNCTION_NAMES = st.from_regex(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{LONGEST_NAME - 1}}}", fullmatch=True)
"""Names that functions may have as tools."""


@given(FUNCTION_NAMES)
def test_every_vendor_accepts_the_names_that_functions_may_have(name: str) -> None:
    assert all(rule.allow(name) for rule in RULES)
    assert all(re.fullmatch(legal, name) for legal in LEGAL.values())


@given(st.text(max_size=100))
def test_suggested_name_of_a_function_is_accepted_by_every_vendor(name: str) -> None:
    assert all(rule.allow(nearest_name(name)) for rule in RULES)


@pytest.mark.parametrize("written_as", TOOL_FORMATS)
@pytest.mark.parametrize("name", ["get-weather", "_private", "a--b_", "X" * LONGEST_NAME])
def test_prompted_formats_carry_the_names_that_functions_may_have(written_as: str, name: str) -> None:
    chosen = tool_format(written_as)
    parser = chosen.parser([ToolSpec(name)])
    pieces = [*parser.feed(chosen.write_calls([ToolCall.of("call_0_0", name, {"city": "Lima"})])), *parser.finish()]
    calls = [piece for piece in pieces if isinstance(piece, ParsedCall)]
    assert [(call.name, json.loads(call.arguments_text)) for call in calls] == [(name, {"city": "Lima"})]
