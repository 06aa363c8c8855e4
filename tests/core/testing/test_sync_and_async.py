"""`SyncCalls` and `AsyncCalls`: import, calls, streams and closing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from abstractcore import StreamInterruptedError, TextDelta, create_llm
from abstractcore.testing import CALL_STYLES, AsyncCalls, SyncCalls


def test_call_styles_are_named_sync_and_async():
    assert [(call_style.name, call_style.other) for call_style in CALL_STYLES] == [("sync", "async"), ("async", "sync")]
    assert (SyncCalls, AsyncCalls) == CALL_STYLES


def test_call_returns_its_response(call_style):
    llm = create_llm("scripted", replies=["hello"])
    assert call_style.generate(llm, "hi", tags={"a": "b"}).content == "hello"
    assert (llm.calls[0].tags, llm.calls[0].stream) == ({"a": "b"}, False)


def test_stream_yields_deltas_texts_and_response(call_style):
    llm = create_llm("scripted", replies=["one two", "one two"])
    with call_style.stream(llm, "hi") as stream:
        texts = [delta.text for delta in stream if isinstance(delta, TextDelta)]
    assert "".join(texts) == stream.response.content == stream.partial.text == "one two"
    assert list(call_style.stream(llm, "hi").text()) == texts


def test_closed_stream_cannot_be_read_further(call_style):
    stream = call_style.stream(create_llm("scripted", replies=["hello"]), "hi")
    next(stream)
    stream.close()
    with pytest.raises(StreamInterruptedError):
        next(stream)


@pytest.mark.parametrize("kind", CALL_STYLES)
def test_closed_call_style_leaves_nothing_running(kind):
    async def answer() -> int:
        return 42

    with kind() as call_style:
        assert call_style.run(call_style.runtime.invoke(answer)) == 42
        assert call_style.run(call_style.runtime.invoke(lambda: 42, timeout=10)) == 42
    assert call_style.runtime.abandoned == 0


@pytest.mark.process
def test_suite_imports_neither_hypothesis_nor_pytest():
    code = (
        "import sys; from abstractcore.testing import CALL_STYLES; print({'hypothesis', 'pytest'} & sys.modules.keys())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"
