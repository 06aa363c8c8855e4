"""Parts are sorted into a format's order, with a warning for each that moves."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore.schema import CallWarning, Message, ModelCall, ReasoningPart, TextPart, ToolCall
from abstractcore_providers.common.conversations import in_order
from abstractcore_providers.formats.registered import FORMATS

ORDER: dict[type[Any], int] = {ReasoningPart: 0, TextPart: 1, ToolCall: 2}


class MyText(TextPart):
    """A user's class: the schema accepts subclasses of parts."""


CALL = ToolCall("c", "weather", "{}")


def test_parts_move_forward_with_a_warning():
    warnings: list[CallWarning] = []
    parts = [(0, CALL), (1, TextPart("a")), (2, ReasoningPart("b"))]
    assert [index for index, _ in in_order(parts, ORDER, "parts", warnings)] == [2, 1, 0]
    assert [(each.code, each.path, each.sent) for each in warnings] == [
        ("reordered", "parts[2]", 0),
        ("reordered", "parts[1]", 1),
    ]


def test_parts_of_subclasses_have_the_rank_of_their_base_class():
    warnings: list[CallWarning] = []
    assert [index for index, _ in in_order([(0, CALL), (1, MyText("a"))], ORDER, "parts", warnings)] == [1, 0]
    assert [each.path for each in warnings] == ["parts[1]"]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_encodes_subclasses_of_parts_like_their_base_class(format: str):
    def body(text: type[TextPart]) -> bytes:
        messages = (
            Message("user", (text("q"),)),
            Message("assistant", (CALL, text("a"))),
            Message.tool("c", "sunny"),
        )
        return FORMATS[format]().encode(ModelCall("m", messages, "p")).request.body

    assert body(MyText) == body(TextPart)
