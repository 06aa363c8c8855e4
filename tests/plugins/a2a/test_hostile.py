"""Agents that break the rules: typed, bounded, named, and the loop goes on without them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from abstracta2a import A2AAgent
from abstractcore import DocumentPart, ToolServerError
from abstractcore.schema import call_digest
from abstractcore.testing.http_server import (
    CUT,
    HANG,
    LAST_CHUNK,
    RESET,
    ReceivedRequest,
    ScriptedServer,
    Step,
    answer,
    chunk,
    head,
    stream_head,
)
from tests.core.tools.loops import Way, scripted
from tests.plugins.a2a.talk import asked, begun, limited
from tests.plugins.a2a.test_agents import lines
from tests.plugins.a2a.test_cards import card_at

KEY = "sk-1234567890abcdef"
HEADERS = {"authorization": f"Bearer {KEY}"}


BROKEN_LINE = chunk('data: {"jsonrpc": "2.0", "result": {"x": "a\u2028b"}}\n\n'.encode())
"""An event with a character that the SDK takes for the end of a line, which it is not in an event stream."""


@contextmanager
def broken(*steps: Step, streaming: bool = False, tasks: Sequence[bytes] = ()) -> Iterator[ScriptedServer]:
    """An agent whose card is well, and whose answer to a message is `steps`; `tasks` are those to `GetTask`."""
    left = list(tasks)

    def script(request: ReceivedRequest) -> Sequence[Step]:
        if request.method == "GET":
            return [answer(card_at(server.url, capabilities={"streaming": streaming}))]
        if request.json["method"] in ("SendMessage", "SendStreamingMessage"):
            return steps
        if request.json["method"] == "GetTask" and left:
            return [left.pop(0)]
        return [answer({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Task not found"}})]

    with ScriptedServer() as server:
        server.always_by(script)
        yield server


def moved(status: int, location: str) -> bytes:
    """A redirect."""
    return head(status, {"location": location, "content-length": "0"})


def result(**value: Any) -> bytes:
    """A response of JSON-RPC."""
    return answer({"jsonrpc": "2.0", "id": 1, "result": value})


def event(**value: Any) -> bytes:
    """An event of a stream."""
    return chunk(b"data: " + json.dumps({"jsonrpc": "2.0", "id": 1, "result": value}).encode() + b"\n\n")


def task(state: str, **changes: Any) -> dict[str, Any]:
    """A task."""
    return {"id": "task-1", "contextId": "context-1", "status": {"state": f"TASK_STATE_{state}"}, **changes}


def message(text: str) -> dict[str, Any]:
    """A message of the agent."""
    return {"messageId": "1", "role": "ROLE_AGENT", "parts": [{"text": text}]}


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([answer("<html>")], "has a card that is not JSON"),
        ([answer("[" * 100_000)], "has a card that is not JSON"),
        ([answer("[]")], "is not valid"),
        ([answer('{"skills": [3]}')], "is not valid"),
        ([answer('{"name": {"a": 1}}')], "is not valid"),
        ([answer("no", 404)], "has no card: HTTP 404"),
        ([answer("no", 401)], "has no card: HTTP 401"),
        ([answer(b" " * 1_100_000)], "has a card of more than 1,048,576 bytes"),
        ([answer(b"\x1f\x8b", content_encoding="gzip")], "compressed its answer"),
        ([b"garbage\r\n\r\n", CUT], "cannot be reached"),
        ([answer("{", length=100), CUT], "cannot be reached"),
        ([RESET], "cannot be reached"),
        ([moved(302, "http://169.254.169.254/latest")], "redirects to another origin"),
        ([moved(302, "/loop.json")], "cannot be reached"),
    ],
)
def test_broken_card_is_a_typed_error(steps: list[Step], problem: str):
    with ScriptedServer() as server:
        server.always(*steps)
        with pytest.raises(ToolServerError) as raised:
            A2AAgent(server.url, headers=HEADERS).list_tools()
    assert problem in str(raised.value)
    assert raised.value.server == "127.0.0.1"
    assert KEY not in str(raised.value)
    assert raised.value.__cause__ is None or KEY not in repr(raised.value.__cause__)


def test_card_that_does_not_come_is_a_typed_error():
    with ScriptedServer() as server:
        server.always(HANG)
        with pytest.raises(ToolServerError, match=r"did not send its card in 0\.2 s"):
            A2AAgent(server.url, connect_timeout=0.2).list_tools()


@pytest.mark.parametrize(("status", "hint"), [(401, "headers={'Authorization'"), (404, "card.json")])
def test_error_of_a_card_says_what_to_type(status: int, hint: str):
    with ScriptedServer() as server:
        server.always(answer("no", status))
        with pytest.raises(ToolServerError) as raised:
            A2AAgent(server.url).list_tools()
    assert raised.value.hint is not None
    assert hint in raised.value.hint


def test_headers_never_reach_another_origin():
    with ScriptedServer() as other, ScriptedServer() as server:
        server.always(moved(307, f"{other.url}/card.json"))
        with pytest.raises(ToolServerError, match="redirects to another origin"):
            A2AAgent(server.url, headers=HEADERS).list_tools()
        assert other.requests == []
    with ScriptedServer() as other, broken(moved(307, other.url)) as server:
        step = A2AAgent(server.url, headers=HEADERS).call("Helper_Agent", {"message": "x"})
        assert "redirects to another origin" in step.result.as_text
        assert other.requests == []


def test_redirect_within_the_origin_is_followed_with_the_method():
    with ScriptedServer() as server:

        def script(request: ReceivedRequest) -> Sequence[Step]:
            new = {"/": "/new", "/.well-known/agent-card.json": "/card.json"}.get(request.target)
            if new is not None:
                return [moved(307, new)]
            return [answer(card_at(server.url)) if request.method == "GET" else result(message=message("Moved."))]

        server.always_by(script)
        step = A2AAgent(server.url, headers=HEADERS).call("Helper_Agent", {"message": "x"})
        assert lines(step.result.as_text) == ["Moved."]
        assert [request.method for request in server.requests] == ["GET", "GET", "POST", "POST"]
        assert {request.headers.get("authorization") for request in server.requests} == {f"Bearer {KEY}"}


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([answer("<html>")], "not JSON"),
        ([answer("[" * 100_000)], "failed the call"),
        ([answer("[]")], "expected an object, got list"),
        ([answer({"jsonrpc": "2.0", "id": 1, "error": {"code": -32004, "message": f"Bad key {KEY}"}})], "Bad key"),
        ([answer({"jsonrpc": "2.0", "id": 1, "error": "x"})], "error is not an object"),
        ([answer("no", 500)], "failed the call: HTTP 500"),
        ([answer("no", 401)], "failed the call: HTTP 401. It requires a key"),
        ([answer("{}", content_encoding="br")], "compressed its answer"),
        ([result(task={"id": "", "status": {"state": "TASK_STATE_COMPLETED"}})], "a task without an id"),
        ([result(task={"id": "1", "status": {"state": "TASK_STATE_NEW"}})], "a task in no known state"),
        ([result(task={"id": "1", "status": {"state": 99}})], "a task in no known state"),
        ([result(task={"id": "1", "status": {"state": -1}})], "a task in no known state"),
        ([result(task={"id": 3})], "failed the call"),
        ([result(message={"parts": [{"data": {"x": float("nan")}}]})], "data that JSON cannot hold"),
        ([b"garbage\r\n\r\n", CUT], "lost while the call ran"),
        ([RESET], "lost while the call ran"),
        ([answer("{", length=100), CUT], "lost while the call ran"),
        ([moved(302, "/x")], "redirects a call"),
    ],
)
def test_broken_answer_is_an_error_result_and_the_loop_goes_on(steps: list[Step], problem: str, streaming: bool):
    with broken(*steps, streaming=streaming) as server, Way.of("async-whole") as way:
        step = asked(way, A2AAgent(server.url, headers=HEADERS), "x")
    assert step.outcome == "failed"
    assert problem in step.result.as_text
    assert step.error is not None
    assert step.error.type == "ToolFailed"
    assert KEY not in repr(step)


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([stream_head(), chunk(b"data: {\n\n"), LAST_CHUNK], "not JSON"),
        ([stream_head(), LAST_CHUNK], "ended the stream without an answer"),
        ([stream_head(), chunk(b"event: error\ndata: boom\n\n"), LAST_CHUNK], "boom"),
        ([stream_head(), event(statusUpdate={"taskId": "1", "status": {}}), LAST_CHUNK], "no known state"),
        ([stream_head(), event(task=task("WORKING")), event(task={**task("WORKING"), "id": "2"})], "another task, '2'"),
        ([stream_head(), event(task=task("WORKING")), event(artifactUpdate={"taskId": "2"})], "another task, '2'"),
        ([stream_head(), chunk(b"data: " + b"x" * 300_000), HANG], "more than 200,000 bytes"),
        ([stream_head(), *[chunk(b": " + b"x" * 50_000 + b"\n") for _ in range(5)], HANG], "more than 200,000 bytes"),
    ],
)
def test_broken_stream_is_an_error_result(steps: list[Step], problem: str):
    with broken(*steps, streaming=True) as server, Way.of("async-whole") as way:
        step = asked(way, A2AAgent(server.url, max_message_bytes=200_000), "x")
    assert step.outcome == "failed"
    assert problem in step.result.as_text


def test_artifacts_are_bounded_together():
    def update(number: int) -> bytes:
        artifact = {"artifactId": str(number), "parts": [{"text": "x" * 90_000}]}
        return event(artifactUpdate={"taskId": "task-1", "contextId": "context-1", "artifact": artifact})

    steps = [stream_head(), event(task=task("WORKING")), *[update(number) for number in range(5)], HANG]
    with broken(*steps, streaming=True) as server, Way.of("async-whole") as way:
        step = asked(way, A2AAgent(server.url, max_message_bytes=200_000), "x")
        assert "artifacts of more than 200,000 bytes" in step.result.as_text
        assert server.requests[-1].json["method"] == "CancelTask"


def test_answer_is_bounded():
    with broken(result(message=message("x" * 300_000))) as server:
        step = A2AAgent(server.url, max_message_bytes=200_000).call("Helper_Agent", {"message": "x"})
    assert "more than 200,000 bytes" in step.result.as_text


def test_long_stream_of_short_events_is_no_long_message():
    updates = event(statusUpdate={"taskId": "task-1", "status": {"state": "TASK_STATE_WORKING"}}) * 200
    steps = [stream_head(), event(task=task("WORKING")), updates, event(task=task("COMPLETED")), LAST_CHUNK]
    assert len(updates) > 20_000
    with broken(*steps, streaming=True) as server:
        step = A2AAgent(server.url, max_message_bytes=1_000).call("Helper_Agent", {"message": "x"})
    assert step.outcome == "done"


@pytest.mark.parametrize("end", [[LAST_CHUNK], [CUT], [RESET], [chunk(b"data: {\n\n")], [BROKEN_LINE]])
def test_task_whose_stream_ends_early_is_looked_after(end: list[Step]):
    """The stream is lost, the task is not: it is asked for until it has ended."""
    done = task("COMPLETED", artifacts=[{"artifactId": "a", "parts": [{"text": "At last."}]}])
    looks = [answer(result_of(task("WORKING"))), answer(result_of(done))]
    steps: list[Step] = [stream_head(), event(task=task("WORKING")), *end]
    with broken(*steps, streaming=True, tasks=looks) as server, Way.of("sync-whole") as way:
        step = asked(way, A2AAgent(server.url), "x")
    assert (step.outcome, lines(step.result.as_text)) == ("done", ["At last."])


def result_of(value: dict[str, Any]) -> dict[str, Any]:
    """A response of JSON-RPC to `GetTask`."""
    return {"jsonrpc": "2.0", "id": 1, "result": value}


def test_question_that_is_asked_again_without_a_new_id_is_asked_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("abstracta2a.connections._MOST_LOOKS_AT_ANSWERED", 3)
    waiting = task("INPUT_REQUIRED")
    looks = [answer(result_of(waiting))] * 20
    with broken(result(task=waiting), tasks=looks) as server, Way.of("sync-whole") as way:
        agent = A2AAgent(server.url)
        response = begun(way, agent, "x")
        [pending] = response.loop.pending
        response = way.resume(scripted("Done."), response.loop, [pending.respond({"answer": "y"})], tools=[agent])
        assert [each.reason for each in response.loop.pending] == ["input"]
        sent = [request.json for request in server.requests if request.method == "POST"]
        assert [each["params"]["message"].get("taskId") for each in sent if each["method"] == "SendMessage"] == [
            None,
            "task-1",
        ]


def test_agent_that_hangs_in_a_call_is_left_at_the_time_limit(one_of_two_ways: Way):
    with broken(HANG) as server:
        step = asked(one_of_two_ways, A2AAgent(server.url), "x", run_tools=limited(0.3))
    assert step.outcome == "timed_out"


def test_user_of_the_address_is_sent_and_in_no_error_or_log(caplog: pytest.LogCaptureFixture):
    caplog.set_level("DEBUG")
    with broken(result(message=message("Hello."))) as server:
        agent = A2AAgent(server.url.replace("http://", "http://ann:pa55word%21very-secret@"))
        assert agent.call("Helper_Agent", {"message": "x"}).outcome == "done"
        sent = {request.headers["authorization"] for request in server.requests}
        server.always(answer("no", 500))
        agent.close()
        with pytest.raises(ToolServerError) as raised:
            agent.list_tools()
    assert sent == {"Basic " + base64.b64encode(b"ann:pa55word!very-secret").decode()}
    assert "pa55word" not in f"{raised.value} {agent!r} {caplog.text}"


def test_files_of_broken_types_are_files_of_bytes():
    kinds = ["image/png\r\nx: y", ""]
    files = [{"raw": "AAEC", "mediaType": kind, "filename": "a\x1b\nb"} for kind in kinds]
    parts = [*files, {"url": "https://x\x00y/", "mediaType": "text/plain"}, {"text": ""}, dict[str, str]()]
    with broken(result(message={"messageId": "1", "role": "ROLE_AGENT", "parts": parts})) as server:
        step = A2AAgent(server.url).call("Helper_Agent", {"message": "x"})
    assert step.outcome == "done"
    assert "[file: " in step.result.as_text
    blobs = [part.blob for part in step.result.content if isinstance(part, DocumentPart)]
    assert [(blob.media_type, blob.name) for blob in blobs] == [("application/octet-stream", "ab")] * 2


@pytest.mark.parametrize("losses", [2, 3])
def test_task_is_given_up_after_three_losses_in_a_row(losses: int):
    done = task("COMPLETED", artifacts=[{"artifactId": "a", "parts": [{"text": "At last."}]}])
    with ScriptedServer() as server, Way.of("async-whole") as way:
        server.script(result(task=task("WORKING")))
        for _ in range(losses):
            server.script(answer("busy", 503) if losses == 2 else RESET)
        server.always(answer(result_of(done)))
        step = asked(way, A2AAgent(card=card_at(server.url)), "x")
    assert step.outcome == ("done" if losses == 2 else "failed")
    assert ("At last." if losses == 2 else "lost while the call ran") in step.result.as_text


@pytest.mark.parametrize("time", ["2026-11-23T07:15:00.123456", "2026-11-23T07:15:00+02:00", "yesterday", 3, None])
def test_time_of_any_form_is_taken(time: Any):
    done = task("COMPLETED")
    done["status"]["timestamp"] = time
    with broken(result(task=done)) as server:
        assert A2AAgent(server.url).call("Helper_Agent", {"message": "x"}).outcome == "done"


def test_messages_have_the_idempotency_key_of_their_call_as_their_id():
    with broken(result(message=message("Yes."))) as server, Way.of("sync-whole") as way:
        agent = A2AAgent(server.url, headers=HEADERS)
        response = begun(way, agent, "one", "two")
        sent = {each.json["params"]["message"]["messageId"] for each in server.requests if each.method == "POST"}
        keys = {call_digest(step.call, response.loop.id, 0) for step in response.tool_steps}
    assert sent == keys
    assert len(keys) == 2
