"""How to test code of your own without a model: `python -m pytest examples/scripted_test.py`."""

from __future__ import annotations

import pytest

from abstractcore import LLM, ModelCall, OverloadedError, create_llm


def title(llm: LLM, text: str) -> str:
    """The code under test."""
    try:
        answer = llm.generate(text, system_prompt="Give a title of three words.", temperature=0)
    except OverloadedError:
        return text[:20]
    return answer.content.strip().rstrip(".")


def test_the_answer_is_tidied() -> None:
    llm = create_llm("scripted", replies=[" A Short Story.\n"])
    assert title(llm, "Once upon a time ...") == "A Short Story"


def test_the_model_is_told_what_to_do() -> None:
    llm = create_llm("scripted", replies=["A Short Story"])
    title(llm, "Once upon a time ...")
    (call,) = llm.calls
    assert [message.role for message in call.messages] == ["system", "user"]
    assert call.sampling.temperature == 0


def test_a_reply_can_be_made_of_the_call() -> None:
    def shout(call: ModelCall) -> str:
        return call.messages[-1].text.upper()

    llm = create_llm("scripted", replies=[shout])
    assert title(llm, "once upon a time") == "ONCE UPON A TIME"


def test_an_overloaded_provider_is_no_disaster() -> None:
    llm = create_llm("scripted", replies=[OverloadedError("busy")], max_retries=0)
    assert title(llm, "Once upon a time there was a king") == "Once upon a time the"


@pytest.mark.parametrize("words", [1, 100])
def test_streams_are_scripted_too(words: int) -> None:
    text = "word " * words
    with create_llm("scripted", replies=[text]).stream("go") as stream:
        assert "".join(stream.text()) == text
