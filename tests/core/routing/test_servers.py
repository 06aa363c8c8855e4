"""Groups of models on real connections: members that are dead, slow, limited or broken; signatures of other models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from abstractcore import (
    LLM,
    CallRecord,
    FallbackExhaustedError,
    Member,
    Message,
    Price,
    ReasoningPart,
    Routing,
    Services,
    TextPart,
    create_llm,
)
from tests.chaos_server import HANG, Gate, ScriptedServer, answer, completion, failure, streamed
from tests.core.tools.loops import WAYS, Way

MEMBER = "openai-compatible/m"


@pytest.fixture(params=WAYS)
def way(request: Any) -> Iterator[Way]:
    """Whole and streamed answers, sync and async."""
    with Way.of(request.param) as way:
        yield way


@pytest.fixture
def working() -> Iterator[ScriptedServer]:
    with ScriptedServer() as working:
        yield working


def group(services: Services, *servers: str, routing: Routing | None = None, **options: Any) -> LLM:
    members = [Member(MEMBER, base_url=f"{url}/v1") for url in servers]
    return create_llm(members, services=services, routing=routing, **{"max_retries": 0, **options})


def answering(server: ScriptedServer, way: Way) -> None:
    server.always(*((streamed("hello"),) if way.streamed else (completion("hello"),)))


def test_dead_server_is_left_for_a_working_one(way: Way, services: Services, working: ScriptedServer):
    with ScriptedServer() as dead:
        url = dead.url
    answering(working, way)
    llm = group(services, url, working.url)
    for _ in range(3):
        assert way.generate(llm, "hi").content == "hello"
    response = way.generate(llm, "hi")
    assert [each.error for each in response.attempts] == [None]  # the dead one is left alone
    assert "not asked, after ConnectionFailedError" in response.warnings[-1].message


@pytest.mark.parametrize("status", [500, 503, 529, 429])
def test_server_with_an_error_status_is_left(
    way: Way, status: int, services: Services, server: ScriptedServer, working: ScriptedServer
):
    server.script(failure(status, "not now"))
    answering(working, way)
    response = way.generate(group(services, server.url, working.url), "hi")
    assert (response.content, [each.status for each in response.attempts]) == ("hello", [status, 200])


def test_limited_server_is_not_waited_for_while_another_is_ready(
    way: Way, services: Services, server: ScriptedServer, working: ScriptedServer
):
    server.script(failure(429, "slow down", retry_after="300"))
    answering(working, way)
    llm = group(services, server.url, working.url, max_retries=2)
    assert way.generate(llm, "hi").content == "hello"


def test_bad_key_is_left_for_good(way: Way, services: Services, server: ScriptedServer, working: ScriptedServer):
    server.script(failure(401, "bad key"))
    answering(working, way)
    llm = group(services, server.url, working.url)
    assert [way.generate(llm, "hi").content for _ in range(2)] == ["hello", "hello"]


def test_silent_server_is_left_after_the_time_of_a_member_and_charged(
    way: Way, services: Services, server: ScriptedServer, working: ScriptedServer
):
    server.script(HANG)
    answering(working, way)
    members = [
        Member(MEMBER, base_url=f"{server.url}/v1", price=Price(input=1_000_000, output=0)),
        Member(MEMBER, base_url=f"{working.url}/v1", price=Price(input=1, output=1)),
    ]
    llm = create_llm(members, services=services, routing=Routing(member_timeout=0.2), max_retries=0)
    records: list[CallRecord] = []
    services.records.subscribe(records.append)
    response = way.generate(llm, "hi")
    assert (response.content, response.attempts[0].error) == ("hello", "RequestTimeoutError")
    assert response.cost is not None
    assert response.cost < 1
    assert response.estimated_cost is not None
    assert response.estimated_cost >= 1  # the tokens of the lost request have the price of its member
    services.records.flush(10)
    first, second = records[0].attempts
    assert first.estimated_cost == response.estimated_cost
    assert second.cost == response.cost


def test_late_server_is_overtaken(way: Way, services: Services, server: ScriptedServer, working: ScriptedServer):
    gate: Gate = server.gate()
    server.script(gate, completion("late"))
    answering(working, way)
    llm = group(services, server.url, working.url, routing=Routing(hedge_after=0.05))
    response = way.generate(llm, "hi")
    gate.open()
    assert response.content == "hello"
    assert [each.number for each in response.attempts] == [1, 2]
    assert response.attempts[0].error is not None
    assert response.attempts[1].error is None
    assert "was late" in response.warnings[-1].message


def test_all_servers_fail_with_every_cause(way: Way, services: Services, server: ScriptedServer):
    with ScriptedServer() as dead:
        url = dead.url
    server.script(failure(500, "broken"))
    with pytest.raises(FallbackExhaustedError) as info:
        way.generate(group(services, url, server.url), "hi")
    assert [type(each.error).__name__ for each in info.value.causes] == ["ConnectionFailedError", "ServerError"]
    assert [each.status for each in info.value.attempts] == [None, 500]


GEMINI = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "hello"}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
}
CLAUDE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5-5",
    "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}
CONVERSE = {
    "output": {"message": {"role": "assistant", "content": [{"text": "hello"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5},
}
AWS = {"aws_access_key_id": "AKIA0123456789", "aws_secret_access_key": "a-secret-of-a-test"}


@pytest.mark.parametrize(
    ("first", "second", "of_first", "of_second", "reply"),
    [
        (
            "vertex/gemini-3.8-flash",
            "google/gemini-3.8-flash",
            {"project": "p", "access_token": "t"},
            {"key": "k"},
            GEMINI,
        ),
        (
            "anthropic/claude-opus-5-5",
            "bedrock-anthropic/anthropic.claude-opus-5-5",
            {"key": "k"},
            {"key": "k" * 9},
            CLAUDE,
        ),
        (
            "anthropic/claude-opus-5-5",
            "bedrock/anthropic.claude-opus-5-5",
            {"key": "k"},
            {"region": "us-east-1", "credentials": AWS},
            CONVERSE,
        ),
    ],
)
def test_signature_of_one_model_is_not_sent_to_another(
    services: Services,
    server: ScriptedServer,
    working: ScriptedServer,
    first: str,
    second: str,
    of_first: dict[str, Any],
    of_second: dict[str, Any],
    reply: dict[str, Any],
):
    server.script(failure(500, "down"))
    working.always(answer(reply))
    members = [
        Member(first, base_url=server.url, max_retries=0, **of_first),
        Member(second, base_url=working.url, **of_second),
    ]
    reasoning = ReasoningPart("because", signature="c2lnbmVkIGJ5IG1l", origin=first)
    history = [Message.user("Think."), Message.assistant(reasoning, TextPart("Done."))]
    response = create_llm(members, services=services).generate("Go on.", messages=history)
    assert (response.content, f"{response.provider}/") == ("hello", second.partition("/")[0] + "/")
    assert "c2lnbmVkIGJ5IG1l" in json.dumps(server.requests[0].json)
    assert "c2lnbmVkIGJ5IG1l" not in json.dumps(working.requests[0].json)
    assert any("reasoning" in each.message for each in response.warnings)
