"""Spoken replies by a vendor's voice."""

from __future__ import annotations

import pytest

from abstractcore.testing import CallStyle
from tests.core.capabilities.replies.conversations import interrupted, read
from tests.plugins.voice.remote.conftest import Connect


def test_vendor_speaks_a_reply_sentence_by_sentence(call_style: CallStyle, connect: Connect):
    vendor = connect("deepgram", replies=["It costs **$42.50** a day. The next train leaves at 9:05."])
    _, reply = read(call_style, vendor.llm, "Price?")
    assert vendor.fake.texts == ["It costs $42.50 a day.", "The next train leaves at 9:05."]
    first, second = reply.said
    assert (first.seconds, second.seconds) == pytest.approx((0.22, 0.3))
    heard = interrupted(call_style, reply, played_seconds=0.22 + 0.17)
    assert heard.text == "It costs **$42.50** a day. The next train"
