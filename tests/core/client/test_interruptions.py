"""`interruption=`: calls that another thread or task ends, in every state that a call may be in."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from abstractcore import (
    CallInterruptedError,
    CallRecord,
    Interruption,
    InvalidInputError,
    Services,
    Suspend,
    ToolPolicy,
    create_llm,
    tool,
)
from abstractcore.testing.http_server import ScriptedServer, answer, chunk, stream_head
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.tools.loops import calls, scripted

EVENT = chunk(b'data: {"choices": [{"index": 0, "delta": {"content": "so far"}}]}\n\n')


def waiting(call: Callable[[Interruption], Any], when_it_waits: Callable[[], object]) -> CallInterruptedError:
    """Returns the error of a call that is interrupted by another thread when `when_it_waits` has returned."""
    interruption = Interruption()

    def interrupt() -> None:
        when_it_waits()
        interruption.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(CallInterruptedError) as caught:
            call(interruption)
    finally:
        thread.join(PATIENCE_SECONDS)
    return caught.value


def streamed(llm: Any, interruption: Interruption) -> None:
    with llm.stream("hi", interruption=interruption) as stream:
        list(stream)


def whole(llm: Any, interruption: Interruption) -> None:
    llm.generate("hi", interruption=interruption)


def in_a_loop(call: Callable[[Any, Interruption], Any]) -> Callable[[Any, Interruption], None]:
    def run(llm: Any, interruption: Interruption) -> None:
        asyncio.run(call(llm, interruption))

    return run


@in_a_loop
async def awaited(llm: Any, interruption: Interruption) -> None:
    await llm.agenerate("hi", interruption=interruption)


@in_a_loop
async def streamed_in_a_loop(llm: Any, interruption: Interruption) -> None:
    async with llm.astream("hi", interruption=interruption) as stream:
        [each async for each in stream]


WAYS = [whole, streamed, awaited, streamed_in_a_loop]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("transport", [None, "fast"])
@pytest.mark.parametrize("sent", [(), (stream_head(),), (stream_head(), EVENT)], ids=["nothing", "head", "half"])
def test_a_call_that_waits_for_the_server_ends(
    way: Callable[[Any, Interruption], None], transport: Any, sent: tuple[bytes, ...]
):
    records: list[CallRecord] = []
    services = Services()
    with ScriptedServer() as server, services.records.subscribe(records.append):
        gate = server.gate()
        server.script(*sent, gate)
        options: dict[str, Any] = {} if transport is None else {"transport": transport}
        llm = create_llm("openai", model="m", api_key="k", base_url=f"{server.url}/v1", services=services, **options)
        error = waiting(lambda interruption: way(llm, interruption), gate.wait_until_reached)
        assert error.message == "the call was interrupted"
        assert len(server.requests) == 1
        assert services.records.flush(PATIENCE_SECONDS)
        (record,) = records
        assert record.outcome == "cancelled"
        gate.open()


def slow(release: threading.Event, begun: threading.Event) -> Any:
    @tool
    def work() -> str:
        """Works."""
        begun.set()
        release.wait(PATIENCE_SECONDS)
        return "done"

    return work


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_loop_that_waits_for_a_tool_ends_and_can_be_resumed(is_async: bool, is_streamed: bool):
    release, begun = threading.Event(), threading.Event()
    work = slow(release, begun)

    def call(interruption: Interruption) -> Any:
        llm = scripted(calls(("work", {})), "never asked")
        options: dict[str, Any] = {"tools": [work], "run_tools": True, "interruption": interruption}
        if is_async:
            asyncio.run(_in_loop(llm, options, is_streamed=is_streamed))
        elif is_streamed:
            list(llm.stream("hi", **options))
        else:
            llm.generate("hi", **options)

    error = waiting(call, lambda: begun.wait(PATIENCE_SECONDS))
    release.set()
    loop: Any = error.loop
    assert (loop.status, [step.outcome for step in loop.steps]) == ("cancelled", ["interrupted"])
    assert scripted("Done.").resume(loop, tools=[work]).content == "Done."


async def _in_loop(llm: Any, options: dict[str, Any], *, is_streamed: bool) -> None:
    if is_streamed:
        async with llm.astream("hi", **options) as stream:
            [each async for each in stream]
    else:
        await llm.agenerate("hi", **options)


@pytest.mark.parametrize("way", WAYS)
def test_a_call_whose_interruption_is_set_before_sends_nothing(way: Callable[[Any, Interruption], None]):
    interruption = Interruption()
    interruption.set()
    llm = create_llm("scripted", replies=["never asked"])
    for _ in range(2):
        with pytest.raises(CallInterruptedError):
            way(llm, interruption)
    assert llm.generate("hi").content == "never asked"


def test_one_interruption_ends_several_calls_and_no_other():
    release = threading.Event()
    begun = [threading.Event() for _ in range(4)]
    interruption = Interruption()
    ended: dict[int, str] = {}

    def run(number: int) -> None:
        llm = scripted(calls(("work", {})), "Done.")
        given: dict[str, Any] = {"interruption": interruption} if number < 3 else {}
        try:
            ended[number] = llm.generate("hi", tools=[slow(release, begun[number])], run_tools=True, **given).content
        except CallInterruptedError as error:
            ended[number] = error.message

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread, event in zip(threads, begun, strict=True):
        thread.start()
        assert event.wait(PATIENCE_SECONDS)
    interruption.set()
    for thread in threads[:3]:
        thread.join(PATIENCE_SECONDS)
    assert ended == dict.fromkeys(range(3), "the call was interrupted")
    release.set()
    threads[3].join(PATIENCE_SECONDS)
    assert ended[3] == "Done."


@pytest.mark.parametrize("way", WAYS)
def test_a_pause_before_a_retry_ends(way: Callable[[Any, Interruption], None]):
    with ScriptedServer() as server:
        server.always(answer(b"{}", 503, retry_after="20"))
        llm = create_llm("openai", model="m", api_key="k", base_url=f"{server.url}/v1")
        waiting(lambda interruption: way(llm, interruption), lambda: server.wait_for_requests(1))
        assert len(server.requests) == 1


def test_operations_and_counts_are_interrupted_too():
    with ScriptedServer() as server:
        gate = server.gate()
        server.script(gate)
        llm = create_llm("anthropic", model="m", api_key="k", base_url=server.url)
        waiting(
            lambda interruption: llm.operate("count_tokens", "hi", interruption=interruption), gate.wait_until_reached
        )
        gate.open()


def test_a_call_that_ends_by_itself_is_not_changed_by_its_interruption():
    interruption = Interruption()
    assert scripted("Done.").generate("hi", interruption=interruption).content == "Done."
    with pytest.raises(Exception, match="replies"):
        create_llm("scripted", replies=[]).generate("hi", interruption=interruption)
    interruption.set()


def test_an_interruption_is_an_interruption():
    with pytest.raises(InvalidInputError, match="interruption: expected an Interruption"):
        scripted("Done.").generate("hi", interruption=threading.Event())  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("method", ["build", "plan", "count_tokens"])
def test_what_a_call_is_made_of_is_interrupted_too(method: str):
    interruption = Interruption()
    interruption.set()
    with pytest.raises(CallInterruptedError):
        getattr(scripted("Done."), method)("hi", interruption=interruption)


@pytest.mark.parametrize("stream", [False, True])
def test_a_loop_whose_interruption_is_set_before_stays_in_the_error(stream: bool):
    policy = ToolPolicy(approve=lambda pending: Suspend())
    tools = [slow(threading.Event(), threading.Event())]
    loop = scripted(calls(("work", {}))).generate("hi", tools=tools, run_tools=policy).loop
    interruption = Interruption()
    interruption.set()
    with pytest.raises(CallInterruptedError) as caught:
        resumed: Any = scripted("Done.").resume(loop, tools=tools, interruption=interruption, stream=stream)
        list(resumed)
    assert caught.value.loop == loop
