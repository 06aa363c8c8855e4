"""The fixtures `way`, for tests that run sync and async, streamed and not, and `streamed_way`, for streams only."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.core.tools.loops import STREAMED_WAYS, WAYS, Way


@pytest.fixture(params=WAYS)
def way(request: Any) -> Iterator[Way]:
    """One of the four ways."""
    with Way.of(request.param) as way:
        yield way


@pytest.fixture(params=STREAMED_WAYS)
def streamed_way(request: Any) -> Iterator[Way]:
    """One of the two streamed ways."""
    with Way.of(request.param) as way:
        yield way
