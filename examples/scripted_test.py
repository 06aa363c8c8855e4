"""How to test your own code without a model: `python -m pytest examples/scripted_test.py`."""

from __future__ import annotations

import pytest

from abstractcore import LLM, ModelCall, OverloadedError, Services, StreamInterruptedError, create_llm
from abstractcore.testing import ScriptedReply, VirtualClock


def title(llm: LLM, text: str) -> str:
    """The code under test."""
    try:
        answer = llm.generate(text, system_prompt="Give a title of three words.", temperature=0)
    except OverloadedError:
        return text[:20]
    return answer.content.strip().rstrip(".")


def test_title_is_stripped() -> None:
    llm = create_llm("scripted", replies=[" A Short Story.\n"])
    assert title(llm, "Once upon a time ...") == "A Short Story"


def test_request_has_system_prompt_and_temperature() -> None:
    llm = create_llm("scripted", replies=["A Short Story"])
    title(llm, "Once upon a time ...")
    (call,) = llm.calls
    assert [message.role for message in call.messages] == ["system", "user"]
    assert call.sampling.temperature == 0


def test_reply_can_be_a_function_of_the_call() -> None:
    def shout(call: ModelCall) -> str:
        return call.messages[-1].text.upper()

    llm = create_llm("scripted", replies=[shout])
    assert title(llm, "once upon a time") == "ONCE UPON A TIME"


def test_reply_can_call_tools() -> None:
    reply = ScriptedReply.text("Let me look.") + ScriptedReply.tool_call("weather", {"city": "Ulm"})
    (call,) = create_llm("scripted", replies=[reply]).generate("How is it in Ulm?").tool_calls
    assert (call.name, call.arguments) == ("weather", {"city": "Ulm"})


def test_overloaded_provider_is_retried_twice_then_falls_back() -> None:
    clock = VirtualClock()
    llm = create_llm("scripted", replies=[OverloadedError("busy", retry_after=20)] * 3, services=Services(clock=clock))
    assert title(llm, "Once upon a time there was a king") == "Once upon a time the"
    assert clock.sleeps == [20, 20]


@pytest.mark.parametrize("words", [1, 100])
def test_streaming(words: int) -> None:
    text = "word " * words
    with create_llm("scripted", replies=[text]).stream("go") as stream:
        assert "".join(stream.text()) == text


def test_interrupted_slow_stream_takes_no_real_time() -> None:
    clock = VirtualClock()
    reply = ScriptedReply.chunks(["Once ", "upon"], delay=30, then=StreamInterruptedError("cut"))
    with create_llm("scripted", replies=[reply], services=Services(clock=clock)).stream("go") as stream:
        with pytest.raises(StreamInterruptedError):
            list(stream)
        assert stream.partial.text == "Once upon"
    assert clock.now() == 60
