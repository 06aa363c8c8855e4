"""What a loop has used when one of its rounds breaks off: its state counts that round too, and is continued with it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    LLM,
    AbstractCoreError,
    CostSums,
    FileJournal,
    OutputValidationError,
    Price,
    ServerError,
    StreamInterruptedError,
    ToolLoop,
    ToolPolicy,
    Usage,
    from_json,
    to_json,
    tool,
)
from abstractcore.testing import CallStyle
from tests.chaos_server import (
    CUT,
    USAGE,
    ScriptedServer,
    chunk,
    completion,
    delta,
    failure,
    stream_head,
    streamed,
)

CALL = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'
PRICE = Price(input=2, output=10)
A_ROUND = Usage(input=3, output=2)
DOLLARS = Decimal("0.000026")


@tool
def look() -> str:
    """Looks."""
    return "seen"


@pytest.fixture
def llm(connect: Callable[..., LLM]) -> LLM:
    return connect(price=PRICE, tool_format="hermes", max_retries=0)


def counted(loop: Any) -> tuple[Usage, Decimal | None]:
    assert from_json(to_json(loop)) == loop
    return loop.usage, loop.cost


def read(style: CallStyle, llm: LLM, **options: Any) -> None:
    with style.stream(llm, "Go.", tools=[look], **{"run_tools": True, **options}) as stream:
        list(stream)


def test_interrupted_round_counts_with_what_it_reported(
    llm: LLM, server: ScriptedServer, call_style: CallStyle, tmp_path: Path
):
    policy = ToolPolicy(journal=tmp_path / "journal")
    server.script(streamed(CALL))
    server.script(stream_head() + chunk(delta("It is")) + chunk(USAGE), CUT)
    with pytest.raises(StreamInterruptedError) as caught:
        read(call_style, llm, run_tools=policy)
    loop: Any = caught.value.loop
    assert counted(loop) == (A_ROUND + A_ROUND, 2 * DOLLARS)
    assert counted(FileJournal(tmp_path / "journal").loop()) == (A_ROUND + A_ROUND, 2 * DOLLARS)
    server.script(completion("seen"))
    response = llm.resume(loop, tools=[look], run_tools=policy)
    assert (response.content, response.usage, response.cost) == ("seen", A_ROUND + A_ROUND + A_ROUND, 3 * DOLLARS)


def test_cost_of_an_interrupted_round_that_reported_nothing_is_unknown(
    llm: LLM, server: ScriptedServer, call_style: CallStyle
):
    server.script(streamed(CALL))
    server.script(stream_head() + chunk(delta("It is")), CUT)
    with pytest.raises(StreamInterruptedError) as caught:
        read(call_style, llm)
    loop: Any = caught.value.loop
    assert counted(loop) == (A_ROUND, None)
    assert loop.cost_reason


def test_stream_that_is_left_counts_what_it_reported(llm: LLM, server: ScriptedServer, call_style: CallStyle):
    server.script(streamed(CALL))
    server.script(stream_head() + chunk(USAGE) + chunk(delta("It is")), CUT)
    with call_style.stream(llm, "Go.", tools=[look], run_tools=True) as stream:
        for event in stream:
            if getattr(event, "text", "") == "It is":
                break
    assert counted(stream.loop) == (A_ROUND + A_ROUND, 2 * DOLLARS)


def test_cost_of_a_round_that_the_provider_refused_is_unknown(llm: LLM, server: ScriptedServer, call_style: CallStyle):
    server.script(completion(CALL))
    server.script(failure(500))
    with pytest.raises(ServerError) as caught:
        call_style.generate(llm, "Go.", tools=[look], run_tools=True)
    loop: Any = caught.value.loop
    assert counted(loop) == (A_ROUND, None)
    assert loop.costs == CostSums(known=DOLLARS, unknown=1)
    assert from_json(to_json(loop), ToolLoop).costs == loop.costs
    assert len(caught.value.attempts) == 2


def test_response_that_a_middleware_refused_counts(
    connect: Callable[..., LLM], server: ScriptedServer, call_style: CallStyle
):
    class Refusing:
        async def around_call(self, context: Any, next: Any) -> Any:
            answer = await next(context)
            if any(message.role == "tool" for message in context.call.messages):
                raise ServerError("refused")
            return answer

    llm = connect(price=PRICE, tool_format="hermes", middleware=[Refusing()])
    server.script(completion(CALL))
    server.script(completion("no"))
    with pytest.raises(AbstractCoreError, match="refused") as caught:
        call_style.generate(llm, "Go.", tools=[look], run_tools=True)
    loop: Any = caught.value.loop
    assert counted(loop) == (A_ROUND + A_ROUND, 2 * DOLLARS)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_invalid_answer_counts_once(llm: LLM, server: ScriptedServer, call_style: CallStyle, is_streamed: bool):
    options: dict[str, Any] = {"response_model": int, "output_retries": 0, "output_mode": "prompted"}
    for text in (CALL, "none"):
        server.script(streamed(text) if is_streamed else completion(text))
    with pytest.raises(OutputValidationError) as caught:
        if is_streamed:
            read(call_style, llm, **options)
        else:
            call_style.generate(llm, "Go.", tools=[look], run_tools=True, **options)
    loop: Any = caught.value.loop
    assert counted(loop) == (A_ROUND + A_ROUND, 2 * DOLLARS)
