"""`/v2/chat`, with the cohere package as the client."""

from __future__ import annotations

from collections.abc import Iterator

import cohere
import pytest

from abstractcore import RateLimitError, Usage
from abstractcore.testing import ScriptedReply
from tests.server.serving import Served


@pytest.fixture
def client(served: Served) -> Iterator[cohere.ClientV2]:
    with cohere.ClientV2(api_key="none", base_url=served.url) as client:
        yield client


def test_answer_is_a_chat_response(served: Served, client: cohere.ClientV2):
    served.script(ScriptedReply.text("Bonjour.", usage=Usage(7, 3)))
    response = client.chat(model="scripted", messages=[cohere.UserChatMessageV2(content="hi")])
    assert response.message.content is not None
    assert [item.text for item in response.message.content if item.type == "text"] == ["Bonjour."]
    assert response.usage is not None
    assert response.usage.tokens is not None
    assert (response.usage.tokens.input_tokens, response.usage.tokens.output_tokens) == (7, 3)
    assert served.call.messages[-1].text == "hi"


def test_stream_has_the_text(served: Served, client: cohere.ClientV2):
    served.script(ScriptedReply.chunks(["Bon", "jour"]))
    events = list(client.chat_stream(model="scripted", messages=[cohere.UserChatMessageV2(content="hi")]))
    texts = [event.delta.message.content.text for event in events if event.type == "content-delta"]  # pyright: ignore[reportOptionalMemberAccess]
    assert texts == ["Bon", "jour"]
    assert events[-1].type == "message-end"


def test_rate_limit_is_the_clients_own_exception(served: Served, client: cohere.ClientV2):
    served.script(RateLimitError("slow down"))
    with pytest.raises(cohere.TooManyRequestsError):
        client.chat(
            model="scripted",
            messages=[cohere.UserChatMessageV2(content="hi")],
            request_options={"max_retries": 0},
        )
