"""`BasicSession`: the names of earlier releases do what sessions do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from abstractcore import ConfigurationError, GenerateResponse, InvalidInputError, Message, Stream, create_llm
from abstractcore.sessions import BasicSession


def test_old_names_do_what_sessions_do(tmp_path: Path):
    llm = create_llm("scripted", replies=lambda call: f"answer {len(call.messages)}")
    session = BasicSession(llm, system_prompt="Be brief.")
    response = session.generate("first")
    assert isinstance(response, GenerateResponse)
    assert response.content == "answer 2"
    stream = session.generate("second", stream=True)
    assert isinstance(stream, Stream)
    with stream:
        assert "".join(stream.text()) == "answer 4"
    assert asyncio.run(session.agenerate("third")).content == "answer 6"  # type: ignore[union-attr]
    session.add_message("user", "fourth")
    session.add_message("assistant", "yes")
    assert [message.role for message in session.get_messages()] == ["system", *["user", "assistant"] * 4]
    assert session.get_history()[0] == {"role": "system", "content": "Be brief."}
    assert len(session.get_history(include_system=False)) == 8
    assert session.get_token_estimate() > 0
    assert not session.should_compact()
    assert session.should_compact(1)
    session.save(tmp_path / "talk.json")
    loaded = BasicSession.load(tmp_path / "talk.json", llm)
    assert loaded.messages == session.messages
    assert loaded.id == session.id
    session.clear_history()
    assert session.messages == [Message.system("Be brief.")]
    session.clear_history(keep_system=False)
    assert session.messages == []
    assert repr(session).startswith("BasicSession with scripted/scripted")


def test_compact_returns_another_session_and_force_compact_changes_this_one():
    llm = create_llm("scripted", replies=lambda call: "ok")
    session = BasicSession(llm)
    for number in range(8):
        session.generate(f"question {number}: " + "words " * 40)
    other = session.compact(preserve_recent=2)
    assert (len(session.messages), len(other.messages)) == (16, 5)
    session.force_compact(preserve_recent=1)
    assert len(session.messages) == 3


def test_wrong_arguments_are_errors():
    with pytest.raises(ConfigurationError, match="has no model"):
        BasicSession()
    session = BasicSession(create_llm("scripted", replies=[]))
    with pytest.raises(InvalidInputError, match="is not one of system, user, assistant"):
        session.add_message("tool", "x")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="the user message is empty"):
        session.add_message("user", "")


@pytest.mark.parametrize(("asked", "counted"), [(0, "0 exchanges"), (1, "1 exchange"), (2, "2 exchanges")])
def test_repr_of_a_session_counts_its_exchanges(asked: int, counted: str):
    with create_llm("scripted", replies=["yes"] * asked).session() as session:
        for _ in range(asked):
            session.ask("Really?")
        assert repr(session) == f"<Session with scripted/scripted: {counted}>"
