"""Stored responses and conversations, with the openai package as the client."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from abstractcore.testing import ScriptedReply
from abstractcore_server import Settings
from abstractcore_server.access.admission import FixedKeys
from abstractcore_server.configuration.settings import ServerSettings
from tests.chaos_server import raw_answer
from tests.server.serving import Served, serving

KEYS = ("first-key-0123456789", "other-key-0123456789")


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def texts(served: Served) -> list[str]:
    """The messages of the last call of the model."""
    return [each.text for each in served.calls[-1].messages]


def test_response_is_read_again_as_it_was_sent(served: Served, client: openai.OpenAI):
    served.script("Hello Ada.")
    made = client.responses.create(model="scripted", input="I am Ada.", metadata={"a": "b"})
    assert made.store is True
    assert client.responses.retrieve(made.id).to_dict() == made.to_dict()


def test_response_continues_another_one(served: Served, client: openai.OpenAI):
    served.script("Hello Ada.", "You are Ada.", "Still Ada.")
    first = client.responses.create(model="scripted", input="I am Ada.", instructions="Be brief.")
    second = client.responses.create(model="scripted", input="Who am I?", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    assert texts(served) == ["I am Ada.", "Hello Ada.", "Who am I?"]
    with client.responses.stream(model="scripted", input="And now?", previous_response_id=second.id) as stream:
        third = stream.get_final_response()
    assert texts(served) == ["I am Ada.", "Hello Ada.", "Who am I?", "You are Ada.", "And now?"]
    assert client.responses.retrieve(third.id).output_text == "Still Ada."


def test_tool_call_is_answered_in_the_next_response(served: Served, client: openai.OpenAI):
    tool: Any = {"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}}
    served.script(ScriptedReply.tool_call("weather", {}), "Sunny.")
    first = client.responses.create(model="scripted", input="The weather?", tools=[tool])
    (call,) = first.output
    assert call.type == "function_call"
    result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "sun"}
    second = client.responses.create(model="scripted", input=[result], previous_response_id=first.id, tools=[tool])
    assert second.output_text == "Sunny."
    assert [each.role for each in served.calls[-1].messages] == ["user", "assistant", "tool"]


def test_items_of_the_input_are_listed_in_pages(served: Served, client: openai.OpenAI):
    served.script("C.")
    asked: Any = [
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": "B"},
        {"role": "user", "content": "D"},
    ]
    made = client.responses.create(model="scripted", input=asked)
    newest_first = list(client.responses.input_items.list(made.id, limit=2))
    assert [item.content[0].text for item in newest_first] == ["D", "B", "A"]  # type: ignore[union-attr]
    page = client.responses.input_items.list(made.id, limit=1, order="asc")
    assert page.has_more
    assert page.data[0].to_dict() == {
        "id": page.first_id,
        "type": "message",
        "role": "user",
        "status": "completed",
        "content": [{"type": "input_text", "text": "A"}],
    }


def test_deleted_response_is_gone(served: Served, client: openai.OpenAI):
    served.script("Hello.")
    made = client.responses.create(model="scripted", input="hi")
    client.responses.delete(made.id)
    with pytest.raises(openai.NotFoundError, match="there is no response"):
        client.responses.retrieve(made.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.delete(made.id)
    with pytest.raises(openai.BadRequestError, match="there is no response") as failed:
        client.responses.create(model="scripted", input="hi", previous_response_id=made.id)
    assert failed.value.param == "previous_response_id"
    assert len(served.calls) == 1


def test_client_may_ask_that_nothing_is_stored(served: Served, client: openai.OpenAI):
    served.script("Hello.")
    made = client.responses.create(model="scripted", input="hi", store=False)
    assert made.store is False
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made.id)


def test_response_that_does_not_run_in_the_background_cannot_be_cancelled(served: Served, client: openai.OpenAI):
    served.script("Hello.")
    made = client.responses.create(model="scripted", input="hi")
    with pytest.raises(openai.BadRequestError, match="background"):
        client.responses.cancel(made.id)


def test_conversation_grows_with_its_responses(served: Served, client: openai.OpenAI):
    items: Any = [{"type": "message", "role": "user", "content": "I am Ada."}]
    conversation = client.conversations.create(metadata={"topic": "names"}, items=items)
    assert client.conversations.retrieve(conversation.id) == conversation
    served.script("You are Ada.", "Yes.")
    made = client.responses.create(model="scripted", input="Who am I?", conversation=conversation.id)
    assert made.conversation is not None
    assert made.conversation.id == conversation.id
    assert texts(served) == ["I am Ada.", "Who am I?"]
    client.responses.create(model="scripted", input="Sure?", conversation={"id": conversation.id}, store=False)
    assert texts(served) == ["I am Ada.", "Who am I?", "You are Ada.", "Sure?"]
    found = list(client.conversations.items.list(conversation.id, order="asc"))
    assert [item.content[0].text for item in found] == [  # type: ignore[union-attr]
        "I am Ada.",
        "Who am I?",
        "You are Ada.",
        "Sure?",
        "Yes.",
    ]


def test_items_of_a_conversation_are_added_read_and_deleted(client: openai.OpenAI):
    conversation = client.conversations.create()
    asked: Any = [{"role": "user", "content": "A"}, {"role": "user", "content": "B"}]
    added = client.conversations.items.create(conversation.id, items=asked)
    first, second = added.data
    assert client.conversations.items.retrieve(first.id, conversation_id=conversation.id) == first  # type: ignore[arg-type]
    left = client.conversations.items.delete(first.id, conversation_id=conversation.id)  # type: ignore[arg-type]
    assert left.id == conversation.id
    assert [item.id for item in client.conversations.items.list(conversation.id)] == [second.id]
    changed = client.conversations.update(conversation.id, metadata={"b": "c"})
    assert changed.metadata == {"b": "c"}
    assert client.conversations.delete(conversation.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.conversations.items.list(conversation.id)


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/v1/conversations", {"metadata": {"a": 1}}, "metadata: expected an object of texts"),
        ("/v1/conversations", {"metadata": {str(n): "x" for n in range(17)}}, "metadata: expected at most 16 texts"),
        ("/v1/conversations", {"items": "x"}, "items: expected a list of items, got str"),
        ("/v1/conversations", {"items": ["x"]}, "items[0]: expected an object, got str"),
        ("/v1/conversations", {"items": [{"id": [None]}]}, "items[0].id: expected a text of up to 200 characters"),
        ("/v1/conversations", {"items": [{"type": 7}]}, "items[0].type: expected a text"),
        (
            "/v1/responses",
            {"input": [{"id": "x" * 201, "role": "user", "content": "x"}]},
            "input[0].id: expected a text",
        ),
        ("/v1/conversations", {"items": [{"content": "x"}] * 21}, "at most 20 items"),
        ("/v1/responses", {"input": "x", "store": "yes"}, "store: expected true or false, got str"),
        ("/v1/responses", {"input": "x", "previous_response_id": 7}, "previous_response_id: expected an id"),
        ("/v1/responses", {"input": "x", "conversation": {"id": ""}}, "conversation: expected an id"),
        (
            "/v1/responses",
            {"input": "x", "conversation": "conv_1", "previous_response_id": "resp_1"},
            "previous_response_id: it cannot be given together with conversation",
        ),
    ],
)
def test_wrong_requests_are_refused(http: httpx2.Client, path: str, body: dict[str, Any], message: str):
    response = http.post(path, json={"model": "scripted", **body})
    assert response.status_code == 400
    assert message in response.json()["error"]["message"]


@pytest.mark.parametrize("query", ["order=up", "limit=0", "limit=101", "limit=x", "after=msg_none"])
def test_wrong_page_is_refused(served: Served, http: httpx2.Client, query: str):
    served.script("Hello.")
    id = http.post("/v1/responses", json={"model": "scripted", "input": "hi"}).json()["id"]
    response = http.get(f"/v1/responses/{id}/input_items?{query}")
    assert response.status_code == 400
    assert query.partition("=")[0] in response.json()["error"]["message"]


def test_unknown_conversation_is_not_found(http: httpx2.Client):
    response = http.post("/v1/responses", json={"model": "scripted", "input": "x", "conversation": "conv_1"})
    assert response.status_code == 404
    assert "there is no conversation 'conv_1' here" in response.json()["error"]["message"]


def test_tokens_of_a_request_are_counted(http: httpx2.Client):
    response = http.post("/v1/responses/input_tokens", json={"model": "scripted", "input": "two words"})
    assert response.json() == {"object": "response.input_tokens", "input_tokens": response.json()["input_tokens"]}
    assert response.json()["input_tokens"] > 0


def test_only_its_owner_sees_what_is_stored(tmp_path: Path):
    """Responses outlive the process in the database of the settings; each key has its own."""
    settings = Settings(ServerSettings(database=f"sqlite:///{tmp_path}/server.db"))
    mine, other = ({"authorization": f"Bearer {key}"} for key in KEYS)
    with serving(settings, access=FixedKeys(KEYS)) as served, httpx2.Client(base_url=served.url) as http:
        served.script("Hello.")
        made = http.post("/v1/responses", json={"model": "scripted", "input": "hi"}, headers=mine).json()
        conversation = http.post("/v1/conversations", json={}, headers=mine).json()["id"]
        for path in (
            f"/v1/responses/{made['id']}",
            f"/v1/responses/{made['id']}/input_items",
            f"/v1/conversations/{conversation}",
            f"/v1/conversations/{conversation}/items",
        ):
            assert http.get(path, headers=other).status_code == 404
            assert http.get(path, headers=mine).status_code == 200
        for body in ({"previous_response_id": made["id"]}, {"conversation": conversation}):
            refused = http.post("/v1/responses", json={"model": "scripted", "input": "x", **body}, headers=other)
            assert refused.status_code in (400, 404)
        assert http.delete(f"/v1/responses/{made['id']}", headers=other).status_code == 404
        assert len(served.calls) == 1
    with serving(settings, access=FixedKeys(KEYS)) as again, httpx2.Client(base_url=again.url) as http:
        assert http.get(f"/v1/responses/{made['id']}", headers=mine).json() == made


def test_ids_of_the_vendors_own_store_go_to_the_vendor(served: Served, http: httpx2.Client):
    """OpenAI's own models have a store of their own: ids that are not of this one are sent to it."""
    reply = {"id": "resp_theirs", "object": "response", "status": "completed", "model": "gpt-5.4", "output": []}
    served.vendor.script(raw_answer(json.dumps(reply).encode()))
    body = {"model": "openai-responses/gpt-5.4", "input": "hi", "previous_response_id": "resp_before"}
    response = http.post("/v1/responses", json=body)
    assert response.json()["id"] == "resp_theirs"
    assert json.loads(served.vendor.requests[0].body)["previous_response_id"] == "resp_before"
    assert http.get("/v1/responses/resp_theirs").status_code == 404


@pytest.mark.parametrize(("store", "is_here"), [({}, True), ({"store": False}, False), ({"store": True}, False)])
def test_vendor_stores_if_it_is_asked_to(served: Served, http: httpx2.Client, store: dict[str, bool], is_here: bool):
    reply = {
        "id": f"resp_{is_here}{store}",
        "object": "response",
        "status": "completed",
        "model": "gpt-5.4",
        "output": [],
    }
    served.vendor.script(raw_answer(json.dumps(reply).encode()))
    response = http.post("/v1/responses", json={"model": "openai-responses/gpt-5.4", "input": "hi", **store})
    assert json.loads(served.vendor.requests[0].body)["store"] is store.get("store", False)
    found = http.get(f"/v1/responses/{reply['id']}")
    assert found.status_code == (200 if is_here else 404)
    assert not is_here or found.json() == response.json()


def test_response_stored_here_can_be_continued_by_a_vendor(served: Served, client: openai.OpenAI):
    served.script("Hello Ada.")
    first = client.responses.create(model="scripted", input="I am Ada.")
    reply = {"id": "resp_theirs", "object": "response", "status": "completed", "model": "gpt-5.4", "output": []}
    served.vendor.script(raw_answer(json.dumps(reply).encode()))
    client.responses.create(model="openai-responses/gpt-5.4", input="Who am I?", previous_response_id=first.id)
    sent = json.loads(served.vendor.requests[0].body)
    assert "previous_response_id" not in sent
    assert sent["input"] == [
        {"role": "user", "content": "I am Ada."},
        {"role": "assistant", "content": "Hello Ada."},
        {"role": "user", "content": "Who am I?"},
    ]


def test_answer_that_cannot_be_stored_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """The database of the settings cannot be opened: the answer is there, and its field `store` is false."""
    settings = Settings(ServerSettings(database=f"sqlite:///{tmp_path}/missing/server.db"))
    with serving(settings, access=FixedKeys(KEYS)) as served, httpx2.Client(base_url=served.url) as http:
        mine = {"authorization": f"Bearer {KEYS[0]}"}
        for stream in (False, True):
            served.script("Hello.")
            body = {"model": "scripted", "input": "hi", "stream": stream}
            response = http.post("/v1/responses", json=body, headers=mine)
            assert '"text":"Hello."' in response.text
            assert '"store":false' in response.text.splitlines()[-1 if not stream else -2]
        response = http.get("/v1/responses/resp_1", headers=mine)
        assert (response.status_code, response.headers["retry-after"]) == (503, "5")
    assert "the database is down" in caplog.text


def test_responses_of_a_server_without_a_database_go_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with serving() as served, httpx2.Client(base_url=served.url) as http:
        served.script("Hello.")
        http.post("/v1/responses", json={"model": "scripted", "input": "hi"})
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o077 == 0
        served.application.state.stored.close()
        assert list(tmp_path.iterdir()) == []
