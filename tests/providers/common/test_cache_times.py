"""How long cache points keep, in the order in which they are sent."""

from typing import Any

import pytest

from abstractcore.schema import CachePoint, CallWarning
from abstractcore_providers.common.thinking import CacheTimes


def fitted(asked: list[int | None]) -> tuple[list[int | None], list[tuple[Any, Any]]]:
    """What is sent, and what the warnings say of it."""
    times, warnings = CacheTimes(), list[CallWarning]()
    points = [times.fit(CachePoint(ttl), f"parts[{i}]", warnings) for i, ttl in enumerate(asked)]
    return [point.ttl for point in points if point is not None], [(w.path, w.sent) for w in warnings]


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ([3600, 3600, 300, None], [3600, 3600, 300, None]),
        ([300, 3600], [300, 300]),
        ([None, 3600], [None, 300]),
        ([3600, None, 3600, 300], [3600, None, 300, 300]),
        ([1, 86_400], [300, 300]),
        ([301, 3599], [3600, 3600]),
    ],
)
def test_ttl_of_a_cache_point_is_capped_by_earlier_ones(asked: list[int | None], sent: list[int | None]):
    changed = [(f"parts[{i}].cache.ttl", ttl) for i, ttl in enumerate(sent) if ttl != asked[i]]
    assert fitted(asked) == (sent, changed)


def test_warning_distinguishes_ttl_and_order():
    warnings: list[CallWarning] = []
    times = CacheTimes()
    for index, ttl in enumerate((200, 3600)):
        times.fit(CachePoint(ttl), f"parts[{index}]", warnings)
    assert [warning.code for warning in warnings] == ["cache_time_changed"] * 2
    assert "300 and 3600 seconds" in warnings[0].message
    assert "cannot exceed those before it" in warnings[1].message


def test_without_cache_points_nothing_changes():
    times, warnings = CacheTimes(), list[CallWarning]()
    assert times.fit(None, "parts[0]", warnings) is None
    assert times.fit(CachePoint(3600), "parts[1]", warnings) == CachePoint(3600)
    assert not warnings
