"""`/v1/chat/completions`, with the openai package as the client."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from abstractcore import Blob, ImagePart, ModelReply, RateLimitError, TextPart, Usage
from abstractcore.testing import ScriptedReply
from tests.server.serving import Served

PNG = (Path(__file__).parents[2] / "media/files/small.png").read_bytes()


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


def test_images_of_answers_are_a_field_of_the_message(served: Served, client: openai.OpenAI):
    """As OpenRouter and Vercel's gateway have it: OpenAI's API has no such field, and its client keeps unknown ones."""
    image = ImagePart(Blob.from_bytes(PNG, "image/png"))
    reply = ModelReply((TextPart("A square:"), image, image), usage=Usage(7, 3))
    kept = ModelReply((TextPart("Elsewhere."), ImagePart(Blob.from_provider_file("p", "f", "image/png"))))
    served.script(reply, reply, reply, kept)
    create: Any = client.chat.completions.create
    asked: Any = {"model": "scripted", "messages": [{"role": "user", "content": "draw"}]}
    url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    whole = create(**asked)
    message = whole.choices[0].message
    assert message.content == "A square:"
    assert [each["image_url"]["url"] for each in message.images] == [url, url]
    chunks = list(create(**asked, stream=True))
    images = [each for chunk in chunks for each in getattr(chunk.choices[0].delta, "images", [])]
    assert [(each["type"], each["image_url"]["url"]) for each in images] == [("image_url", url)] * 2
    assert len({(chunk.id, chunk.created, chunk.model, chunk.object) for chunk in chunks}) == 1
    with client.chat.completions.stream(**asked) as stream:
        joined: Any = stream.get_final_completion().choices[0].message
    assert joined.images == message.images
    elsewhere = create(**asked, extra_body={"abstractcore": {}})
    assert elsewhere.choices[0].message.content == "Elsewhere."
    assert "image" in str(elsewhere.abstractcore["warnings"])
