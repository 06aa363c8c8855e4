"""Token counting, of servers that have an endpoint for it.

llama.cpp: `POST /v1/chat/completions/input_tokens`, which a test of the embedded model calls
(`tests/providers/local/test_token_counts.py`). vLLM: `POST /tokenize` with the fields of `TokenizeChatRequest`, and the
response `TokenizeResponse`, in vllm/entrypoints/serve/tokenize/protocol.py of its repository.
"""

from __future__ import annotations

import io
import json

import pytest

from abstractcore import NotFoundError, ServerError, create_llm
from abstractcore.ports import Address, HasOperations
from abstractcore.schema import OutputSchema, Sampling, ToolSpec, WireResponse
from abstractcore_providers.common.endpoints import NoAuth
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.formats.openai_chat.dialect import LLAMA_CPP
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.chaos_server import answer
from tests.providers.formats.openai_chat.wire import call

CHATS = {**{preset.name: OpenAIChat(preset.dialect) for preset in VENDORS}, "local": OpenAIChat(LLAMA_CPP)}
OF_TOKENIZE = {
    "model",
    "messages",
    "add_generation_prompt",
    "return_token_strs",
    "continue_final_message",
    "add_special_tokens",
    "chat_template",
    "chat_template_kwargs",
    "media_io_kwargs",
    "mm_processor_kwargs",
    "tools",
}
"""The fields of vLLM's `TokenizeChatRequest`."""
TOOL = ToolSpec("look", "Looks.", {"type": "object", "properties": {}})


def encoded(name: str, **fields):
    return CHATS[name].operations["count_tokens"].encode(call(**fields))


def test_servers_that_count_are_these():
    counting = {name for name, chat in CHATS.items() if "count_tokens" in chat.operations}
    assert counting == {"vllm", "llama-cpp", "local"}
    assert all(isinstance(chat, HasOperations) for chat in CHATS.values())


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("vllm", "http://host:8000/tokenize"),
        ("llama-cpp", "http://host:8000/v1/chat/completions/input_tokens"),
        ("local", "http://host:8000/v1/chat/completions/input_tokens"),
    ],
)
def test_count_is_of_what_a_chat_would_send(name, url):
    asked = {"tools": (TOOL,), "stream": True, "sampling": Sampling(temperature=0.5, max_output_tokens=9)}
    request = encoded(name, **asked).request
    assert Address("http://host:8000/v1", NoAuth()).url_of(request.url) == url
    sent, chat = json.loads(request.body), json.loads(CHATS[name].encode(call(**asked)).request.body)
    assert {"messages", "tools", "model"} <= sent.keys()
    assert sent.items() <= chat.items()
    assert not sent.keys() & {"stream", "stream_options", "temperature", "max_tokens", "max_completion_tokens"}
    assert not encoded(name, sampling=Sampling(top_logprobs=99)).warnings


def test_vllm_gets_the_fields_of_its_own_type_alone():
    asked = {"thinking": "off", "output": OutputSchema("x", {"type": "object"}), "tools": (TOOL,)}
    sent = json.loads(encoded("vllm", **asked).request.body)
    assert sent.keys() <= OF_TOKENIZE
    assert sent["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize(
    ("name", "field"), [("vllm", "count"), ("llama-cpp", "input_tokens"), ("local", "input_tokens")]
)
def test_result_is_a_number(name, field):
    counting = CHATS[name].operations["count_tokens"]

    def decode(response: WireResponse) -> int:
        return counting.decode(response, call())

    body = {"count": 5, "max_model_len": 9, "tokens": [1], "input_tokens": 5, "object": "response.input_tokens"}
    assert decode(WireResponse(200, {}, json.dumps(body).encode())) == 5
    with pytest.raises(ServerError, match="no token count"):
        decode(WireResponse(200, {}, json.dumps({**body, field: "many"}).encode()))
    with pytest.raises(NotFoundError):
        decode(WireResponse(200, {}, b'{"error": "Unexpected endpoint or method. (POST /tokenize)"}'))


def test_count_of_vllm_is_asked_beside_its_api(call_style, server, services):
    server.script(answer(b'{"count": 31, "max_model_len": 4096, "tokens": []}', content_type="application/json"))
    llm = create_llm("vllm/m", base_url=f"{server.url}/v1", services=services)
    counted = llm.count_tokens("hi") if call_style.name == "sync" else call_style.run(llm.acount_tokens("hi"))
    assert (counted, counted.estimated) == (31, False)
    assert [request.target for request in server.requests] == ["/tokenize"]


def test_open_file_is_read_once_for_a_count_that_becomes_an_estimate(call_style, server, services):
    server.script(answer(b'{"detail": "Not Found"}', status=404, content_type="application/json"))
    llm = create_llm("vllm/m", base_url=f"{server.url}/v1", services=services)
    request = {"media": [io.BytesIO(b"Bring two copies of the notice.")]}
    counted = (
        llm.count_tokens("hi", **request)
        if call_style.name == "sync"
        else call_style.run(llm.acount_tokens("hi", **request))
    )
    assert counted.estimated
    assert counted > llm.plan("hi").estimated_input_tokens + 5
