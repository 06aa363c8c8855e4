"""`/v1/completions`, with the openai package as the client."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest

from abstractcore import Usage
from abstractcore.testing import ScriptedReply
from tests.server.serving import Served


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_answer_is_a_text_completion(served: Served, client: openai.OpenAI):
    served.script(ScriptedReply.text("there", usage=Usage(7, 3)))
    completion = client.completions.create(model="scripted", prompt="hello", max_tokens=5)
    assert completion.object == "text_completion"
    assert completion.choices[0].text == "there"
    assert completion.usage is not None
    assert completion.usage.total_tokens == 10
    assert served.call.messages[-1].text == "hello"
    assert served.call.sampling.max_output_tokens == 5


def test_stream_has_the_text(served: Served, client: openai.OpenAI):
    served.script(ScriptedReply.chunks(["the", "re"]))
    chunks = list(client.completions.create(model="scripted", prompt=["hello"], stream=True))
    assert [chunk.choices[0].text for chunk in chunks if chunk.choices[0].text] == ["the", "re"]
    assert chunks[-1].choices[0].finish_reason == "stop"


@pytest.mark.parametrize("more", [{"prompt": ["a", "b"]}, {"prompt": [1, 2]}, {"prompt": "a", "suffix": "b"}])
def test_what_a_chat_has_nothing_like_is_refused(client: openai.OpenAI, more: dict[str, object]):
    with pytest.raises(openai.BadRequestError, match="not supported"):
        client.completions.create(model="scripted", **more)  # pyright: ignore[reportArgumentType,reportCallIssue]
