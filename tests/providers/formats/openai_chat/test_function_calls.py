"""The deprecated `function_call` (https://platform.openai.com/docs/api-reference/chat/object), and ids of calls.

The shape is that of `ChatCompletionMessage.function_call` and `ChoiceDelta.function_call` in the openai package 3.54.
"""

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from abstractcore.schema import Message, ToolCall, ToolResult
from tests.providers.formats.openai_chat.wire import CHAT, body_of, call, chunk, response, streamed

CALLED = {"name": "rm", "arguments": '{"path":"/tmp/x"}'}
WHOLE = {
    "id": "r",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, "function_call": CALLED},
            "finish_reason": "function_call",
        }
    ],
}
EXPECTED = ToolCall("call_0", "rm", '{"path":"/tmp/x"}')


def test_function_call_is_a_tool_call():
    assert ChatCompletion.model_validate(WHOLE).choices[0].message.function_call
    reply = CHAT.decode(response(WHOLE))
    assert (reply.parts, reply.finish_reason, reply.warnings) == ((EXPECTED,), "tool_calls", ())


def test_streamed_function_call_is_a_tool_call():
    pieces = [{"name": "rm", "arguments": ""}, {"arguments": '{"path":'}, {"arguments": '"/tmp/x"}'}]
    chunks = [chunk(function_call=piece) for piece in pieces] + [chunk("function_call")]
    assert all(ChatCompletionChunk.model_validate(each) for each in chunks)
    reply = streamed(*chunks)
    assert (reply.parts, reply.finish_reason) == ((EXPECTED,), "tool_calls")


@pytest.mark.parametrize("none", [None, {}])
def test_empty_function_call_is_no_call(none):
    message = {"role": "assistant", "content": "Hi.", "function_call": none}
    reply = CHAT.decode(response({**WHOLE, "choices": [{"message": message, "finish_reason": "stop"}]}))
    assert (reply.tool_calls, reply.text) == ((), "Hi.")


def test_long_ids_are_replaced_in_calls_and_results():
    """OpenAI rejects ids over 64 characters ("string too long"); those of Gemini and Bedrock may be longer."""
    long, other = "x" * 65, "x" * 64 + "y"
    calls = (ToolCall(long, "f", "{}"), ToolCall(other, "f", "{}"), ToolCall("x" * 64, "f", "{}"))
    results = (ToolResult.of(each.id, "ok") for each in calls)
    asked = (Message.user("hi"), Message("assistant", calls), Message.tool(*results))
    _, answer, *given = body_of(call(*asked))["messages"]
    sent = [each["id"] for each in answer["tool_calls"]]
    assert sent == ["call_1_0", "call_1_1", "x" * 64] == [message["tool_call_id"] for message in given]
    longer = (*asked, Message("assistant", calls), Message.tool(*(ToolResult.of(each.id, "ok") for each in calls)))
    assert body_of(call(*longer))["messages"][1] == answer
