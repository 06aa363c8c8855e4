"""What a model's dialect changes in its requests: thinking and its binding, and definitions of tools already used.

Checked against botocore's model of the service, and the pages in SOURCES.md.
"""

import json
from typing import Any

import pytest

from abstractcore.schema import (
    HostedTool,
    HostedToolCall,
    HostedToolResult,
    Message,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
)
from abstractcore_providers.common.thinking import BINDING_BETA
from tests.providers.formats.bedrock_converse.wire import CONVERSE, MODEL, NEWEST, OTHER, body_of, call, faults

FIELDS = "additionalModelRequestFields"
ASKED_FOR = {"type": "adaptive", "display": "summarized"}
DROP = {"prefix_mismatch_behavior": "drop_block"}
STUB = {"toolSpec": {"name": "price", "inputSchema": {"json": {"type": "object"}}}}
USED = (
    Message.user("a"),
    Message.assistant(ToolCall("c1", "price", "{}")),
    Message.tool(ToolResult.text("c1", "8")),
)


def options(**given: Any) -> dict[str, Any]:
    return {"provider_options": {"bedrock": given}}


def replayed(**fields: Any) -> Any:
    thought = ReasoningPart("so", "c2ln", origin=f"bedrock/{MODEL}")
    return call(Message.user("a"), Message.assistant(thought, TextPart("b")), Message.user("c"), **fields)


def test_the_text_of_thinking_is_asked_for():
    body = body_of(call(thinking="max"), NEWEST)
    assert (body[FIELDS], body["outputConfig"]) == ({"thinking": ASKED_FOR}, {"effort": "max"})
    assert not faults(NEWEST.encode(call(thinking="max")).request)
    assert body_of(call(), NEWEST)[FIELDS] == {"thinking": ASKED_FOR}
    assert FIELDS not in body_of(call())


def test_display_and_a_level_go_together():
    made = call(thinking="high", **options(**{FIELDS: {"thinking": {"display": "omitted"}, "x": 1}}))
    for transpiler in (CONVERSE, NEWEST):
        fields = body_of(made, transpiler)[FIELDS]
        assert fields == {"thinking": {"type": "adaptive", "display": "omitted"}, "x": 1}
        assert transpiler.parse(transpiler.encode(made).request).call == made


def test_replayed_thinking_is_dropped_and_not_refused_if_its_conversation_changed():
    made = replayed(thinking="low")
    encoded = NEWEST.encode(made)
    assert json.loads(encoded.request.body)[FIELDS] == {
        "thinking": {**ASKED_FOR, "block_binding": DROP},
        "anthropic_beta": [BINDING_BETA],
    }
    assert encoded.warnings == ()
    assert not faults(encoded.request)
    assert NEWEST.parse(encoded.request).call == made


def test_the_users_betas_are_kept():
    made = replayed(**options(**{FIELDS: {"anthropic_beta": ["one"]}}))
    assert body_of(made, NEWEST)[FIELDS]["anthropic_beta"] == ["one", BINDING_BETA]
    assert NEWEST.parse(NEWEST.encode(made).request).call == made


def test_bound_thinking_is_left_out_if_thinking_is_off():
    encoded = NEWEST.encode(replayed(thinking="off"))
    assert json.loads(encoded.request.body)["messages"][1]["content"] == [{"text": "b"}]
    assert [(warning.code, warning.path) for warning in encoded.warnings] == [
        ("reasoning_left_out", "messages[1].parts[0]")
    ]


def test_effort_without_thinking_is_limited():
    encoded = NEWEST.encode(call(thinking="off", **options(outputConfig={"effort": "xhigh"})))
    assert json.loads(encoded.request.body)["outputConfig"] == {"effort": "high"}
    assert [warning.path for warning in encoded.warnings] == ["provider_options.bedrock.outputConfig.effort"]


def test_a_conversation_with_tool_calls_has_definitions_and_claude_may_not_call_them():
    encoded = NEWEST.encode(call(*USED))
    body = json.loads(encoded.request.body)
    assert body["toolConfig"] == {"tools": [STUB]}
    assert body[FIELDS]["tool_choice"] == {"type": "none"}
    assert not faults(encoded.request)
    assert [(warning.code, warning.path) for warning in encoded.warnings] == [
        ("tools_added", "tools"),
        ("tool_choice_changed", "tool_choice"),
    ]


def test_a_conversation_with_tool_calls_has_definitions_for_other_models():
    encoded = OTHER.encode(call(*USED))
    body = json.loads(encoded.request.body)
    assert (body["toolConfig"], FIELDS in body) == ({"tools": [STUB]}, False)
    assert [(warning.code, warning.path) for warning in encoded.warnings] == [("tools_added", "tools")]
    (warning,) = encoded.warnings
    assert OTHER.parse(encoded.request).call.tools == (ToolSpec("price", "", {"type": "object"}),)
    assert warning.sent


def test_a_conversation_with_hosted_calls_has_their_definitions():
    search = HostedToolCall("h1", "nova_grounding", "{}")
    found = HostedToolResult("h1", (TextPart("r"),))
    encoded = OTHER.encode(call(Message.user("a"), Message.assistant(search, found, TextPart("b")), Message.user("c")))
    assert json.loads(encoded.request.body)["toolConfig"] == {"tools": [{"systemTool": {"name": "nova_grounding"}}]}
    assert [(warning.code, warning.path) for warning in encoded.warnings] == [("tools_added", "hosted_tools")]
    assert OTHER.parse(encoded.request).call.hosted_tools == (HostedTool("web_search"),)


@pytest.mark.parametrize("messages", [(Message.user("a"),), USED])
def test_tools_are_forbidden_and_kept_where_the_model_has_a_field_for_it(messages: tuple[Message, ...]):
    made = call(*messages, tools=(ToolSpec("price", "", {"type": "object"}),), tool_choice=ToolChoice("none"))
    encoded = NEWEST.encode(made)
    body = json.loads(encoded.request.body)
    assert (body["toolConfig"], body[FIELDS]["tool_choice"]) == ({"tools": [STUB]}, {"type": "none"})
    assert encoded.warnings == ()
    assert NEWEST.parse(encoded.request).call == made


def test_tools_of_the_call_are_the_only_definitions():
    tool = ToolSpec("other", "", {"type": "object"})
    assert body_of(call(*USED, tools=(tool,)), OTHER)["toolConfig"]["tools"][0]["toolSpec"]["name"] == "other"
    assert OTHER.encode(call(*USED, tools=(tool,))).warnings == ()
