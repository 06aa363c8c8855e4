"""Files of a call with several rounds: each is converted and checked once, and reported once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    Blob,
    CachePoint,
    CallWarning,
    ImagePart,
    MediaPart,
    Services,
    ToolOutput,
    create_llm,
    tool,
)
from abstractcore.ports import Answer, CallContext, CallNext, Conversion, MediaContext
from abstractcore.registry import Registry
from abstractcore.stores.artifacts import FileArtifactStore
from abstractcore_providers.plugin import register_catalogues, register_providers
from tests.core.tools.loops import Answer as Reply
from tests.core.tools.loops import Way, calls
from tests.page_images import PageImages

FILES = Path(__file__).parents[2] / "media" / "files"
TIFF = FILES / "multipage.tif"
PAGES_LEFT_OUT = CallWarning("pages_left_out", "", "only the first 2 pages are sent")


class Counting(PageImages):
    """A handler of TIFF and GIF files that counts what it does, and says something else each time."""

    def __init__(self) -> None:
        super().__init__(describes=True)
        self.checked = 0
        self.converted: list[str | None] = []

    def check(self, part: MediaPart) -> None:
        self.checked += 1

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        self.converted.append(part.blob.name)
        conversion = super().convert(part, context)
        text = f"conversion {len(self.converted)} of {conversion.text}"
        return replace(conversion, content=text, usage=conversion.usage, warnings=(PAGES_LEFT_OUT,))


@pytest.fixture
def handler() -> Counting:
    """The handler of `scripted`."""
    return Counting()


@pytest.fixture
def artifacts(tmp_path: Path) -> FileArtifactStore:
    """The artifacts of `scripted`."""
    return FileArtifactStore(tmp_path)


@pytest.fixture
def scripted(handler: Counting, artifacts: FileArtifactStore):
    """Creates a scripted LLM with these replies, which uses the handler."""
    opened: list[Services] = []

    def create(*replies: Reply, accepts: Any = ("image/png",), **options: Any):
        registry = Registry()
        for provider in register_providers():
            registry.add_provider(provider)
        for file in register_catalogues():
            registry.add_catalogue(file)
        registry.add_media_handler(handler)
        services = Services(registry=registry, environment={}, artifacts=artifacts)
        opened.append(services)
        return create_llm("scripted", replies=list(replies), accepts=accepts, services=services, **options)

    yield create
    for services in opened:
        services.close()


@tool(read_only=True)
def clock(city: str) -> str:
    """The time in a city."""
    return "12:30"


ROUNDS = [calls(("clock", {"city": city})) for city in ("Oslo", "Lima", "Bern")]


def test_file_is_converted_once_in_a_loop_of_several_rounds(way: Way, scripted, handler: Counting):
    llm = scripted(*ROUNDS, "Done.")
    response = way.generate(llm, "Go.", media=[TIFF], tools=[clock], run_tools=True)
    assert (response.content, len(response.steps)) == ("Done.", 4)
    assert handler.converted == ["multipage.tif"]
    first, *others = [call.messages[0] for call in llm.calls]
    assert "conversion 1 of" in first.parts[0].text
    assert others == [first] * 3
    (decision,) = response.media
    assert (decision.route, decision.part_path, decision.usage.input) == ("fallback", "messages[0].parts[0]", 7)
    assert [warning.code for warning in response.warnings] == ["pages_left_out"]


def test_conversion_is_charged_once_in_a_loop(way: Way, scripted):
    llm = scripted(*ROUNDS, "Done.")
    with_file = way.generate(llm, "Go.", media=[TIFF], tools=[clock], run_tools=True)
    replies = sum(reply.usage.input or 0 for reply in with_file.steps)
    assert with_file.usage.input == replies + 7


def test_file_is_converted_once_for_a_corrected_answer(way: Way, scripted, handler: Counting):
    llm = scripted("no", "neither", "[3]")
    response = way.generate(llm, "How many?", media=[TIFF], response_model=list[int], output_retries=2)
    assert (response.output, len(response.output_attempts)) == ([3], 2)
    assert handler.converted == ["multipage.tif"]
    assert len(response.media) == 1


def test_native_file_is_checked_once(way: Way, scripted, handler: Counting):
    llm = scripted(*ROUNDS, "Done.", accepts=("image",))
    response = way.generate(llm, "Go.", media=[TIFF], tools=[clock], run_tools=True)
    assert (handler.checked, handler.converted) == (1, [])
    assert [decision.route for decision in response.media] == ["native"]


def test_same_file_given_twice_is_converted_once_and_reported_twice(way: Way, scripted, handler: Counting):
    llm = scripted(ROUNDS[0], "Done.")
    response = way.generate(llm, "Go.", media=[TIFF, TIFF], tools=[clock], run_tools=True)
    assert handler.converted == ["multipage.tif"]
    assert [each.part_path for each in response.media] == ["messages[0].parts[0]", "messages[0].parts[1]"]
    assert [each.usage and each.usage.input for each in response.media] == [7, None]
    assert [each.path for each in response.warnings] == ["messages[0].parts[0]", "messages[0].parts[1]"]


def test_file_of_a_tool_is_converted_in_the_next_round_only(way: Way, scripted, handler: Counting):
    @tool
    def scan(page: int) -> ToolOutput:
        return ToolOutput([f"page {page}", ImagePart(Blob.from_file(FILES / "animated.gif", "image/gif"))])

    scans = [calls(("scan", {"page": page})) for page in (1, 2)]
    llm = scripted(*scans, "Done.")
    response = way.generate(llm, "Go.", media=[TIFF], tools=[scan], run_tools=True)
    assert handler.converted == ["multipage.tif", "animated.gif"]
    assert [each.part_path for each in response.media] == [
        "messages[0].parts[0]",
        "messages[2].parts[0].content[1]",
        "messages[4].parts[0].content[1]",
    ]


def test_cache_point_that_moves_between_rounds_does_not_convert_again(way: Way, scripted, handler: Counting):
    class CachesFirst:
        """Sets a cache point on the file in the first round only."""

        async def around_call(self, context: CallContext, next: CallNext) -> Answer:
            message, *others = context.call.messages
            if not others:
                parts = (replace(message.parts[0], cache=CachePoint(300)), *message.parts[1:])
                context.call = context.call.with_(messages=(replace(message, parts=parts),))
            return await next(context)

    llm = scripted(ROUNDS[0], "Done.", middleware=[CachesFirst()])
    way.generate(llm, "Go.", media=[TIFF], tools=[clock], run_tools=True)
    assert len(handler.converted) == 1


def test_middleware_that_repeats_a_call_converts_and_charges_once(way: Way, scripted, handler: Counting):
    class Twice:
        """Makes each call twice, and returns the second answer."""

        async def around_call(self, context: CallContext, next: CallNext) -> Answer:
            await next(context)
            return await next(context)

    llm = scripted("one", "two", middleware=[Twice()])
    response = way.generate(llm, "Go.", media=[TIFF])
    assert (response.content, handler.converted) == ("two", ["multipage.tif"])
    assert [decision.usage.input for decision in response.media] == [7]


def test_artifact_with_the_content_of_a_file_is_read(way: Way, scripted, artifacts: FileArtifactStore):
    llm = scripted(*ROUNDS, "Done.", accepts=("image",))
    blob = Blob.from_file(TIFF, "image/tiff")
    artifact = artifacts.put(TIFF.read_bytes(), "image/tiff", blob.name)
    way.generate(llm, "Go.", media=[ImagePart(blob), ImagePart(artifact)], tools=[clock], run_tools=True)
    forms = [[part.blob.form for part in call.messages[0].parts[:2]] for call in llm.calls]
    assert forms == [["file", "bytes"]] * 4


def test_calls_in_text_are_read_beside_a_file(way: Way, scripted):
    call = '<tool_call>\n{"name": "clock", "arguments": {"city": "Lima"}}\n</tool_call>'
    llm = scripted(call, "Half past twelve.", facts={"tools": "never"})
    response = way.generate(llm, "Go.", media=[TIFF], tools=[clock], run_tools=True)
    assert [step.call.arguments for step in response.tool_steps] == [{"city": "Lima"}]
    assert response.content == "Half past twelve."
