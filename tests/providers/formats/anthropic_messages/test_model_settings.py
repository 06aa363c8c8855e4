"""What a model's settings change in its requests: thinking, its display and binding, computer use, the API's version.

Checked against the types of the anthropic package, and the pages in SOURCES.md.
"""

import json
from typing import Any, get_args

import pytest
from anthropic.types import ComputerToolset20260801Param, ThinkingConfigParam
from anthropic.types.anthropic_beta_param import AnthropicBetaParam
from anthropic.types.beta import BetaThinkingConfigParam
from pydantic import TypeAdapter

from abstractcore.errors import InvalidInputError
from abstractcore.schema import HostedTool, Message, OpaquePart, ReasoningPart, TextPart, ToolChoice, ToolSpec
from abstractcore_providers.common.thinking import BINDING_BETA
from abstractcore_providers.formats.anthropic_messages import AnthropicMessages, MessagesDialect
from tests.providers.formats.anthropic_messages.wire import (
    MESSAGES,
    ORIGIN,
    body_of,
    call,
    message,
    request,
    response,
    start,
    streamed,
)

SUMMARIES = AnthropicMessages(MessagesDialect(display=True))
BY_DEFAULT = AnthropicMessages(MessagesDialect(display=True, thinks_by_default=True))
BOUND = AnthropicMessages(MessagesDialect(display=True, thinks_by_default=True, block_binding=True))
ASKED_FOR = {"type": "adaptive", "display": "summarized"}
DROP = {"prefix_mismatch_behavior": "drop_block"}
STABLE: Any = TypeAdapter(ThinkingConfigParam)
BETA: Any = TypeAdapter(BetaThinkingConfigParam)
TOOLSET: Any = TypeAdapter(ComputerToolset20260801Param)


def options(**given: Any) -> dict[str, Any]:
    return {"provider_options": {"anthropic": given}}


def replayed(**fields: Any) -> Any:
    """A call that sends a model's thinking back, under another system prompt than it was thought."""
    thought = ReasoningPart("so", "c2ln", origin=ORIGIN)
    messages = (Message.system("new"), Message.user("a"), Message.assistant(thought, TextPart("b")), Message.user("c"))
    return call(*messages, **fields)


def test_a_level_asks_for_the_text_of_thinking():
    body = body_of(call(thinking="xhigh"), SUMMARIES)
    assert body["thinking"] == STABLE.validate_python(body["thinking"], strict=True) == ASKED_FOR
    assert body["output_config"] == {"effort": "xhigh"}
    assert body_of(call(thinking=2000), SUMMARIES)["thinking"]["display"] == "summarized"
    assert body_of(call(thinking="high"))["thinking"] == {"type": "adaptive"}


def test_a_model_that_thinks_by_default_is_asked_for_its_text_without_an_effort():
    body = body_of(call(), BY_DEFAULT)
    assert body["thinking"] == ASKED_FOR
    assert "output_config" not in body
    assert "thinking" not in body_of(call(), SUMMARIES)
    assert body_of(call(thinking="off"), BY_DEFAULT)["thinking"] == {"type": "disabled"}


def test_display_and_a_level_go_together():
    made = call(thinking="high", **options(thinking={"display": "omitted"}))
    for transpiler in (MESSAGES, SUMMARIES, BY_DEFAULT):
        body = body_of(made, transpiler)
        assert body["thinking"] == {"type": "adaptive", "display": "omitted"}
        assert body["output_config"] == {"effort": "high"}
        assert transpiler.parse(transpiler.encode(made).request).call == made


def test_display_without_a_level_is_merged_where_the_model_thinks_by_default():
    made = call(**options(thinking={"display": "omitted"}))
    assert body_of(made, BY_DEFAULT)["thinking"] == {"type": "adaptive", "display": "omitted"}
    assert BY_DEFAULT.parse(BY_DEFAULT.encode(made).request).call == made


def test_a_clients_level_is_read_beside_its_display():
    asked = request({"messages": [{"role": "user", "content": "a"}], "thinking": ASKED_FOR, "output_config": EFFORT})
    read = MESSAGES.parse(asked).call
    assert read.thinking == "max"
    assert read.provider_options == {"anthropic": {"thinking": {"display": "summarized"}}}
    assert not SUMMARIES.parse(asked).call.provider_options.get("anthropic")


EFFORT = {"effort": "max"}


def test_the_type_of_thinking_cannot_be_an_option_beside_a_level():
    with pytest.raises(InvalidInputError) as caught:
        MESSAGES.encode(call(thinking="high", **options(thinking={"type": "adaptive", "display": "omitted"})))
    assert caught.value.path == "provider_options.anthropic.thinking"


def test_an_option_that_is_sent_anyway_has_no_effect():
    encoded = SUMMARIES.encode(call(thinking="high", **options(thinking={"display": "summarized"})))
    assert [(warning.code, warning.path) for warning in encoded.warnings] == [
        ("no_effect", "provider_options.anthropic.thinking")
    ]


def test_display_is_left_out_if_thinking_is_off():
    encoded = SUMMARIES.encode(call(thinking="off", **options(thinking={"display": "omitted"})))
    assert json.loads(encoded.request.body)["thinking"] == {"type": "disabled"}
    assert [warning.path for warning in encoded.warnings] == ["provider_options.anthropic.thinking"]


def test_effort_beside_a_budget():
    """Claude Opus 4.5 takes both (build-with-claude/effort)."""
    made = call(thinking=2000, **options(output_config={"effort": "low"}))
    body = body_of(made)
    assert (body["thinking"]["budget_tokens"], body["output_config"]) == (2000, {"effort": "low"})
    assert MESSAGES.parse(MESSAGES.encode(made).request).call == made


def test_effort_without_thinking_is_limited():
    transpiler = AnthropicMessages(MessagesDialect(off_effort="high"))
    encoded = transpiler.encode(call(thinking="off", **options(output_config={"effort": "max"})))
    assert json.loads(encoded.request.body)["output_config"] == {"effort": "high"}
    assert [(warning.code, warning.path, warning.sent) for warning in encoded.warnings] == [
        ("option_changed", "provider_options.anthropic.output_config.effort", "high")
    ]
    assert not transpiler.encode(call(thinking="off", **options(output_config={"effort": "high"}))).warnings


@pytest.mark.parametrize("thinking", [None, "low", "max"])
def test_replayed_thinking_is_dropped_and_not_refused_if_its_conversation_changed(thinking: Any):
    made = replayed(thinking=thinking)
    encoded = BOUND.encode(made)
    field = json.loads(encoded.request.body)["thinking"]
    assert field == BETA.validate_python(field, strict=True) == {**ASKED_FOR, "block_binding": DROP}
    assert encoded.request.headers["anthropic-beta"] == BINDING_BETA
    assert encoded.warnings == ()
    assert BOUND.parse(encoded.request).call == made


def test_the_beta_of_block_binding_is_one_of_the_vendors():
    assert BINDING_BETA in {name for part in get_args(AnthropicBetaParam) for name in get_args(part)}


def test_block_binding_is_sent_only_with_earlier_thinking():
    encoded = BOUND.encode(call(thinking="high"))
    assert json.loads(encoded.request.body)["thinking"] == ASKED_FOR
    assert "anthropic-beta" not in encoded.request.headers
    assert body_of(replayed(), BY_DEFAULT)["thinking"] == ASKED_FOR


def test_the_users_block_binding_is_kept():
    refuse = {"block_binding": {"prefix_mismatch_behavior": "error"}}
    for transpiler in (MESSAGES, BOUND):
        made = replayed(thinking="high", **options(thinking=refuse))
        encoded = transpiler.encode(made)
        assert json.loads(encoded.request.body)["thinking"].items() >= refuse.items()
        assert encoded.request.headers["anthropic-beta"] == BINDING_BETA
        assert transpiler.parse(encoded.request).call == made


def test_bound_thinking_is_left_out_if_thinking_is_off():
    """`block_binding` does not exist on `disabled`: a changed conversation would be refused."""
    encoded = BOUND.encode(replayed(thinking="off"))
    body = json.loads(encoded.request.body)
    assert (body["thinking"], body["messages"][1]["content"]) == ({"type": "disabled"}, [{"type": "text", "text": "b"}])
    assert [(warning.code, warning.path) for warning in encoded.warnings] == [
        ("reasoning_left_out", "messages[2].parts[0]")
    ]
    assert BY_DEFAULT.encode(replayed(thinking="off")).warnings == ()


def test_dropped_thinking_is_in_the_metadata_of_a_reply():
    dropped = [{"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"}]
    reply = BOUND.decode(response(message({"type": "text", "text": "a"}, input_transformations=dropped)))
    assert reply.provider_metadata["input_transformations"] == dropped
    change = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "input_transformations": dropped}
    assert streamed(start(), change, {"type": "message_stop"}).provider_metadata["input_transformations"] == dropped


def test_a_forced_tool_and_a_level_go_together():
    made = call(thinking="high", tools=(ToolSpec("f", "", {"type": "object"}),), tool_choice=ToolChoice("required"))
    body = body_of(made, BOUND)
    assert (body["tool_choice"], body["thinking"]) == ({"type": "any"}, ASKED_FOR)


@pytest.mark.parametrize(
    ("type_", "beta"),
    [
        ("computer_toolset_20260801", None),
        ("computer_20251124", "computer-use-2025-11-24"),
        ("computer_20250124", "computer-use-2025-01-24"),
    ],
)
def test_computer_use_has_the_version_of_the_model(type_: str, beta: str | None):
    transpiler = AnthropicMessages(MessagesDialect(computer_tool=type_))
    made = call(hosted_tools=(HostedTool("computer_use"),))
    encoded = transpiler.encode(made)
    (tool,) = json.loads(encoded.request.body)["tools"]
    assert (tool["type"], tool.get("name")) == (type_, None if beta is None else "computer")
    assert encoded.request.headers.get("anthropic-beta") == beta
    assert transpiler.parse(encoded.request).call == made


def test_a_toolset_has_no_display_size():
    encoded = MESSAGES.encode(call(hosted_tools=(HostedTool("computer_use", {"display_width_px": 1024, "x": 1}),)))
    assert json.loads(encoded.request.body)["tools"] == [{"type": "computer_toolset_20260801", "x": 1}]
    assert [(w.code, w.path) for w in encoded.warnings] == [
        ("unsupported_option", "hosted_tools[0].options.display_width_px")
    ]
    assert TOOLSET.validate_python({"type": "computer_toolset_20260801"}, strict=True)


def test_an_explicit_default_version_has_no_effect():
    encoded = MESSAGES.encode(call(hosted_tools=(HostedTool("computer_use", {"type": "computer_toolset_20260801"}),)))
    assert json.loads(encoded.request.body)["tools"] == [{"type": "computer_toolset_20260801"}]
    assert [warning.code for warning in encoded.warnings] == ["no_effect"]


def test_the_version_of_the_api_is_sent():
    newest = AnthropicMessages(MessagesDialect(version="2026-10-21"))
    for encoded in (newest.encode(call()), newest.operations["count_tokens"].encode(call())):
        assert encoded.request.headers["anthropic-version"] == "2026-10-21"
    assert "anthropic-version" not in MESSAGES.encode(call()).request.headers


def test_documents_in_an_answer_are_left_out_from_the_version_that_refuses_them():
    """https://platform.claude.com/docs/en/api/migration-2026-10-21."""
    document = OpaquePart(
        "anthropic", "document", {"source": {"type": "text", "media_type": "text/plain", "data": "d"}}
    )
    made = call(Message.user("a"), Message.assistant(document, TextPart("b")), Message.user("c"))
    for version, kept in (("", 2), ("2023-06-01", 2), ("2026-10-21", 1)):
        encoded = AnthropicMessages(MessagesDialect(version=version)).encode(made)
        assert len(json.loads(encoded.request.body)["messages"][1]["content"]) == kept
        assert [warning.code for warning in encoded.warnings] == ["part_left_out"] * (2 - kept)
