"""`/v1/responses` without state, with the openai package as the client."""

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


def test_answer_is_a_response(served: Served, client: openai.OpenAI):
    served.script(ScriptedReply.text("Bonjour.", usage=Usage(7, 3)))
    response = client.responses.create(model="scripted", input="hi", instructions="Speak French.")
    assert response.output_text == "Bonjour."
    assert response.status == "completed"
    assert response.id.startswith("resp_")
    assert response.created_at > 1_700_000_000
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens) == (7, 3)
    assert [each.text for each in served.call.messages] == ["Speak French.", "hi"]


def test_stream_has_the_events_of_a_response(served: Served, client: openai.OpenAI):
    served.script(ScriptedReply.chunks(["Bon", "jour"]))
    with client.responses.stream(model="scripted", input="hi") as stream:
        texts = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert texts == ["Bon", "jour"]
    assert final.output_text == "Bonjour"
    assert final.created_at > 1_700_000_000


def test_rate_limit_is_the_clients_own_exception(served: Served, client: openai.OpenAI):
    served.script(RateLimitError("slow down"))
    with pytest.raises(openai.RateLimitError):
        client.responses.create(model="scripted", input="hi")
