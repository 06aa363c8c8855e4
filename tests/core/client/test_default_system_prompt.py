"""`create_llm(system_prompt=...)`: the default of calls without a system prompt."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import InvalidInputError, Message, create_llm


def systems(llm: Any) -> list[list[str]]:
    """The system messages of each call."""
    return [[message.text for message in call.messages if message.role == "system"] for call in llm.calls]


def test_calls_use_the_default_unless_they_set_their_own(call_style):
    llm = create_llm("scripted", replies=["a"] * 6, system_prompt="Be brief.")
    call_style.generate(llm, "hi")
    call_style.generate(llm, "hi", messages=[Message.user("one"), Message.assistant("two")])
    call_style.generate(llm, "hi", system_prompt="Be kind.")
    call_style.generate(llm, "hi", system_prompt=None)
    call_style.generate(llm, "hi", messages=[Message.system("Be exact."), Message.user("one")])
    call_style.generate(llm, "hi", messages=[{"role": "system", "content": "Be exact."}])
    assert systems(llm) == [["Be brief."], ["Be brief."], ["Be kind."], [], ["Be exact."], ["Be exact."]]


def test_default_comes_first_also_in_streams(call_style):
    llm = create_llm("scripted", replies=["a"], system_prompt="Be brief.")
    with call_style.stream(llm, "hi") as stream:
        assert list(stream)
    assert [message.role for message in llm.calls[0].messages] == ["system", "user"]


def test_system_prompt_and_system_message_in_one_call_are_an_error():
    llm = create_llm("scripted", replies=["never"], system_prompt="Be brief.")
    with pytest.raises(InvalidInputError, match="already has a system message") as caught:
        llm.generate("hi", system_prompt="Be kind.", messages=[Message.system("Be exact.")])
    assert caught.value.path == "system_prompt"


def test_call_as_data_does_not_get_the_default():
    llm = create_llm("scripted", replies=["a"], system_prompt="Be brief.")
    call = create_llm("scripted", replies=[]).build("hi")
    llm.run(call)
    assert systems(llm) == [[]]


@pytest.mark.parametrize(("value", "what"), [("", "must not be empty"), (5, "expected text, got int")])
def test_invalid_system_prompt_is_refused_at_creation(value: Any, what: str):
    with pytest.raises(InvalidInputError, match=what) as caught:
        create_llm("scripted", replies=[], system_prompt=value)
    assert caught.value.path == "system_prompt"
