"""`/v1/chat/completions`, with the openai package as the client."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest

from abstractcore import RateLimitError, Usage
from abstractcore.testing import ScriptedReply
from tests.server.serving import Served


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_answer_is_a_chat_completion(served: Served, client: openai.OpenAI):
    served.script(ScriptedReply.text("Bonjour.", usage=Usage(7, 3)))
    completion = client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "hi"}])
    assert completion.choices[0].message.content == "Bonjour."
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (7, 3)
    assert completion.id.startswith("chatcmpl-")
    assert completion.created > 1_700_000_000
    assert served.call.messages[-1].text == "hi"


def test_stream_has_the_chunks_of_the_answer(served: Served, client: openai.OpenAI):
    served.script(ScriptedReply.chunks(["Bon", "jour"]))
    stream = client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "hi"}], stream=True)
    chunks = list(stream)
    assert [text for chunk in chunks if (text := chunk.choices[0].delta.content)] == ["Bon", "jour"]
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert {chunk.id for chunk in chunks} == {chunks[0].id}


def test_rate_limit_is_the_clients_own_exception(served: Served, client: openai.OpenAI):
    served.script(RateLimitError("slow down", retry_after=7))
    with pytest.raises(openai.RateLimitError) as caught:
        client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "hi"}])
    assert caught.value.response.headers["retry-after"] == "7"
