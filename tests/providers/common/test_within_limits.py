"""Calls within the limits of every vendor: refused names are replaced, what exceeds another limit is refused."""

import importlib
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from abstractcore import create_llm
from abstractcore.engine.lowering.changes import refuse_losses
from abstractcore.errors import InvalidInputError
from abstractcore.ports import Transpiler
from abstractcore.schema import (
    CallWarning,
    Message,
    ModelCall,
    OutputSchema,
    Sampling,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
)
from abstractcore.testing import check_call_losses, check_encode_again
from abstractcore_providers.common import json_schemas, request_limits
from abstractcore_providers.common.request_limits import PairsLimit, RequestLimits, TextLimit, within_limits
from abstractcore_providers.formats.anthropic_messages import AnthropicMessages
from abstractcore_providers.formats.bedrock_converse import BedrockConverse
from abstractcore_providers.formats.cohere_chat import CohereChat
from abstractcore_providers.formats.gemini import Gemini
from abstractcore_providers.formats.gemini_interactions import GeminiInteractions
from abstractcore_providers.formats.ollama import OllamaChat
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.formats.openai_responses import OpenAIResponses
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.providers.formats.bedrock_converse.wire import MODEL, faults, service

CHATS = {preset.name: OpenAIChat(preset.dialect) for preset in VENDORS if preset.dialect.has_chat}
OWN_SERVERS = ("jan", "llama-cpp", "llamafile", "lmstudio", "openai-compatible", "sglang", "tgi", "vllm")
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
HI = Message.user("hi")


def call(provider: str, *messages: Message, **fields: Any) -> ModelCall:
    return ModelCall(MODEL if provider == "bedrock" else "m", messages or (HI,), provider, **fields)


def used(*names: str) -> tuple[Message, ...]:
    """A conversation in which tools of these names were called."""
    calls = [ToolCall(f"c{i}", name) for i, name in enumerate(names)]
    return HI, Message.assistant(*calls), Message.tool(*(ToolResult.text(each.id, "done") for each in calls))


@pytest.mark.parametrize("provider", TOLERANT)
def test_vendors_without_a_documented_rule_accept_any_tool_name(provider: str):
    tools = (ToolSpec("get weather!"),)
    found = TOLERANT[provider]().encode(call(provider, *used("get weather!"), tools=tools))
    assert found.request.body.count(b'"get weather!"') >= 2
    assert "tool_name_changed" not in [warning.code for warning in found.warnings]


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


@pytest.mark.parametrize("provider", STRICT)
def test_refused_names_are_replaced_in_definitions_the_choice_and_the_history(provider: str):
    history = used("get weather!", "get_weather", "get weather?", "get weather!", "")
    tools = (ToolSpec("get_weather"), ToolSpec("get weather!", "Now."), ToolSpec("a" * 129))
    asked = call(provider, *history, tools=tools, tool_choice=ToolChoice("tool", "get weather!"))
    found = STRICT[provider]().encode(asked)
    changed = {w.path: w.sent for w in found.warnings if w.code == "tool_name_changed"}
    sent = changed["tools[1].name"]
    assert isinstance(sent, str)
    assert changed.items() >= {
        ("messages[1].parts[0].name", sent),
        ("messages[1].parts[3].name", sent),
        ("tools[1].description", "get weather!: Now."),
    }
    assert changed.get("tool_choice.tool", sent) == sent
    assert b"get weather?" not in found.request.body
    assert len(set(changed.values())) == 5
    assert "tools[0].name" not in changed
    assert "tools[2].description" not in changed, "the beginning of the name says enough"
    assert found.names is not None
    assert found.names.tools[sent] == "get weather!"
    if provider == "bedrock":
        assert not faults(found.request)
    check_call_losses(STRICT[provider](), asked)
    check_encode_again(STRICT[provider](), asked)


SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"$top": {"type": "integer"}, "ok": {"type": "object", "properties": {"ä": {"type": "string"}}}},
    "required": ["$top"],
}


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
def test_refused_properties_are_replaced_in_the_schema_and_in_earlier_arguments(provider: str):
    said = ToolCall("c", "list", ' {"$top": 1.10, "ok": {"ä": "$top"}}\n')
    history = (HI, Message.assistant(said), Message.tool(said.result("done")))
    asked = call(provider, *history, tools=(ToolSpec("list", parameters=SCHEMA),))
    format_ = STRICT[provider]()
    found = format_.encode(asked)
    sent = format_.parse(found.request).call
    top, inner = sent.tools[0].parameters["properties"].items()
    (nested,) = inner[1]["properties"].items()
    assert sent.messages[1].tool_calls[0].arguments_text == (f'{{"{top[0]}": 1.10, "ok": {{"{nested[0]}": "$top"}}}}')
    assert sent.tools[0].parameters["required"] == [top[0]]
    assert (top[1]["description"], nested[1]["description"]) == ("$top", "ä")
    assert found.names is not None
    assert found.names.arguments == {"list": {top[0]: "$top", nested[0]: "ä"}}
    check_call_losses(format_, asked)
    check_encode_again(format_, asked)


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "groq", "mistral"])
def test_refused_name_of_a_schema_is_replaced(provider: str):
    asked = call(provider, output=OutputSchema("Answer of May", {"type": "object", "properties": {}}))
    found = STRICT[provider]().encode(asked)
    assert [w.path for w in found.warnings if w.code == "schema_name_changed"] == ["output.name"]
    assert b"Answer of May" not in found.request.body
    assert found.names is None, "a reply does not have it"
    check_call_losses(STRICT[provider](), asked)


def test_arguments_that_cannot_be_read_stay_as_they_are():
    said = ToolCall("c", "list", '{"$top": ')
    asked = call("anthropic", HI, Message.assistant(said), Message.tool(said.result("done")))
    asked = asked.with_(tools=(ToolSpec("list", parameters=SCHEMA),))
    warnings: list[CallWarning] = []
    sent, _ = within_limits(asked, request_limits.ANTHROPIC, json_schemas.ANTHROPIC, "anthropic", warnings)
    assert sent.messages == asked.messages
    assert warnings == []


def test_call_within_the_limits_stays_the_same_object():
    asked = call("openai", *used("a", "b"), tools=(ToolSpec("a", parameters=SCHEMA),), sampling=Sampling(stop=("x",)))
    warnings: list[CallWarning] = []
    found = within_limits(asked, request_limits.OPENAI_CHAT, json_schemas.OPENAI, "openai", warnings)
    assert found == (asked, None)
    assert found[0] is asked
    assert warnings == []


@pytest.mark.parametrize("provider", STRICT)
def test_strict_call_accepts_names_that_come_back(provider: str):
    """Nothing is lost: a name that is replaced in the request is restored in the reply."""
    asked = call(provider, tools=(ToolSpec("get weather!", parameters={"type": "object", "properties": {"a": {}}}),))
    refuse_losses(STRICT[provider]().encode(asked).warnings[:1], asked)


# Numbers and lengths

EVERY_ROW: Mapping[str, tuple[Transpiler, RequestLimits]] = {
    "anthropic": (AnthropicMessages(), request_limits.ANTHROPIC),
    "bedrock": (BedrockConverse(), request_limits.BEDROCK),
    "cohere": (CohereChat(), request_limits.COHERE),
    "google": (Gemini(), request_limits.GEMINI),
    "google-interactions": (GeminiInteractions(), request_limits.GEMINI),
    "openai-responses": (OpenAIResponses(), request_limits.OPENAI_RESPONSES),
    **{
        preset.name: (OpenAIChat(preset.dialect), preset.dialect.limits)
        for preset in VENDORS
        if preset.dialect.has_chat
    },
}


def at_limits(provider: str, limits: RequestLimits, over: int) -> dict[str, tuple[ModelCall, str]]:
    """For each number and length that is limited, a call that has `over` more than that, and the path of it."""
    asked, options = call(provider), f"provider_options.{provider}"
    found: dict[str, tuple[ModelCall, str]] = {}
    if limits.tools is not None:
        tools = tuple(ToolSpec(f"t{i}") for i in range(limits.tools + over))
        found["tools"] = asked.with_(tools=tools), "tools"
    if limits.stops is not None:
        stops = tuple(f"s{i}" for i in range(limits.stops + over))
        found["stops"] = asked.with_(sampling=Sampling(stop=stops)), "sampling.stop"
    for name, limit in limits.options.items():
        values = [({"k": "v"}, "")]
        if isinstance(limit, TextLimit):
            values = [("x" * (limit.longest + over), "")]
        elif isinstance(limit, PairsLimit):
            values = [
                ({f"k{i}": "v" for i in range(limit.most + over)}, ""),
                ({"k" * (limit.longest_key + over): "v"}, ""),
                ({"k": "v" * (limit.longest_value + over)}, ".k"),
            ]
        for index, (value, more) in enumerate(values):
            given = asked.with_(provider_options={provider: {name: value}})
            found[f"{name} {index}"] = given, f"{options}.{name}{more}"
    return found


def test_every_number_and_length_is_accepted_up_to_its_limit_and_refused_beyond_with_the_path():
    walked = 0
    for provider, (format_, limits) in EVERY_ROW.items():
        for what, (asked, _) in at_limits(provider, limits, 0).items():
            assert format_.encode(asked).request.body, (provider, what)
        for what, (asked, path) in at_limits(provider, limits, 1).items():
            with pytest.raises(InvalidInputError, match="this provider accepts at most") as caught:
                format_.encode(asked)
            assert caught.value.path == path, (provider, what)
            assert caught.value.hint, (provider, what)
            walked += 1
    assert (len(EVERY_ROW), walked) == (43, 25)


def test_strict_tools_beyond_the_limit_are_sent_but_not_enforced():
    tools = tuple(ToolSpec(f"t{i}", parameters=SCHEMA, strict=i != 3) for i in range(23))
    asked = call("anthropic", tools=tools)
    found = AnthropicMessages().encode(asked)
    strict = [tool.get("strict") for tool in json.loads(found.request.body)["tools"]]
    assert strict == [True] * 3 + [False] + [True] * 17 + [False] * 2
    assert [w.path for w in found.warnings if w.code == "strict_left_out"] == ["tools[21].strict", "tools[22].strict"]
    check_call_losses(AnthropicMessages(), asked)


def test_too_many_tools_are_refused_before_sending():
    llm = create_llm("groq/llama-3.3-70b-versatile", api_key="k", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(InvalidInputError, match="129 tools: this provider accepts at most 128") as caught:
        llm.generate("hi", tools=[ToolSpec(f"t{i}") for i in range(129)])
    assert "defer=True" in (caught.value.hint or "")


# What the vendors publish

OPENAI_CHAT, OPENAI_RESPONSES = request_limits.OPENAI_CHAT, request_limits.OPENAI_RESPONSES
GROQ, XAI, COHERE, GEMINI = request_limits.GROQ, request_limits.XAI, request_limits.COHERE, request_limits.GEMINI
METADATA = "Set of {0.most} key-value pairs"
KEYS = "Keys are strings with a maximum length of {0.longest_key} characters."
VALUES = "Values are strings with a maximum length of {0.longest_value} characters."
USER = "uniquely identifies each user, with a maximum length of {0.longest} characters."
NAME = "contain underscores and dashes, with a maximum length of {0.longest}."
PUBLISHED: list[tuple[str, str, Any]] = [
    ("openai.types.chat.completion_create_params", "Up to {0.stops} sequences", OPENAI_CHAT),
    *(
        (f"openai.types.{module}", words, limits.options[option])
        for module, limits in (
            ("chat.completion_create_params", OPENAI_CHAT),
            ("responses.response_create_params", OPENAI_RESPONSES),
        )
        for option, words in (
            ("metadata", METADATA),
            ("metadata", KEYS),
            ("metadata", VALUES),
            ("safety_identifier", USER),
        )
    ),
    ("openai.types.shared_params.function_definition", NAME, OPENAI_CHAT.tool_names),
    ("openai.types.shared_params.response_format_json_schema", NAME, OPENAI_CHAT.output_names),
    ("groq.types.chat.completion_create_params", "A max of {0.tools} functions are supported.", GROQ),
    ("groq.types.chat.completion_create_params", "Up to {0.stops} sequences", GROQ),
    ("groq.types.shared_params.function_definition", NAME, GROQ.tool_names),
    ("xai_sdk.chat", "A maximum of {0.tools} tools can be provided", XAI),
    ("xai_sdk.chat", "Up to {0.stops} sequences", XAI),
    ("cohere.v2.client", "A list of up to {0.stops} strings", COHERE),
    ("google.genai.types", "Maximum {0.tools} function declarations can be provided.", GEMINI),
    ("google.genai.types", "dots, colons and dashes, with a maximum length of {0.longest}.", GEMINI.tool_names),
]


@pytest.mark.parametrize(("module", "words", "limits"), PUBLISHED)
def test_limits_are_those_that_the_vendors_packages_name(module: str, words: str, limits: Any):
    source = " ".join(inspect.getsource(importlib.import_module(module)).split())
    assert words.format(limits) in source


def test_limits_of_bedrock_are_those_of_the_vendors_model():
    shapes = {name: service().shape_for(name) for name in service().shape_names}
    metadata = request_limits.BEDROCK.options["requestMetadata"]
    assert shapes["InferenceConfigurationStopSequencesList"].metadata["max"] == request_limits.BEDROCK.stops
    assert shapes["ToolName"].metadata == {"min": 1, "max": 64, "pattern": "[a-zA-Z0-9_-]+"}
    assert metadata == PairsLimit(
        *(
            shapes[name].metadata["max"]
            for name in ("RequestMetadata", "RequestMetadataKeyString", "RequestMetadataValueString")
        )
    )


def test_every_row_names_its_source():
    rows = [value for value in vars(request_limits).values() if isinstance(value, RequestLimits)]
    assert len(rows) == len({row.source for row in rows}) == 13
    assert {id(limits) for _, limits in EVERY_ROW.values()} <= {id(row) for row in rows}
