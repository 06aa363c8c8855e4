"""A session with a group of models: its calls stay with the member that answered."""

from __future__ import annotations

import abstractcore
from abstractcore import Routing, create_llm


def test_session_stays_with_the_member_that_answered():
    members = [create_llm("scripted", name, replies=["hi"] * 6) for name in ("one", "two")]
    group = create_llm(members, routing=Routing(order="spread"))
    with group.session() as session:
        answers = {session.ask("hi").model for _ in range(3)}
    assert len(answers) == 1
    assert {group.generate("hi").model for _ in range(4)} == {"one", "two"}


def test_calls_of_a_session_have_its_id_as_the_tag_session():
    llm = create_llm("scripted", replies=["hi"] * 5)
    session = llm.session(tags={"team": "search"})
    session.ask("hi")
    assert dict(llm.calls[-1].tags) == {"team": "search", "session": session.id}
    for request in ({"tags": {"session": "mine"}}, {"options": {"tags": {"session": "mine"}}}):
        session.ask("hi", **request)
        assert llm.calls[-1].tags["session"] == "mine"
    session.ask("hi", options={"tags": {"user": "ann"}})
    assert dict(llm.calls[-1].tags) == {"team": "search", "user": "ann", "session": session.id}
    with abstractcore.context(session="theirs"):
        session.ask("hi")
    assert llm.calls[-1].tags["session"] == "theirs"
