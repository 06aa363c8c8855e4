"""Spoken replies by a voice on this machine: what was heard, in the text as it was written."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import LLM, Services, create_llm
from abstractcore.testing import CallStyle, ScriptedReply
from tests.core.capabilities.replies.conversations import interrupted, read

pytestmark = pytest.mark.weights

ANSWER = "It costs **$42.50** a day. The next train leaves at 9:05."


@pytest.fixture
def talking(voice_services: Services) -> LLM:
    """An LLM that answers and speaks."""
    options: dict[str, Any] = {"voice_variation": 0}
    return create_llm("scripted", replies=[ScriptedReply.text(ANSWER)] * 2, services=voice_services, **options)


def test_answer_is_heard_as_it_is_written(call_style: CallStyle, talking: LLM):
    parts, reply = read(call_style, talking, "Price?")
    *of_first, _ = reply.said
    assert " ".join(piece.text for piece in reply.said) == (
        "It costs forty two dollars and fifty cents a day. The next train leaves at nine oh five."
    )
    until = sum(piece.seconds for piece in of_first)
    assert len({part.blob.media_type for part in parts}) == 1
    assert interrupted(call_style, reply, played_seconds=until).text == "It costs **$42.50** a day."
    half = interrupted(call_style, reply, played_seconds=until * 0.4)
    assert (half.text, half.means) == ("It costs", "proportion")  # not all of the amount was said
    assert half.spoken == "It costs"
    assert interrupted(call_style, reply, played_samples=10**9).text == ANSWER
    assert reply.messages[0].text == ANSWER
