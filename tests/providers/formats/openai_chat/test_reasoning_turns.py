"""Reasoning goes back to every OpenAI-compatible vendor as documented: in which field, and in which turns."""

import json
from itertools import product
from typing import Any

import pytest

from abstractcore.schema import Message, ModelCall, ModelReply, ReasoningPart, ToolCall, ToolResult, accumulate
from abstractcore.testing import check_call_losses, check_encode_again
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.formats.openai_chat.decode import turns_with_calls
from abstractcore_providers.formats.openai_chat.dialect import LLAMA_CPP, RECEIVED, VERTEX
from abstractcore_providers.formats.openai_chat.vocabulary import has_details
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.providers.formats.openai_chat.wire import chunk, decoded, events, response

CHATS = {preset.name: OpenAIChat(preset.dialect) for preset in VENDORS if preset.dialect.has_chat}
CHATS |= {dialect.provider: OpenAIChat(dialect) for dialect in (LLAMA_CPP, VERTEX)}
CONTENT, SHORT, DETAILS, BLOCKS = "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"
ALWAYS, WITH_CALLS = "in all turns", "in turns with calls of tools"
SENT_BACK: dict[str, tuple[str | None, str, str]] = {
    "openai": (None, ALWAYS, "developers.openai.com/api/reference/resources/chat: replies have none"),
    "azure": (None, ALWAYS, "as openai"),
    "openrouter": (DETAILS, ALWAYS, "openrouter.ai/docs/use-cases/reasoning-tokens: preserving reasoning"),
    "groq": (SHORT, WITH_CALLS, "ChatCompletionAssistantMessageParam in the groq package"),
    "mistral": ("pieces", ALWAYS, "docs.mistral.ai/capabilities/reasoning: ThinkChunk in AssistantMessage"),
    "deepseek": (CONTENT, ALWAYS, "api-docs.deepseek.com/guides/thinking_mode: required with calls, else ignored"),
    "xai": (None, ALWAYS, "docs.x.ai/developers/model-capabilities/text/best-practices: Chat Completions has no field"),
    "together": (RECEIVED, WITH_CALLS, "docs.together.ai/docs/glm-5.3-quickstart: its field depends on the model"),
    "fireworks": (CONTENT, ALWAYS, "docs.fireworks.ai/guides/reasoning: preserved and interleaved thinking"),
    "perplexity": (None, ALWAYS, "docs.perplexity.ai/docs/sonar: it comes between tags, and no field takes it"),
    "cerebras": (None, ALWAYS, "inference-docs.cerebras.ai/capabilities/reasoning: no field in requests"),
    "lmstudio": (RECEIVED, WITH_CALLS, "lmstudio.ai/docs/developer/api-changelog: its field depends on the model"),
    "vllm": (SHORT, ALWAYS, "docs.vllm.ai/en/latest/features/reasoning_outputs"),
    "llama-cpp": (CONTENT, ALWAYS, "tools/server/README.md in github.com/ggml-org/llama.cpp"),
    "local": (CONTENT, ALWAYS, "as llama-cpp"),
    "moonshot": (CONTENT, ALWAYS, "platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model: required with tool calls"),
    "dashscope": (CONTENT, WITH_CALLS, "alibabacloud.com/help/en/model-studio/deep-thinking"),
    "zai": (CONTENT, ALWAYS, "docs.z.ai/guides/capabilities/thinking-mode: returned together with the tool results"),
    "minimax": (RECEIVED, WITH_CALLS, "platform.minimax.io/docs/api-reference/text-openai-api: the complete message"),
    "vercel": (DETAILS, ALWAYS, "vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions/reasoning"),
    "huggingface": (RECEIVED, WITH_CALLS, "its vendors' servers"),
    "portkey": (RECEIVED, WITH_CALLS, "its vendors' servers"),
    "litellm": (RECEIVED, WITH_CALLS, "docs.litellm.ai/docs/reasoning_content"),
    "nvidia": (RECEIVED, WITH_CALLS, "docs.api.nvidia.com/nim/reference/llm-apis: depends on the model"),
    "deepinfra": (RECEIVED, WITH_CALLS, "docs.deepinfra.com/chat/reasoning"),
    "sambanova": (RECEIVED, WITH_CALLS, "docs.sambanova.ai: depends on the model"),
    "novita": (RECEIVED, WITH_CALLS, "novita.ai/docs/guides/llm-interleaved-thinking: depends on the model"),
    "nebius": (RECEIVED, WITH_CALLS, "docs.tokenfactory.nebius.com/api-reference/inference/create-chat-completion"),
    "hyperbolic": (RECEIVED, WITH_CALLS, "docs.hyperbolic.xyz/docs/rest-api"),
    "baseten": (RECEIVED, WITH_CALLS, "docs.baseten.co/inference/model-apis/reasoning"),
    "cloudflare": (RECEIVED, WITH_CALLS, "developers.cloudflare.com/workers-ai/models: depends on the model"),
    "databricks": (RECEIVED, WITH_CALLS, "docs.databricks.com: query-reason-models, depends on the model"),
    "bedrock-openai": (RECEIVED, WITH_CALLS, "docs.aws.amazon.com/bedrock: depends on the model"),
    "vertex-openai": (RECEIVED, WITH_CALLS, "docs.cloud.google.com/vertex-ai: maas, depends on the model"),
    "sglang": (CONTENT, ALWAYS, "docs.sglang.io, separate_reasoning: as DeepSeek's API"),
    "tgi": (RECEIVED, WITH_CALLS, "huggingface.co/docs/text-generation-inference: tags of the model"),
    "llamafile": (CONTENT, ALWAYS, "as llama-cpp"),
    "jan": (CONTENT, ALWAYS, "as llama-cpp"),
    "openai-compatible": (RECEIVED, WITH_CALLS, "any server: Moonshot and DeepSeek behind it refuse calls without"),
}
"""The field in which reasoning goes back, when, and the page that says so. Servers that pass on models of many vendors
get it as they sent it.
"""
THOUGHT = "Hm.\n"
ANSWERS: dict[str, dict[str, Any]] = {
    CONTENT: {"reasoning_content": THOUGHT, "content": "Let me see."},
    SHORT: {"reasoning": THOUGHT, "content": "Let me see."},
    DETAILS: {
        "reasoning": THOUGHT,
        "reasoning_details": [{"type": "reasoning.text", "text": THOUGHT, "format": "f", "index": 0}],
        "content": "Let me see.",
    },
    BLOCKS: {
        "reasoning_content": THOUGHT,
        "thinking_blocks": [
            {"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "ZW5j"},
        ],
        "content": "Let me see.",
    },
    "pieces": {
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
            {"type": "text", "text": "Let me see."},
        ]
    },
    "tags": {"content": f"<think>{THOUGHT}</think>Let me see."},
}
"""The same answer from servers with different fields."""
ASKED = ToolCall("call_abcd", "f")
LOOP = [Message.tool(ToolResult.text(ASKED.id, "1"))]


def answered(chat: OpenAIChat, answer: dict[str, Any], *, streamed: bool) -> ModelReply:
    if not streamed:
        return chat.decode(response({"model": "m", "choices": [{"message": answer, "finish_reason": "stop"}]}))
    pieces = [chunk(**{name: value}) for name, value in answer.items() if name not in (DETAILS, BLOCKS)]
    pieces[0]["choices"][0]["delta"] |= {name: answer[name] for name in (DETAILS, BLOCKS) if name in answer}
    return accumulate(decoded([events([*pieces, chunk("stop")])], chat))


def is_read(chat: OpenAIChat, came: str) -> bool:
    """Whether replies of this vendor may have reasoning in the field."""
    dialect = chat.dialect
    received = dialect.reasoning_field == RECEIVED
    return {DETAILS: has_details(dialect), BLOCKS: received, "tags": dialect.think_tags}.get(came, True)


def next_call(chat: OpenAIChat, reply: ModelReply, *, in_loop: bool) -> ModelCall:
    calls = (ASKED,) if in_loop else ()
    answer = Message.assistant(*reply.parts, *calls)
    after = LOOP if in_loop else [Message.user("And then?")]
    return ModelCall("m", (Message.user("hi"), answer, *after), chat.dialect.provider)


def expected(name: str, came: str, *, in_loop: bool) -> dict[str, Any]:
    """The fields of the answer in the next request."""
    field, turns, _ = SENT_BACK[name]
    field = came if field == RECEIVED else field
    plain: dict[str, Any] = {"content": "Let me see."}
    if field is None or (turns == WITH_CALLS and not in_loop):
        return plain
    if field == DETAILS:
        details = ANSWERS[DETAILS][DETAILS]
        return plain | {DETAILS: details if came == DETAILS else [{"type": "reasoning.text", "text": THOUGHT}]}
    if field == BLOCKS:
        return plain | {BLOCKS: ANSWERS[BLOCKS][BLOCKS]}
    return ANSWERS[field] if field in ("pieces", "tags") else plain | {field: THOUGHT}


WALK = [(name, came) for name, came in product(CHATS, ANSWERS) if is_read(CHATS[name], came)]


def test_the_walk_covers_every_vendor_and_field():
    assert set(SENT_BACK) == set(CHATS)
    assert {name for name, _ in WALK} == set(CHATS)
    assert len(WALK) >= 3 * len(CHATS)


@pytest.mark.parametrize("in_loop", [True, False], ids=["tool loop", "next turn"])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("name", "came"), WALK)
def test_reasoning_goes_back_as_the_vendor_documents(name: str, came: str, streamed: bool, in_loop: bool):
    chat = CHATS[name]
    reply = answered(chat, ANSWERS[came], streamed=streamed)
    assert "".join(part.text for part in reply.parts if isinstance(part, ReasoningPart)) == THOUGHT
    asked = next_call(chat, reply, in_loop=in_loop)
    encoded = chat.encode(asked)
    body = json.loads(encoded.request.body)["messages"][1]
    sent = {key: value for key, value in body.items() if key not in ("role", "tool_calls")}
    assert sent == expected(name, came, in_loop=in_loop)
    left_out = range(len(reply.parts) - 1 if sent == {"content": "Let me see."} else 0)
    assert [warning.path for warning in encoded.warnings] == [f"messages[1].parts[{index}]" for index in left_out]
    check_call_losses(chat, asked)
    check_encode_again(chat, asked)


def test_reasoning_between_calls_and_of_their_turn_goes_back_in_later_turns():
    """Required by DeepSeek and Moonshot; the reasoning of turns without calls is not."""
    chat = CHATS["openai-compatible"]
    said = answered(chat, ANSWERS[CONTENT], streamed=False).parts
    called = Message.assistant(*said, ASKED)
    turns = [Message.user("a"), Message.assistant(*said), Message.user("b"), called, *LOOP, Message.assistant(*said)]
    asked = ModelCall("m", (*turns, Message.user("c")), "openai-compatible")
    messages = json.loads(chat.encode(asked).request.body)["messages"]
    assert [CONTENT in message for message in messages] == [False, False, False, True, False, True, False]
    assert turns_with_calls(asked.messages) == {2, 3, 4, 5}


def test_reasoning_that_contains_the_closing_tag_is_not_put_between_tags():
    chat = CHATS["openai-compatible"]
    part = ReasoningPart("a</think>b", '{"field":"think_tags"}', origin="openai-compatible/m")
    asked = ModelCall("m", (Message.user("hi"), Message.assistant(part, ASKED), *LOOP), "openai-compatible")
    assert [warning.path for warning in chat.encode(asked).warnings] == ["messages[1].parts[0]"]
    check_call_losses(chat, asked)


@pytest.mark.parametrize(
    ("name", "field", "type", "text"),
    [("litellm", BLOCKS, "thinking", "thinking"), ("openrouter", DETAILS, "reasoning.text", "text")],
)
def test_streamed_objects_with_empty_texts_go_back_whole(name: str, field: str, type: str, text: str):
    # docs.litellm.ai/docs/reasoning_content: the text in pieces, then the signature
    chat = CHATS[name]
    pieces: list[dict[str, Any]] = [{"type": type, text: piece, "format": "f"} for piece in ("", "Hm", ".")]
    chunks = [chunk(**{field: [piece]}) for piece in (*pieces, {"type": type, text: "", "signature": "c2ln"})]
    reply = accumulate(decoded([events([*chunks, chunk("stop", content="Yes.")])], chat))
    encoded = chat.encode(next_call(chat, reply, in_loop=True))
    body = json.loads(encoded.request.body)["messages"][1]
    assert body[field] == [{"type": type, text: "Hm.", "format": "f", "signature": "c2ln"}]
    assert encoded.warnings == ()
