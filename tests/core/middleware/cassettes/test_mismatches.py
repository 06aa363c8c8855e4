"""The difference between an unrecorded request and the closest recorded one."""

from __future__ import annotations

import pytest

from abstractcore import ReplayMismatchError, record
from tests.chaos_server import completion


def test_unrecorded_request_shows_the_difference_from_the_closest(call_style, server, connect, path, again):
    for _ in range(2):
        server.script(completion())
    llm = connect(middleware=[record(path)])
    call_style.generate(llm, "What is the capital of France?", temperature=0.5)
    call_style.generate(llm, "something else entirely", system_prompt="another")
    llm, player = again()
    with pytest.raises(ReplayMismatchError) as caught:
        call_style.generate(llm, "What is the capital of Spain?", temperature=0.5)
    message = caught.value.message
    assert "line 1" in message
    assert '-      "content": "What is the capital of France?",' in message
    assert '+      "content": "What is the capital of Spain?",' in message
    assert "something else" not in message
    assert len(player.unused) == 2


def test_request_repeated_too_often_is_reported(call_style, server, connect, path, again):
    server.script(completion())
    call_style.generate(connect(middleware=[record(path)]), "hi")
    llm, _ = again()
    call_style.generate(llm, "hi")
    with pytest.raises(ReplayMismatchError, match=r"has 1 response to this .* all of them are used"):
        call_style.generate(llm, "hi")


def test_long_difference_is_shortened(call_style, server, connect, path, again):
    server.script(completion())
    call_style.generate(connect(middleware=[record(path)]), "x" * 100_000)
    with pytest.raises(ReplayMismatchError) as caught:
        call_style.generate(again()[0], "y" * 100_000)
    shown = caught.value.message.splitlines()
    assert (len(shown), shown[-1]) == (42, "...")


def test_empty_cassette_has_no_response(call_style, path, again):
    path.parent.mkdir()
    path.write_bytes(b"")
    with pytest.raises(ReplayMismatchError, match="is empty"):
        call_style.generate(again()[0], "hi")
