"""Records of calls with `verify=True`: that of the last round has the verification, and no text unless it is full."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from abstractcore import (
    CallRecord,
    ConnectionFailedError,
    GenerateResponse,
    Services,
    Verification,
    create_llm,
    from_json,
    to_json,
    tool,
)
from abstractcore.testing import CallStyle, ScriptedReply
from tests.core.tools.loops import WAYS, Way

FEE = "The fee is 14 euros."


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Generator[Way]:
    """Sync and async, whole and streamed."""
    with Way.of(request.param) as way:
        yield way


@tool
def fee() -> str:
    """The fee."""
    return FEE


def of(record: CallRecord | GenerateResponse[Any]) -> Verification:
    assert record.verification is not None
    return record.verification


def test_record_of_the_call_has_the_verification(way: Way):
    services = Services(environment={})
    llm = create_llm("scripted", replies=["Ann Smith wants 14 euros, not 15 kg."], services=services)
    full, off, redacted = list[CallRecord](), list[CallRecord](), list[CallRecord]()
    with (
        services.records.subscribe(full.append, capture="full"),
        services.records.subscribe(off.append),
        services.records.subscribe(redacted.append, capture="redacted"),
    ):
        response = way.generate(llm, "Is it right?", media=[FEE.encode()], verify=True)
    assert full[0].verification == response.verification
    assert from_json(to_json(full[0])) == full[0]
    assert off[0].verification == redacted[0].verification
    assert [(each.kind, each.start, each.verdict) for each in of(off[0]).checks] == [
        (each.kind, each.start, each.verdict) for each in of(response).checks
    ]
    texts = [(each.text, each.instead, each.source and each.source.text, each.reason) for each in of(off[0]).checks]
    assert {text for each in texts for text in each} <= {"", None}
    assert "Ann" not in to_json(off[0])


def test_record_of_a_tool_loop_has_the_verification_at_its_last_round(way: Way):
    services = Services(environment={})
    llm = create_llm("scripted", replies=[ScriptedReply.tool_call("fee", {}), FEE], services=services)
    records: list[CallRecord] = []
    with services.records.subscribe(records.append):
        response = way.generate(llm, tools=[fee], run_tools=True, verify=True)
    first, last = records
    assert first.verification is None
    assert [each.verdict for each in of(last).checks] == [each.verdict for each in of(response).checks] == ["agreed"]


def test_call_that_is_not_verified_after_all_is_recorded(call_style: CallStyle):
    services = Services(environment={})
    replies = [FEE, ConnectionFailedError("it is gone")]
    llm = create_llm("scripted", replies=replies, services=services, max_retries=0)
    records: list[CallRecord] = []
    with services.records.subscribe(records.append):
        stream = call_style.stream(llm, "Go.", verify=True)
        next(iter(stream))
        stream.close()
        with pytest.raises(ConnectionFailedError):
            call_style.generate(llm, "Go.", verify=True)
    assert [(each.outcome, each.verification) for each in records] == [("abandoned", None), ("failed", None)]


def test_check_that_fails_ends_the_call(call_style: CallStyle, monkeypatch: pytest.MonkeyPatch):
    from abstractcore.verification import call_checks

    def fail(*arguments: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(call_checks, "check_claims", fail)
    services = Services(environment={})
    llm = create_llm("scripted", replies=[FEE] * 2, services=services)
    records: list[CallRecord] = []
    with services.records.subscribe(records.append):
        with pytest.raises(RuntimeError, match="a bug"):
            call_style.generate(llm, "Go.", verify=True)
        with pytest.raises(RuntimeError, match="a bug"):
            list(call_style.stream(llm, "Go.", verify=True))
    assert [each.outcome for each in records] == ["done", "done"]


def test_stream_whose_check_failed_needs_not_be_closed(monkeypatch: pytest.MonkeyPatch):
    from abstractcore.verification import call_checks

    def fail(*arguments: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(call_checks, "check_claims", fail)
    stream = create_llm("scripted", replies=[FEE]).stream("Go.", verify=True)
    with pytest.raises(RuntimeError, match="a bug"):
        list(stream)
    assert repr(stream) == "<Stream: closed, 'The fee is 14 euros.' so far>"
