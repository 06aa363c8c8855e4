"""The nearest thinking level that a format has."""

from typing import Any

import pytest

from abstractcore.schema import CallWarning
from abstractcore_providers.common.thinking import nearest_level


@pytest.mark.parametrize(
    ("asked", "levels", "sent"),
    [
        ("minimal", ("low", "medium", "high"), "low"),
        ("max", ("low", "medium", "high"), "high"),
        ("xhigh", ("low", "high", "max"), "max"),
        ("xhigh", ("max", "high"), "max"),
        ("medium", ("minimal", "max"), "minimal"),
        ("high", ("low", "high"), "high"),
        ("off", ("low",), "off"),
        (500, ("low",), 500),
        (None, ("low",), None),
    ],
)
def test_level_becomes_the_nearest_one_with_a_warning(asked: Any, levels: Any, sent: Any):
    warnings: list[CallWarning] = []
    assert nearest_level(asked, levels, warnings) == sent
    assert [(w.code, w.path, w.requested, w.sent) for w in warnings] == (
        [] if sent == asked else [("thinking_changed", "thinking", asked, sent)]
    )
