"""`:generateContent`, with the google-genai package as the client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from google import genai
from google.genai import errors, types

from abstractcore import RateLimitError, Usage
from abstractcore.testing import ScriptedReply
from tests.server.serving import Served


@pytest.fixture
def client(served: Served) -> Iterator[genai.Client]:
    with genai.Client(api_key="none", http_options=types.HttpOptions(base_url=served.url)) as client:
        yield client


def test_answer_is_a_response(served: Served, client: genai.Client):
    served.script(ScriptedReply.text("Bonjour.", usage=Usage(7, 3)))
    response = client.models.generate_content(model="scripted", contents="hi")
    assert response.text == "Bonjour."
    assert response.usage_metadata is not None
    assert (response.usage_metadata.prompt_token_count, response.usage_metadata.candidates_token_count) == (7, 3)
    assert served.call.messages[-1].text == "hi"


def test_stream_has_the_text(served: Served, client: genai.Client):
    served.script(ScriptedReply.chunks(["Bon", "jour"]))
    chunks = list(client.models.generate_content_stream(model="scripted", contents="hi"))
    assert [chunk.text for chunk in chunks if chunk.text] == ["Bon", "jour"]


def test_candidates_are_as_many_calls(served: Served, client: genai.Client):
    served.script(ScriptedReply.text("a", usage=Usage(2, 1)), ScriptedReply.text("b", usage=Usage(2, 1)))
    config = types.GenerateContentConfig(candidate_count=2, temperature=0.5)
    response = client.models.generate_content(model="scripted", contents="hi", config=config)
    assert response.candidates is not None
    assert len(response.candidates) == 2
    assert response.usage_metadata is not None
    assert response.usage_metadata.prompt_token_count == 4
    assert all(not call.provider_options for call in served.calls)


def test_tokens_are_counted(client: genai.Client):
    assert client.models.count_tokens(model="scripted", contents="12345678").total_tokens == 10


def test_models_are_listed(client: genai.Client):
    names = [model.name for model in client.models.list()]
    assert "models/scripted" in names
    assert client.models.get(model="scripted").name == "models/scripted"


def test_rate_limit_is_the_clients_own_exception(served: Served, client: genai.Client):
    served.script(RateLimitError("slow down"))
    with pytest.raises(errors.ClientError, match="slow down") as caught:
        client.models.generate_content(model="scripted", contents="hi")
    assert (caught.value.code, caught.value.status) == (429, "RESOURCE_EXHAUSTED")
