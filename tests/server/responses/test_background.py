"""Responses in the background, with the openai package as the client
(https://platform.openai.com/docs/guides/background).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai.types.responses import Response

from abstractcore import AuthenticationError, RateLimitError
from abstractcore.database import DatabaseError
from abstractcore_server import ServerLimits, ServerSettings, Settings
from abstractcore_server.records import ReceiptFolder
from abstractcore_server.responses import background as background_module
from abstractcore_server.responses.running import RunningResponse, RunningResponses
from abstractcore_server.store import background
from abstractcore_server.store.background import BackgroundResponses
from abstractcore_server.stored_state import StoredState
from tests.chaos_server import (
    DONE,
    HANG,
    LAST_CHUNK,
    PATIENCE_SECONDS,
    USAGE,
    chunk,
    completion,
    delta,
    failure,
    raw_answer,
    stream_head,
)
from tests.leftovers import wait_until
from tests.server.accounts import Accounts
from tests.server.serving import Served, serving

MODEL = "openai-compatible/m"
LAST = chunk(delta("jour") + delta(finish_reason="stop") + USAGE + DONE)
ENDED = ("completed", "failed", "cancelled", "incomplete")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture(scope="module")
def running(accounts: Accounts, folder: Path) -> Generator[Served]:
    limits = ServerLimits(drain_seconds=0.05, heartbeat_seconds=PATIENCE_SECONDS)
    server = ServerSettings(audit_log=str(folder / "audit.jsonl"), receipts=str(folder / "receipts"))
    with serving(Settings(server, limits), access=accounts) as served:
        yield served


@pytest.fixture(autouse=True)
def without_earlier_settlements(accounts: Accounts) -> None:
    accounts.clear()


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def polled(client: openai.OpenAI, id: str) -> Response:
    """The response once it has ended."""
    return wait_until(lambda: (found := client.responses.retrieve(id)).status in ENDED and found)


def entries(folder: Path, trace_id: str) -> list[dict[str, Any]]:
    """The lines of the audit log about a request."""
    lines = map(json.loads, (folder / "audit.jsonl").read_text().splitlines())
    return [line for line in lines if line["trace_id"] == trace_id]


def test_response_is_queued_and_polled(
    served: Served, client: openai.OpenAI, http: httpx2.Client, accounts: Accounts, folder: Path
):
    gate = served.vendor.gate()
    served.vendor.script(gate, completion("Bonjour"))
    raw = client.responses.with_raw_response.create(
        model=MODEL, input="hi", background=True, metadata={"a": "b"}, instructions="Be brief."
    )
    made = raw.parse()
    assert (made.status, made.background, made.output) == ("queued", True, [])
    assert made.to_dict()["store"] is True
    assert (made.metadata, made.instructions, made.model) == ({"a": "b"}, "Be brief.", MODEL)
    assert client.responses.retrieve(made.id).status == "in_progress"
    gate.open()
    ended = polled(client, made.id)
    assert (ended.status, ended.background, ended.output_text) == ("completed", True, "Bonjour")
    assert (ended.id, ended.created_at) == (made.id, made.created_at)
    assert ended.usage is not None
    assert ended.usage.total_tokens == 5
    sent = json.loads(served.vendor.requests[0].body)
    assert not sent.get("stream")
    assert accounts.wait().outcome == "done"
    trace_id = raw.headers["x-request-id"]
    first, last = wait_until(lambda: len(found := entries(folder, trace_id)) == 2 and found)
    assert (first["calls"], first["input_tokens"]) == (0, 0)
    assert (last["calls"], last["input_tokens"], last["output_tokens"]) == (1, 3, 2)
    assert (last["background"], last["model"], last["route"]) == ("completed", MODEL, "/v1/responses")
    wait_until((folder / "receipts" / trace_id / "receipt.json").is_file)
    body = http.get(f"/v1/responses/{made.id}").content
    findings = ReceiptFolder(folder / "receipts").verify(trace_id, reply=body)
    assert [finding.what for finding in findings if not finding.agrees] == []
    items = list(client.responses.input_items.list(made.id))
    assert [item.content[0].text for item in items] == ["hi"]  # type: ignore[union-attr]


def test_response_goes_on_when_its_client_has_left_its_stream(served: Served, client: openai.OpenAI):
    gate = served.vendor.gate()
    served.vendor.script(stream_head(), chunk(delta("Bon")), gate, LAST, LAST_CHUNK)
    seen: list[Any] = []
    with client.responses.create(model=MODEL, input="hi", background=True, stream=True) as stream:
        for event in stream:
            seen.append(event)
            if event.type == "response.output_text.delta":
                break
    assert [event.type for event in seen[:3]] == ["response.created", "response.queued", "response.in_progress"]
    assert [event.response.status for event in seen[:3]] == ["queued", "queued", "in_progress"]
    gate.open()
    made = polled(client, seen[0].response.id)
    assert (made.status, made.output_text, made.background) == ("completed", "Bonjour", True)


def test_stream_has_all_events_in_order_for_the_clients_own_reader(served: Served, client: openai.OpenAI):
    served.script("Hello Ada.")
    with client.responses.stream(model="scripted", input="I am Ada.", background=True) as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].type == "response.completed"
    assert final.output_text == "Hello Ada."
    read = client.responses.retrieve(final.id)
    assert (read.id, read.output_text, read.usage) == (final.id, final.output_text, final.usage)


def test_stream_is_taken_up_after_an_event_while_it_runs_and_when_it_has_ended(served: Served, client: openai.OpenAI):
    gate = served.vendor.gate()
    served.vendor.script(stream_head(), chunk(delta("Bon")), gate, LAST, LAST_CHUNK)
    seen: list[Any] = []
    with client.responses.create(model=MODEL, input="hi", background=True, stream=True) as stream:
        for event in stream:
            seen.append(event)
            if event.type == "response.output_text.delta":
                break
    id, last = seen[0].response.id, seen[-1].sequence_number
    again = client.responses.retrieve(id, stream=True, starting_after=last - 1)
    assert next(iter(again)) == seen[-1]
    rest = client.responses.retrieve(id, stream=True, starting_after=last)
    gate.open()
    seen += rest
    assert [event.sequence_number for event in seen] == list(range(len(seen)))
    assert seen[-1].response.output_text == "Bonjour"
    assert list(client.responses.retrieve(id, stream=True)) == seen
    assert list(client.responses.retrieve(id, stream=True, starting_after=seen[-1].sequence_number)) == []
    with client.responses.stream(response_id=id, starting_after=last) as stream:
        assert stream.get_final_response().output_text == "Bonjour"


def test_response_without_a_stream_has_the_events_of_its_beginning_and_end(served: Served, client: openai.OpenAI):
    served.script("Hello Ada.")
    made = client.responses.create(model="scripted", input="I am Ada.", background=True)
    events: list[Any] = list(client.responses.retrieve(made.id, stream=True))
    assert [event.type.partition(".")[2] for event in events] == ["created", "queued", "in_progress", "completed"]
    assert events[-1].response.output_text == "Hello Ada."


def test_events_that_are_not_there_are_refused(served: Served, client: openai.OpenAI, http: httpx2.Client):
    served.script("Hello Ada.", "Hello Bob.")
    made = client.responses.create(model="scripted", input="I am Ada.")
    with pytest.raises(openai.BadRequestError, match="not made in the background"):
        client.responses.retrieve(made.id, stream=True)
    for wrong in ("-2", "x", "1" * 12):
        response = http.get(f"/v1/responses/{made.id}?stream=true&starting_after={wrong}")
        assert (response.status_code, response.json()["error"]["param"]) == (400, "starting_after")
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve("resp_none", stream=True)


def test_ended_responses_are_continued_and_others_are_not(served: Served, client: openai.OpenAI):
    served.script("Hello Ada.", "You are Ada.")
    first = client.responses.create(model="scripted", input="I am Ada.", background=True)
    assert polled(client, first.id).status == "completed"
    second = client.responses.create(
        model="scripted", input="Who am I?", previous_response_id=first.id, background=True
    )
    assert polled(client, second.id).output_text == "You are Ada."
    assert [each.text for each in served.calls[-1].messages] == ["I am Ada.", "Hello Ada.", "Who am I?"]
    served.vendor.script(HANG)
    running = client.responses.create(model=MODEL, input="hi", background=True)
    served.vendor.wait_for_requests(1)
    for status in ("in_progress", "cancelled"):
        with pytest.raises(openai.BadRequestError, match=f"cannot be continued: it is {status}") as failed:
            client.responses.create(model="scripted", input="x", previous_response_id=running.id)
        assert failed.value.param == "previous_response_id"
        client.responses.cancel(running.id)


def test_conversation_gets_the_items_when_the_response_has_ended(served: Served, client: openai.OpenAI):
    conversation = client.conversations.create()
    served.script("You are Ada.")
    made = client.responses.create(model="scripted", input="I am Ada.", conversation=conversation.id, background=True)
    assert polled(client, made.id).conversation is not None
    found = client.conversations.items.list(conversation.id, order="asc").data
    assert [item.content[0].text for item in found] == ["I am Ada.", "You are Ada."]  # type: ignore[union-attr]


@pytest.mark.parametrize("stream", [False, True])
def test_cancelled_response_ends_its_call_which_is_counted(
    served: Served, client: openai.OpenAI, accounts: Accounts, stream: bool
):
    head = (stream_head(), chunk(delta("Bon"))) if stream else ()
    served.vendor.script(*head, HANG)
    made: Any = client.responses.create(model=MODEL, input="12345678", background=True, stream=stream)
    id = str(next(iter(made)).response.id if stream else made.id)
    if stream:
        assert any(event.type == "response.output_text.delta" for event in made)
    served.vendor.wait_for_requests(1)
    cancelled = client.responses.cancel(id)
    assert (cancelled.status, cancelled.output) == ("cancelled", [])
    settled = accounts.wait()
    assert (settled.outcome, settled.estimated, settled.usage.input) == ("cancelled", True, 10)
    assert client.responses.cancel(id).to_dict() == client.responses.retrieve(id).to_dict() == cancelled.to_dict()
    if stream:
        last = list(made)[-1]
        assert (last.type, last.response.status) == ("response.incomplete", "cancelled")


def test_failed_call_is_a_failed_response(served: Served, client: openai.OpenAI):
    for stream in (False, True):
        served.vendor.script(failure(429, "slow down"))
        made: Any = client.responses.create(model=MODEL, input="hi", background=True, stream=stream)
        id = next(iter(made)).response.id if stream else made.id
        failed = polled(client, id)
        assert failed.status == "failed"
        assert failed.error is not None
        assert (failed.error.code, "slow down" in failed.error.message) == ("rate_limit_exceeded", True)


def test_deleted_response_ends(served: Served, client: openai.OpenAI, accounts: Accounts):
    served.vendor.script(HANG)
    made = client.responses.create(model=MODEL, input="hi", background=True)
    served.vendor.wait_for_requests(1)
    client.responses.delete(made.id)
    assert accounts.wait().outcome == "cancelled"
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made.id)


def test_vendor_of_the_api_makes_it_as_any_other_response(served: Served, client: openai.OpenAI):
    reply: dict[str, Any] = {
        "id": "resp_theirs",
        "object": "response",
        "status": "completed",
        "model": "gpt-5.4",
        "output": [],
    }
    served.vendor.script(raw_answer(json.dumps(reply).encode()))
    made = client.responses.create(
        model="openai-responses/gpt-5.4",
        input="hi",
        background=True,
        store=True,
        extra_body={"background_options": {"completion_window": "soonest"}},
    )
    assert made.id != "resp_theirs"
    assert polled(client, made.id).background
    sent = json.loads(served.vendor.requests[0].body)
    assert sent["store"] is False
    assert not {"background", "background_options"} & sent.keys()


def test_as_many_as_may_be_are_made_at_once():
    with (
        serving(Settings(limits=ServerLimits(backgrounds=2, drain_seconds=0.05))) as served,
        openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client,
    ):
        for _ in range(2):
            served.vendor.script(HANG)
            client.responses.create(model=MODEL, input="hi", background=True)
        with pytest.raises(openai.RateLimitError, match="2 responses in the background") as refused:
            client.responses.create(model=MODEL, input="hi", background=True)
        assert refused.value.response.headers["retry-after"] == "1"


@pytest.mark.parametrize(
    ("error", "expected"), [(RateLimitError("too many", retry_after=7), 429), (AuthenticationError("no"), 401)]
)
def test_request_whose_call_is_not_let_in_is_refused(
    http: httpx2.Client, accounts: Accounts, monkeypatch: pytest.MonkeyPatch, error: Exception, expected: int
):
    async def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(accounts, "begin", refuse)
    response = http.post("/v1/responses", json={"model": "scripted", "input": "hi", "background": True})
    assert response.status_code == expected
    assert http.get(f"/v1/responses/resp_{response.headers['x-request-id']}").status_code == 404


def test_response_that_this_process_makes_has_not_failed_after_the_database_was_down(
    served: Served, client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(background, "ALIVE_SECONDS", -1.0)  # no sign of life could be stored for long
    gate = served.vendor.gate()
    served.vendor.script(stream_head(), gate, LAST, LAST_CHUNK)
    with client.responses.create(model=MODEL, input="hi", background=True, stream=True) as stream:
        events: Iterator[Any] = iter(stream)
        id: str = next(events).response.id
        assert client.responses.retrieve(id).status == "in_progress"
        gate.open()
        assert list(events)[-1].type == "response.completed"


def test_no_task_outlives_the_responses():
    async def work(running: RunningResponse) -> None:
        running.is_ending = True

    async def closed() -> set[Any]:
        stored = StoredState(None, 1.0)
        backgrounds = RunningResponses(stored, None)
        backgrounds.add(("", "resp_1"), work)
        await backgrounds.close()
        stored.close()
        await asyncio.sleep(0)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(closed()) == set()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"background": "yes"}, "background: expected true or false, got str"),
        ({"background": True, "store": False}, "background: a response in the background has to be stored"),
        ({"background": True, "input": [{"role": "user", "content": [{"type": "nonsense"}]}]}, "input[0].content[0]"),
        (
            {"background": True, "background_options": {"completion_window": "2h"}},
            "background_options.completion_window: responses in the background are made at once",
        ),
        (
            {"background": True, "model": "openai-responses/gpt-5.4", "previous_response_id": "resp_theirs"},
            "previous_response_id: there is no response 'resp_theirs' here",
        ),
    ],
)
def test_wrong_requests_are_refused(http: httpx2.Client, body: dict[str, Any], message: str):
    response = http.post("/v1/responses", json={"model": "scripted", "input": "hi", **body})
    assert response.status_code == 400, response.text
    assert message in response.json()["error"]["message"]


def test_end_that_cannot_be_stored_at_first_is_stored_later(
    served: Served, client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch
):
    end, failures = BackgroundResponses.end, [DatabaseError("down")]

    def down(*arguments: Any) -> bool:
        if failures:
            raise failures.pop()
        return end(*arguments)

    monkeypatch.setattr(BackgroundResponses, "end", down)
    monkeypatch.setattr(background_module, "_RETRY_SECONDS", (0.0,))
    served.script("Hello Ada.")
    conversation = client.conversations.create()
    made = client.responses.create(model="scripted", input="I am Ada.", conversation=conversation.id, background=True)
    assert polled(client, made.id).output_text == "Hello Ada."
    assert failures == []
    assert len(client.conversations.items.list(conversation.id).data) == 2


def test_responses_that_run_when_the_server_ends_have_failed(tmp_path: Path, folder: Path):
    """The database outlives the server, which had ended before they were complete."""
    settings = Settings(ServerSettings(database=f"sqlite:///{tmp_path}/server.db"), ServerLimits(drain_seconds=0.05))
    accounts = Accounts()
    with serving(settings, access=accounts) as served:
        served.vendor.script(HANG)
        with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
            id = client.responses.create(model=MODEL, input="hi", background=True).id
    assert accounts.wait().outcome == "cancelled"
    with (
        serving(settings, access=accounts) as served,
        openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client,
    ):
        found = client.responses.retrieve(id)
    assert found.status == "failed"
    assert found.error is not None
    assert "the server ended" in found.error.message
