"""The public both-colours suite: its door, and that both colours do as they say."""

from __future__ import annotations

import subprocess
import sys

import pytest

from abstractcore import StreamInterruptedError, TextDelta, create_llm
from abstractcore.testing import COLOURS, AsyncColour, SyncColour


def test_the_two_colours_are_named_after_themselves_and_know_the_other():
    assert [(colour.name, colour.other) for colour in COLOURS] == [("sync", "async"), ("async", "sync")]
    assert (SyncColour, AsyncColour) == COLOURS


def test_a_call_gives_its_response(colour):
    llm = create_llm("scripted", replies=["hello"])
    assert colour.generate(llm, "hi", tags={"a": "b"}).content == "hello"
    assert (llm.calls[0].tags, llm.calls[0].stream) == ({"a": "b"}, False)


def test_a_stream_gives_its_deltas_its_texts_and_its_response(colour):
    llm = create_llm("scripted", replies=["one two", "one two"])
    with colour.stream(llm, "hi") as stream:
        texts = [delta.text for delta in stream if isinstance(delta, TextDelta)]
    assert "".join(texts) == stream.response.content == stream.partial.text == "one two"
    assert list(colour.stream(llm, "hi").text()) == texts


def test_a_stream_that_was_closed_can_be_read_no_further(colour):
    stream = colour.stream(create_llm("scripted", replies=["hello"]), "hi")
    next(stream)
    stream.close()
    with pytest.raises(StreamInterruptedError):
        next(stream)


@pytest.mark.parametrize("kind", COLOURS)
def test_a_closed_colour_leaves_nothing_running(kind):
    async def answer() -> int:
        return 42

    with kind() as colour:
        assert colour.run(colour.runtime.invoke(answer)) == 42
        assert colour.run(colour.runtime.invoke(lambda: 42, timeout=10)) == 42
    assert colour.runtime.abandoned == 0


def test_the_suite_needs_neither_hypothesis_nor_pytest():
    code = "import sys; from abstractcore.testing import COLOURS; print({'hypothesis', 'pytest'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"
