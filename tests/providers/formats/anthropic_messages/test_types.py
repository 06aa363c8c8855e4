"""Our requests and responses match the types of the vendor's client."""

import json
from typing import Any, get_args

import pytest
from anthropic.types import Message as TheirMessage
from anthropic.types import RawMessageStreamEvent
from anthropic.types.message_count_tokens_params import MessageCountTokensParams
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming, MessageCreateParamsStreaming
from hypothesis import given
from pydantic import TypeAdapter, ValidationError

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    Delta,
    HostedTool,
    ModelCall,
    ModelReply,
    OpaquePart,
    Part,
    ToolSpec,
    Usage,
)
from abstractcore.testing import strategies
from tests.properties import examples
from tests.providers.answering import answered
from tests.providers.formats.anthropic_messages import generated
from tests.providers.formats.anthropic_messages.wire import MESSAGES, body_of, call, rendered_events

PLAIN: Any = TypeAdapter(MessageCreateParamsNonStreaming, config=None)
STREAMING: Any = TypeAdapter(MessageCreateParamsStreaming)
COUNTED: Any = TypeAdapter(MessageCountTokensParams)
EVENT: Any = TypeAdapter(RawMessageStreamEvent)


def check_request(body: dict[str, Any]) -> None:
    """Raise `ValidationError` if `body` is not what the vendor's client takes."""
    _consume((STREAMING if body.get("stream") else PLAIN).validate_python(body))


def _consume(value: Any) -> None:
    """Lists are checked one by one, when they are read."""
    if isinstance(value, dict):
        value = value.values()
    if not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for item in value:
            _consume(item)


def without_unsupported(call: ModelCall) -> ModelCall:
    """Returns `call` without free-form values: provider options, hosted tools' options, and opaque parts."""
    hosted = tuple(
        HostedTool(tool.kind) for tool in call.hosted_tools if tool.kind in ("web_search", "code_interpreter")
    )
    messages = tuple(
        type(message)(message.role, kept)
        for message in call.messages
        if (kept := tuple(part for part in message.parts if not isinstance(part, OpaquePart)))
    )
    tools = tuple(ToolSpec(tool.name, tool.description, {"type": "object"}, tool.strict) for tool in call.tools)
    return call.with_(hosted_tools=hosted, messages=messages, tools=tools, provider_options={})


@pytest.mark.exhaustive
@examples(60)
@given(generated.calls())
def test_requests_match_the_vendors_types(call: ModelCall):
    sent = without_unsupported(call)
    check_request(body_of(sent))
    _consume(COUNTED.validate_python(json.loads(MESSAGES.operations["count_tokens"].encode(sent).request.body)))


def test_request_type_checks_detect_violations():
    body = body_of(call())
    check_request(body)
    for wrong in (
        {"messages": [{"role": "user"}]},
        {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
        {"tools": [{"type": "function"}]},
        {"tool_choice": "any"},
        {"system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "5 minutes"}}]},
        {"thinking": {"type": "enabled"}},
    ):
        with pytest.raises(ValidationError):
            check_request(body | wrong)


def described(reply: ModelReply) -> ModelReply:
    """`reply` with the counts and words the vendor always has, without metadata and opaque parts of free names."""
    usage = Usage((reply.usage.input or 0) + 2 * 10**9, reply.usage.output or 0, reply.usage.cached, None, 3)
    kept: tuple[Part, ...] = tuple(part for part in reply.parts if not isinstance(part, OpaquePart))
    return ModelReply(kept, reply.finish_reason, None, usage, reply.model, "anthropic", reply.id)


@examples(60)
@given(generated.replies())
def test_replies_match_the_vendors_types(reply: ModelReply):
    TheirMessage.model_validate(json.loads(MESSAGES.render(described(reply)).body))


@examples(60)
@given(strategies.streams(generated.replies().map(described)))
def test_events_match_the_vendors_types(case: tuple[ModelReply, list[Delta]]):
    for event in rendered_events(case[1]):
        EVENT.validate_python(event)


def test_reply_type_checks_detect_violations():
    body = json.loads(MESSAGES.render(described(ModelReply())).body)
    TheirMessage.model_validate(body)
    for wrong in ({"content": [{"type": "text"}]}, {"stop_reason": "stop"}, {"usage": {}}):
        with pytest.raises(ValidationError):
            TheirMessage.model_validate(body | wrong)
    with pytest.raises(ValidationError):
        EVENT.validate_python({"type": "content_block_start", "index": 0, "content_block": {"type": "text"}})
    assert len(get_args(get_args(RawMessageStreamEvent)[0])) >= 6


@examples(40)
@given(generated.replies())
def test_reply_can_be_sent_back_as_history(reply: ModelReply):
    said = reply.message()
    if said is None:
        return
    try:
        encoded = MESSAGES.encode(call(*answered(said)).with_(model=reply.model or "m"))
    except (UnsupportedContentError, InvalidInputError) as error:
        assert "no field for any part" in error.message  # noqa: PT017
        return
    assert json.loads(encoded.request.body)["messages"][0]["role"] == "assistant"
