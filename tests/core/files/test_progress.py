"""The progress of conversions: reported to the user's function, in every way of calling, and never in the way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from abstractcore import InvalidInputError, MediaProgress, Services, Suspend, ToolOutput, create_llm, tool
from abstractcore.ports import Conversion, MediaContext
from abstractcore.schema import AudioPart, Blob, MediaPart
from abstractcore.tools.policy import ToolPolicy
from tests.core.tools.loops import STREAMED_WAYS, WAYS, Way, calls
from tests.media_doubles import TRANSCRIPT, Handler, registry

SECONDS = 100_000


@dataclass
class Long(Handler):
    """A handler of recordings that reports each second, also of a file inside; `total` may be unknown."""

    total: float | None = SECONDS
    seconds: int = SECONDS
    threads: set[int] = field(default_factory=set)

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        self.threads.add(threading.get_ident())
        if context.question == "nested" and context.to_text is not None and b"inner" not in part.blob.read():
            context.to_text(replace(part, blob=Blob.from_bytes(b"LONG inner", "audio/x-long")))
            context.progress(1, 1, "recordings")
            return Conversion("words", "transcript")
        for second in range(1, self.seconds + 1):
            context.progress(second, self.total, "seconds")
        return Conversion("words", "transcript")


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Iterator[Way]:
    with Way.of(request.param) as way:
        yield way


@pytest.fixture
def handler() -> Long:
    return Long("long", "audio", b"LONG", "audio/x-long", (TRANSCRIPT,))


@pytest.fixture
def scripted(handler: Long) -> Iterator[Callable]:
    """Creates a scripted LLM that uses the handler."""
    services = Services(registry=registry(handler), environment={})
    yield lambda *replies: create_llm("scripted", replies=list(replies), services=services)
    services.close()


def test_progress_is_reported_at_most_for_each_hundredth(way: Way, scripted, handler: Long):
    seen: list[MediaProgress] = []
    response = way.generate(scripted("Yes."), media=[b"LONG a"], on_media_progress=seen.append)
    assert response.content == "Yes."
    assert [each.done for each in seen] == [1, *range(1_000, SECONDS + 1, 1_000)]
    assert {(each.source, each.total, each.what) for each in seen} == {(response.media[0].source, SECONDS, "seconds")}
    assert handler.threads != {threading.get_ident()}


def test_file_of_a_tool_reports_too_and_a_converted_one_does_not_again(way: Way, scripted, handler: Long):
    handler.total = handler.seconds = 2

    @tool
    def record() -> ToolOutput:
        """Records."""
        return ToolOutput([AudioPart(Blob.from_bytes(b"LONG b", "audio/x-long", name="b.long"))])

    seen: list[MediaProgress] = []
    media = [AudioPart(Blob.from_bytes(b"LONG a", "audio/x-long", name="a.long"))]
    llm = scripted(calls(("record", {})), "Yes.")
    way.generate(llm, media=media, tools=[record], run_tools=True, on_media_progress=seen.append)
    assert [(each.source, each.done) for each in seen] == [("a.long", 1), ("a.long", 2), ("b.long", 1), ("b.long", 2)]


def test_files_of_a_call_are_counted_when_they_are_ready(way: Way, scripted, handler: Long):
    handler.total = handler.seconds = 1
    seen: list[MediaProgress] = []
    media = [
        AudioPart(Blob.from_bytes(b"LONG %d" % number, "audio/x-long", name=f"{number}.long")) for number in range(3)
    ]
    way.generate(scripted("Yes."), media=media, on_media_progress=seen.append)
    counted = [each for each in seen if each.what == "files"]
    assert sorted(each.source for each in counted) == ["0.long", "1.long", "2.long"]
    assert sorted((each.done, each.total) for each in counted) == [(1, 3), (2, 3), (3, 3)]


def test_resumed_loop_reports(way: Way, scripted, handler: Long):
    handler.total = handler.seconds = 1

    @tool(destructive=True)
    def record() -> ToolOutput:
        """Records."""
        return ToolOutput([AudioPart(Blob.from_bytes(b"LONG b", "audio/x-long", name="b.long"))])

    llm = scripted(calls(("record", {})), "Yes.")
    policy = ToolPolicy(approve=lambda call: Suspend())
    stopped = way.generate(llm, tools=[record], run_tools=policy)
    seen: list[MediaProgress] = []
    answers = [pending.allow() for pending in stopped.pending]
    response = way.resume(llm, stopped, answers, tools=[record], on_media_progress=seen.append)
    assert response.content == "Yes."
    assert seen == [MediaProgress("b.long", 1, 1, "seconds")]


def test_file_in_a_file_does_not_report_for_the_outer_one(way: Way, scripted):
    seen: list[MediaProgress] = []
    way.generate(scripted("Yes."), "nested", media=[b"LONG a"], on_media_progress=seen.append)
    assert [each.what for each in seen] == ["recordings"]


def test_unknown_total_is_reported_each_time(way: Way, scripted, handler: Long):
    handler.total, handler.seconds = None, 3
    seen: list[MediaProgress] = []
    way.generate(scripted("Yes."), media=[b"LONG a"], on_media_progress=seen.append)
    assert [(each.done, each.total) for each in seen] == [(1, None), (2, None), (3, None)]


def test_function_that_fails_is_logged_once_and_the_call_goes_on(way: Way, scripted, caplog):
    def broken(progress: MediaProgress) -> None:
        raise OSError("the terminal is closed")

    assert way.generate(scripted("Yes."), media=[b"LONG a"], on_media_progress=broken).content == "Yes."
    (record,) = caplog.records
    assert "on_media_progress failed" in record.message
    assert "the terminal is closed" in record.exc_text


@pytest.mark.parametrize("name", [name for name in WAYS if name not in STREAMED_WAYS])
def test_function_that_never_returns_does_not_keep_the_call_beyond_its_time_limit(name: str, scripted):
    from abstractcore import RequestTimeoutError

    released = threading.Event()
    try:
        with Way.of(name) as way, pytest.raises(RequestTimeoutError):
            way.generate(scripted("Yes."), media=[b"LONG a"], timeout=0.2, on_media_progress=lambda _: released.wait())
    finally:
        released.set()


def test_function_can_go_on_in_the_event_loop(scripted):
    async def main() -> list[float]:
        loop, seen = asyncio.get_running_loop(), asyncio.Queue[float]()

        def tell(progress: MediaProgress) -> None:
            loop.call_soon_threadsafe(seen.put_nowait, progress.done)

        await scripted("Yes.").agenerate(media=[b"LONG a"], on_media_progress=tell)
        return [seen.get_nowait() for _ in range(seen.qsize())]

    assert len(asyncio.run(main())) == 101


async def awaited(progress: MediaProgress) -> None:
    """An async function."""


@pytest.mark.parametrize("function", [awaited, "print"])
def test_what_is_no_sync_function_is_refused(way: Way, scripted, function):
    with pytest.raises(InvalidInputError, match=r"on_media_progress: expected a sync function.*call_soon_threadsafe"):
        way.generate(scripted("Yes."), media=[b"LONG a"], on_media_progress=function)


def test_progress_is_not_part_of_the_call_as_data(scripted):
    llm = scripted("Yes.")
    assert llm.build("Go.", on_media_progress=print) == llm.build("Go.")
