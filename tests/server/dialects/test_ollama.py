"""`/api/...`, with the ollama package as the client."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import ollama
import pytest

from abstractcore import RateLimitError, Usage
from abstractcore.testing import ScriptedReply
from tests.server.serving import Served


@pytest.fixture
def client(served: Served) -> Iterator[ollama.Client]:
    with closing(ollama.Client(host=served.url)) as client:
        yield client


def test_answer_is_a_chat_response(served: Served, client: ollama.Client):
    served.script(ScriptedReply.text("Bonjour.", usage=Usage(7, 3)))
    response = client.chat(model="scripted", messages=[{"role": "user", "content": "hi"}])
    assert response.message.content == "Bonjour."
    assert (response.prompt_eval_count, response.eval_count) == (7, 3)
    assert response.created_at is not None
    assert served.call.messages[-1].text == "hi"


def test_stream_has_the_text(served: Served, client: ollama.Client):
    served.script(ScriptedReply.chunks(["Bon", "jour"]))
    chunks = list(client.chat(model="scripted", messages=[{"role": "user", "content": "hi"}], stream=True))
    assert [chunk.message.content for chunk in chunks if chunk.message.content] == ["Bon", "jour"]
    assert chunks[-1].done
    assert all(chunk.created_at for chunk in chunks)


def test_generate_is_a_chat_of_one_message(served: Served, client: ollama.Client):
    served.script("Bonjour.", ScriptedReply.chunks(["Bon", "jour"]))
    response = client.generate(model="scripted", prompt="hi", system="Speak French.")
    assert response.response == "Bonjour."
    assert [each.text for each in served.call.messages] == ["Speak French.", "hi"]
    chunks = list(client.generate(model="scripted", prompt="hi", stream=True))
    assert [chunk.response for chunk in chunks if chunk.response] == ["Bon", "jour"]
    assert chunks[-1].done


def test_what_generate_has_beyond_a_chat_is_refused(client: ollama.Client):
    with pytest.raises(ollama.ResponseError, match="suffix"):
        client.generate(model="scripted", prompt="hi", suffix="x")


def test_request_without_a_prompt_loads_or_unloads_a_model(served: Served, client: ollama.Client):
    assert client.generate(model="scripted").done_reason == "load"
    assert client.generate(model="scripted", keep_alive="0s").done_reason == "unload"
    loaded = client.chat(model="scripted", keep_alive=-1)
    assert (loaded.done, loaded.done_reason, loaded.message.content) == (True, "load", "")
    assert client.chat(model="scripted", keep_alive=0).done_reason == "unload"
    assert served.calls == []
    with pytest.raises(ollama.ResponseError, match="Did you mean scripted"):
        client.generate(model="x/scripted")


def test_models_are_listed_and_shown(client: ollama.Client):
    assert "scripted" in [model.model for model in client.list().models]
    assert client.show("scripted").capabilities is not None
    assert client.ps().models == []


def test_rate_limit_is_the_clients_own_exception(served: Served, client: ollama.Client):
    served.script(RateLimitError("slow down"))
    with pytest.raises(ollama.ResponseError, match="slow down") as caught:
        client.chat(model="scripted", messages=[{"role": "user", "content": "hi"}])
    assert caught.value.status_code == 429


def test_unknown_model_is_404(client: ollama.Client):
    with pytest.raises(ollama.ResponseError, match="Did you mean scripted") as caught:
        client.chat(model="x/scripted", messages=[{"role": "user", "content": "hi"}])
    assert caught.value.status_code == 404
